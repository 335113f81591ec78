"""Writing a file in one step: who reads it finds the old text or the new one, also after a failure."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write_in_one_step(path: Path, text: str) -> None:
    """Write UTF-8 text to a file, new or not; where that fails, the file is as before.

    A link stays a link: what it leads to is written. The file keeps its permission bits, and one that may not be
    written is not replaced either. Where the folder may not be written but the file may, it is written in place.

    Raises:
        OSError: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    content = text.encode("utf-8")
    old = target.stat() if target.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # a pipe or device, which only takes what comes
        target.write_bytes(content)
        return
    if old is not None and not os.access(target, os.W_OK):
        target.open("r+b").close()  # says why
    beside = target.with_name(f".compilemask-{secrets.token_hex(6)}.new")
    try:
        _write_new(beside, content, old)
        os.replace(beside, target)
    except PermissionError:
        _remove(beside)
        if old is None:
            raise
        target.write_bytes(content)
    except BaseException:
        _remove(beside)
        raise


def _write_new(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """A new file, on the disk before it takes another's place; with that one's owner, if allowed, and mode."""
    mode = 0o666 if like is None else stat.S_IMODE(like.st_mode)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        if like is not None:
            with suppress(OSError):
                os.chown(path, like.st_uid, like.st_gid)
            os.chmod(path, mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
