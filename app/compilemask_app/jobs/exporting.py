"""Writes a mask for other programs; the file's ending says in which form. Runs in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.measure.export.forms import ENDINGS, FORMS, ending_of
from compilemask.measure.export.writing import FIGURES, Wanted, write

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask
    from compilemask_app.document import Document


def export(compiled: CompiledMask, path: Path, document: Document, batch: int, head: int) -> str:
    """Write one file and say what it holds.

    Raises:
        UsageError: an ending that means nothing, a bad place, or a snippet of a mask whose file says something else.
    """
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} does not exist")
    ending = ending_of(path.name)
    if ending is None:
        raise UsageError(f"{path.name}: the ending says the form: {FORMS}")
    form = ENDINGS[ending]
    if form == "python" and not file_says(compiled, document):
        raise UsageError(f"{path.name}: a snippet compiles the mask's file: save the mask first")
    shown = form in ("dense", "cudnn", *FIGURES)  # of what holds one sample only, the one on the screen
    one_head = shown and form != "cudnn"
    parameters = dict(document.parameters)
    wanted = Wanted(
        form, batch if shown else None, head if one_head else None, parameters=parameters, folder=document.folder
    )
    try:
        return write(compiled, path, _source(document), wanted)
    except OSError as error:
        raise UsageError(f"not written: {path}: {error.strerror or error}") from None


def snippet(compiled: CompiledMask, document: Document) -> str | None:
    """The lines of Python that use the mask as it is now; None if its file says something else."""
    from compilemask.measure.export.snippets import python_snippet

    if not file_says(compiled, document):
        return None
    return python_snippet(compiled, _source(document), dict(document.parameters), document.folder)


def file_says(compiled: CompiledMask, document: Document) -> bool:
    """Whether the file of a mask means what was compiled, as it stands or at the sizes that a snippet gives it."""
    from compilemask.measure.export.snippets import sizes_in_use
    from compilemask_app.composing.sizes import sizes_in, with_sizes

    if document.path is None or not document.path.exists():
        return False
    text = compiled.program.source.text
    if text == document.text:
        return True
    before = {line.name: line.text for line in sizes_in(document.text)}
    now = {line.name: line.text for line in sizes_in(text)}
    changed = {name: value for name, value in now.items() if before.get(name) != value}
    given = sizes_in_use(compiled, dict(document.parameters), document.folder)
    return changed.keys() <= given.keys() & before.keys() and with_sizes(document.text, changed) == text


def _source(document: Document) -> str:
    """What the library or the package's `compile` finds the file by."""
    return document.name if document.library else str(document.path)
