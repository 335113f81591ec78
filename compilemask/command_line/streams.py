"""The standard streams where they are closed, full or broken: a command still ends with its own exit code."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def open_closed() -> None:
    """Open streams that the caller closed (`>&-`) on nothing, so that no other file gets their numbers."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def remark(text: str) -> None:
    """A line for people on stderr, out of the way of pipes; nothing where stderr takes none."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        forget(sys.stderr)


def write(text: str) -> None:
    """Text on stdout; a reader that went away early takes none and changes no answer. Raises OSError if it is full."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        forget(sys.stdout)


def finish() -> None:
    """Write out what waits for stdout, as `write` does."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        forget(sys.stdout)


def flush() -> None:
    """Write out what waits for stdout, or drop it where stdout takes nothing any more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        forget(sys.stdout)


def forget(stream: TextIO) -> None:
    """Point a stream at nothing, so that the interpreter's last flush does not complain about it."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        if stream is sys.stdout:
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        else:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
