"""Writes a mask for other programs; the file's ending says in which form. Runs in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compilemask.errors import UsageError

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask

FORMS = (
    ".npy (dense, query x key)   .png .svg .pdf (figure)   .flex.py (FlexAttention)   .py (snippet)   "
    ".cudnn.npy .flashmask.npy (endpoints)"
)


def export(compiled: CompiledMask, path: Path, mask: str, batch: int, head: int) -> str:
    """Write one file and say what it holds. Raises UsageError for an ending that means nothing, or a bad place."""
    if not path.parent.is_dir():
        raise UsageError(f"the folder {path.parent} does not exist")
    name = path.name.lower()
    try:
        return _written(compiled, path, name, mask, batch, head)
    except OSError as error:
        raise UsageError(f"not written: {path}: {error.strerror or error}") from None


def _written(compiled: CompiledMask, path: Path, name: str, mask: str, batch: int, head: int) -> str:
    if name.endswith((".cudnn.npy", ".flashmask.npy")):
        import numpy as np

        from compilemask.measure.export import endpoints

        make = endpoints.cudnn_mask_func if name.endswith(".cudnn.npy") else endpoints.flashmask_indices
        np.save(path, make(compiled))
    elif name.endswith(".npy"):
        from compilemask.measure.export import dense

        return dense.write(compiled, path, batch, head)
    elif name.endswith((".png", ".svg", ".pdf")):
        from compilemask.measure.export import figure

        figure.write(compiled, path, batch, head)
    elif name.endswith(".py"):
        from compilemask.measure.export import snippets

        flex = name.endswith(".flex.py")
        text = snippets.flex_module(compiled) if flex else snippets.python_snippet(compiled, mask, {})
        path.write_text(text, encoding="utf-8")
    else:
        raise UsageError(f"{path.name}: the ending says the form: {FORMS}")
    return f"wrote {path}"
