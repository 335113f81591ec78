"""Unsaved texts, kept aside so that a kill loses nothing: one file for each document and each workbench that edits it.

A workbench holds a lock on the file that is its own. The system drops the lock however the workbench ends, so a text
without one was left behind, and the next workbench on that document takes it over.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from compilemask.errors import UsageError
from compilemask.files import write_in_one_step
from compilemask_app.document import Document

MOST = 16
"""So many workbenches on one document keep texts of their own; more share the last one's file."""


class Autosave:
    """The unsaved text of one document in this workbench, and the files that it names."""

    def __init__(self, folder: Path, document: Document) -> None:
        self._folder = folder
        self._document = document
        self._place: Path | None = None
        self._lock: int | None = None
        self.beside_another = False
        """Whether another workbench had unsaved text of this document when this one first kept some."""

    def left_behind(self) -> tuple[Document, str] | None:
        """What a workbench that ended before saving left of this document, now this one's.

        The text, if it differs from the file, and the document with the folder of the files that the text names.
        """
        for place in self._places():
            if not place.exists() or not self._claim(place):
                continue
            with suppress(OSError, UnicodeDecodeError):
                text = place.read_text(encoding="utf-8")
                if text != self._document.text:
                    data = place.with_suffix(".data")
                    return replace(self._document, data=data) if data.is_dir() else self._document, text
            self.forget()
        return None

    def keep(self, text: str) -> None:
        """Keep a text that is not saved yet; a full or forbidden disk loses only this safety."""
        try:
            place = self._own()
            beside = place.with_suffix(".new")
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, place)
        except OSError:
            return

    def keep_data(self, name: str, content: str) -> Document:
        """The document with a file that its text names, kept aside. Raises UsageError where that can't be written."""
        data = self._folder
        try:
            data = self._own().with_suffix(".data")
            data.mkdir(parents=True, exist_ok=True)
            write_in_one_step(data / name, content)
        except OSError as error:
            raise UsageError(f"not kept: {data / name}: {error.strerror or error}") from None
        return replace(self._document, data=data)

    def forget(self) -> None:
        """The text is saved or given up, and so are the files that it names and that lie here."""
        if self._place is not None:
            with suppress(OSError):
                self._place.unlink(missing_ok=True)
            shutil.rmtree(self._place.with_suffix(".data"), ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Leave the text to the next workbench on this document."""
        if self._lock is not None and self._place is not None:
            with suppress(OSError):
                self._place.with_suffix(".lock").unlink(missing_ok=True)
            os.close(self._lock)
        self._place = self._lock = None

    def _own(self) -> Path:
        """The file of this workbench, which holds nobody else's text. Raises OSError."""
        if self._place is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            places = self._places()
            for place in places:
                claimed = self._claim(place)
                if claimed and not place.exists():
                    break
                self.beside_another |= not claimed
                self.release()
            else:
                self._place = places[-1]
        assert self._place is not None
        return self._place

    def _places(self) -> list[Path]:
        document = self._document
        where = document.path.resolve() if document.path else document.name
        key = hashlib.sha256(str(where).encode()).hexdigest()[:16]
        return [self._folder / f"{document.name}-{key}{f'-{number}' * (number > 1)}.mask" for number in range(1, MOST)]

    def _claim(self, place: Path) -> bool:
        """Make a place this workbench's, unless it is that of another one that runs."""
        self.release()
        try:
            self._lock = _locked(place.with_suffix(".lock"))
        except BlockingIOError:
            return False
        except (OSError, ImportError):  # a system or a disk without locks: as if nobody else were there
            self._lock = None
        self._place = place
        return True


def _locked(path: Path) -> int:
    """A descriptor of a file that is locked until it is closed. Raises BlockingIOError if another one holds it."""
    import fcntl

    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # its owner took it away meanwhile: what is locked has no name any more
