"""Writes a mask for other programs; the file's ending says in which form. Runs in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.measure.export.forms import ENDINGS, FORMS, ending_of
from compilemask.measure.export.writing import FIGURES, Wanted, write

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask


def export(compiled: CompiledMask, path: Path, mask: str, batch: int, head: int) -> str:
    """Write one file and say what it holds. Raises UsageError for an ending that means nothing, or a bad place."""
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} does not exist")
    ending = ending_of(path.name)
    if ending is None:
        raise UsageError(f"{path.name}: the ending says the form: {FORMS}")
    form = ENDINGS[ending]
    shown = form in ("dense", "cudnn", *FIGURES)  # of what holds one sample only, the one on the screen
    wanted = Wanted(form, batch if shown else None, head if shown and form != "cudnn" else None)
    try:
        return write(compiled, path, mask, wanted)
    except OSError as error:
        raise UsageError(f"not written: {path}: {error.strerror or error}") from None
