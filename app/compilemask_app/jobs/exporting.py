"""Writes a mask for other programs; the file's ending says in which form. Runs in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError
from compilemask.measure.export.forms import ENDINGS, FORMS, ending_of

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask


def export(compiled: CompiledMask, path: Path, mask: str, batch: int, head: int) -> str:
    """Write one file and say what it holds. Raises UsageError for an ending that means nothing, or a bad place."""
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} does not exist")
    ending = ending_of(path.name)
    if ending is None:
        raise UsageError(f"{path.name}: the ending says the form: {FORMS}")
    try:
        return _written(compiled, path, ENDINGS[ending], mask, batch, head)
    except OSError as error:
        raise UsageError(f"not written: {path}: {error.strerror or error}") from None


def _written(compiled: CompiledMask, path: Path, form: str, mask: str, batch: int, head: int) -> str:
    if form == "dense":
        from compilemask.measure.export import dense

        return dense.write(compiled, path, batch, head)
    if form in ("cudnn", "flashmask"):
        import numpy as np

        from compilemask.measure.export import endpoints

        make = endpoints.cudnn_mask_func if form == "cudnn" else endpoints.flashmask_indices
        np.save(path, make(compiled))
    elif form in ("flex", "python"):
        from compilemask.measure.export import snippets

        flex = form == "flex"
        text = snippets.flex_module(compiled) if flex else snippets.python_snippet(compiled, mask, {})
        path.write_text(text, encoding="utf-8")
    else:
        from compilemask.measure.export import figure

        figure.write(compiled, path, batch, head)
    return f"wrote {path}"
