"""Reads files that somebody else names: never more than a limit, never from a device that might not end.

A pipe is read only where the caller of a command names it, as the shell does for `<(...)`.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

from compilemask.errors import UsageError

MOST_MASK_BYTES = 4 << 20
"""More than the longest text of the language (2^20 characters) takes in UTF-8."""

NOT_NPY = (ValueError, EOFError, OverflowError, TypeError, MemoryError, RecursionError, SyntaxError, TokenError)
"""What numpy raises for a `.npy` header that is odd: no integers as shape, sizes beyond 64 bits, deep nesting."""


def opened(path: Path, *, pipe: bool = False) -> BinaryIO:
    """The file, open to be read; with `pipe` also a pipe that somebody writes into.

    Raises:
        UsageError: there is no such file, it may not be read, or it is a folder, pipe or device.
    """
    # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        stream = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    mode = os.fstat(stream.fileno()).st_mode
    if pipe and stat.S_ISFIFO(mode):
        os.set_blocking(stream.fileno(), True)
    elif not stat.S_ISREG(mode):
        stream.close()
        raise UsageError(f"{path}: not a regular file")
    return stream


def read_text(path: Path, most: int = MOST_MASK_BYTES, *, newlines: bool = False, pipe: bool = False) -> str:
    """The text of a file of at most `most` bytes; line ends become `\\n` unless `newlines` keeps them.

    With `pipe` it may be a pipe; one that nobody writes into is empty.

    Raises:
        UsageError: as `opened`, or the file is larger or not UTF-8.
    """
    with opened(path, pipe=pipe) as stream:
        try:
            data = stream.read(most + 1)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from None
    if len(data) > most:
        raise UsageError(f"{path}: larger than {most // 2**20} MiB ({most:,} bytes)")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    return text if newlines else text.replace("\r\n", "\n").replace("\r", "\n")


def not_json(error: ValueError | RecursionError) -> str:
    """What `json.loads` found wrong with a text, in words."""
    match error:
        case json.JSONDecodeError():
            return str(error)
        case UnicodeDecodeError():
            return "it is not UTF-8 text"
        case RecursionError():
            return "it is nested too deeply"
    return "a number in it has thousands of digits"  # which Python does not read
