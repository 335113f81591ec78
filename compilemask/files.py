"""Writing a file in one step: who reads it finds the old content or the new one, also after a failure."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_in_one_step(path: Path, text: str) -> None:
    """Write UTF-8 text to a file, new or not, as `replacing` does. Raises OSError where the file can't be written."""
    content = text.encode("utf-8")
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream for the whole content of a file, new or not; where anything fails, the file is as before.

    A link stays a link: what it leads to is written. The file keeps its permission bits, and one that may not be
    written is not replaced either. Where the folder may not be written but the file may, it is written in place.
    `/dev/stdout`, `/dev/fd/5` and the like are the streams of this process, whatever they lead to.

    Raises:
        OSError: the file can't be written.
    """
    number = _stream(path)
    if number is not None:
        with _again(number, path) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # links that lead to one another
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    old = target.stat() if target.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # a pipe or device, which only takes what comes
        with target.open("wb") as stream:
            yield stream
        return
    if old is not None and not os.access(target, os.W_OK):
        target.open("r+b").close()  # says why
    beside = target.with_name(f".compilemask-{secrets.token_hex(6)}.new")
    new = _created(beside, old)
    try:
        with target.open("wb") if new is None else new as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if new is not None:
            _take_place(beside, target, old)
    finally:
        _remove(beside)


def _stream(path: Path) -> int | None:
    """The number of the open stream that a path names; None: it is the path of a file."""
    found = _STREAM.fullmatch(os.path.abspath(path))
    return None if found is None else _STANDARD.get(found[1]) or int(found[2])


def _again(number: int, path: Path) -> BinaryIO:
    """Another handle of an open stream."""
    try:
        return os.fdopen(os.dup(number), "wb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


_STANDARD = {"stdout": 1, "stderr": 2}
_STREAM = re.compile(r"/(?:dev|proc/self)/(stdout|stderr|fd/(\d{1,9}))")


def _created(path: Path, like: os.stat_result | None) -> BinaryIO | None:
    """A new file, with the owner, if allowed, and mode of an old one; None where only the old one may be written."""
    mode = 0o666 if like is None else stat.S_IMODE(like.st_mode)
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
    except PermissionError:
        if like is None:
            raise
        return None
    if like is not None:
        with suppress(OSError):
            os.chown(path, like.st_uid, like.st_gid)
        with suppress(OSError):
            os.chmod(path, mode)
    return file


def _take_place(beside: Path, target: Path, old: os.stat_result | None) -> None:
    """The new file becomes the old one; where that is forbidden, as in a shared folder, its content does."""
    try:
        os.replace(beside, target)
    except PermissionError:
        if old is None:
            raise
        shutil.copyfile(beside, target)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
