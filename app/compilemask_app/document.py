"""The text of one mask and the file it came from: open, save, and changes by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from compilemask import library
from compilemask.errors import UsageError
from compilemask.files import write_in_one_step
from compilemask.text_files import read_text


@dataclass(frozen=True, slots=True)
class Document:
    """`text` as on disk (or as new), `path` None for a text without a file; `library` files are not written over.

    `parameters` are values given at start that the text does not hold. `data` is a folder of files that the text names
    and that are not beside it yet: they go there when it is saved.
    """

    name: str
    text: str
    path: Path | None = None
    library: bool = False
    stamp: tuple[int, int] | None = None
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    begun: str | None = None
    data: Path | None = None
    number: int = field(default_factory=count().__next__, compare=False)

    @property
    def start(self) -> str:
        """What the editor shows first."""
        return self.text if self.begun is None else self.begun

    @property
    def key(self) -> str:
        """Tells documents apart within a session; those that are on no disk have a number, as names may be the same."""
        return f"{self.name} {self.number}" if self.path is None or self.stamp is None else str(self.path)

    @property
    def folder(self) -> Path | None:
        """Where the files that the mask names are looked for."""
        return self.data or (self.path.parent if self.path else None)


NEW_TEXT = """\
title "New mask"

param length = 64

layout
    token : length

rules
    everything sees everything : causal
"""


def new_document(path: Path | None = None) -> Document:
    """A small mask to start from, to be saved at the path."""
    return Document(path.stem if path else "new mask", NEW_TEXT, path)


def read(path: Path, *, library: bool = False, parameters: tuple[tuple[str, Any], ...] = ()) -> Document:
    """The document of a file. Raises UsageError in words for a file that can't be read as a mask."""
    return Document(path.stem, read_text(path), path, library, _stamp(path), parameters)


def document_of(mask: str, parameters: Mapping[str, Any] | None = None) -> Document:
    """The document of a library name or path. Raises UsageError if there is no such mask."""
    path = library.locate(mask)
    inside = path.resolve().parent == library.folder().resolve()
    found = read(path, library=inside)
    return with_values(found, parameters) if parameters else found


def first_document(mask: str, parameters: Mapping[str, Any] | None = None) -> Document:
    """The document named at start: as `document_of`, and a path to a mask file that is not there yet begins one."""
    path = Path(mask).expanduser()
    if path.suffix == library.SUFFIX and not path.exists() and path.parent.is_dir():
        return with_values(new_document(path), parameters or {})
    return document_of(mask, parameters)


def with_values(document: Document, values: Mapping[str, Any]) -> Document:
    """The values written into the text as defaults; those of parameters that it does not declare are kept beside.

    `text` stays as on disk, `begun` is what the editor starts with.
    """
    from compilemask.language.parser import parse_tolerant
    from compilemask.source import Source
    from compilemask_app.composing.parameters import parameters_of, written
    from compilemask_app.composing.text_edits import applied

    declared = {line.name: line for line in parameters_of(parse_tolerant(Source("", document.text)).file).lines}
    edits = [written(declared[name], literal(value)) for name, value in values.items() if name in declared]
    text = applied(document.text, [edit for edit in edits if edit is not None])
    rest = tuple((name, value) for name, value in values.items() if name not in declared)
    return replace(document, begun=text, parameters=rest)


def literal(value: Any) -> str:
    """A value as the language writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        if len(value) > 3 and all(item == value[0] for item in value):
            return f"[{literal(value[0])}] * {len(value)}"
        return f"[{', '.join(literal(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def write(document: Document, text: str, path: Path) -> Document:
    """Save under a path, in one step, so that a crash leaves the old file or the new one. Raises UsageError."""
    for source in sorted(document.data.iterdir()) if document.data else ():
        _put(path.parent / source.name, source.read_text(encoding="utf-8"), new=True)
    _put(path, text)
    return replace(document, name=path.stem, text=text, path=path, library=False, stamp=_stamp(path), data=None)


def _put(path: Path, text: str, *, new: bool = False) -> None:
    """Write a file in one step; a `new` one writes over nothing but itself."""
    try:
        if new and path.exists():
            if path.read_text(encoding="utf-8") != text:
                raise UsageError(f"not saved: {path} holds other numbers than the text needs; move it away first")
            return
        write_in_one_step(path, text)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"not saved: {path}: {why or error}") from None


def changed_outside(document: Document) -> bool:
    """Whether another program changed or removed the file since it was read or written."""
    return document.path is not None and not document.library and _stamp(document.path) != document.stamp


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
