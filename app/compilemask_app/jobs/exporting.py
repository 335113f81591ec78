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


def export(compiled: CompiledMask, path: Path, document: Document, batch: int, head: int, *, saved: bool) -> str:
    """Write one file and say what it holds.

    Raises:
        UsageError: an ending that means nothing, a bad place, or a snippet of a mask that is not `saved`, whose file
            says something else.
    """
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} does not exist")
    ending = ending_of(path.name)
    if ending is None:
        raise UsageError(f"{path.name}: the ending says the form: {FORMS}")
    form = ENDINGS[ending]
    if form == "python" and (document.path is None or not saved):
        raise UsageError(f"{path.name}: a snippet compiles the mask's file: save the mask first")
    shown = form in ("dense", "cudnn", *FIGURES)  # of what holds one sample only, the one on the screen
    one_head = shown and form != "cudnn"
    parameters = dict(document.parameters)
    wanted = Wanted(form, batch if shown else None, head if one_head else None, parameters=parameters)
    mask = document.name if document.library else str(document.path)
    try:
        return write(compiled, path, mask, wanted)
    except OSError as error:
        raise UsageError(f"not written: {path}: {error.strerror or error}") from None
