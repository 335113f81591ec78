"""Which form a file's ending says: one table for the command line and the workbench."""

from __future__ import annotations

ENDINGS = {
    ".cudnn.npy": "cudnn",
    ".flashmask.npy": "flashmask",
    ".flex.py": "flex",
    ".npy": "dense",
    ".py": "python",
    ".png": "png",
    ".svg": "svg",
    ".pdf": "pdf",
}
"""Ending -> form; a long ending stands before the short one that it ends in."""

FORMS = (
    ".npy (dense, query x key)   .png .svg .pdf (figure)   .flex.py (FlexAttention)   .py (snippet)   "
    ".cudnn.npy .flashmask.npy (endpoints)"
)
"""The table for people."""


def ending_of(name: str) -> str | None:
    """The ending in `ENDINGS` that a file name has, upper or lower case; None: none of them."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)


def contradicts(name: str, form: str) -> bool:
    """Whether a name says another form; a plain .npy or .py says only what kind of file it is."""
    ending = ending_of(name)
    if ending is None or ENDINGS[ending] == form:
        return False
    return not any(own.endswith(ending) for own, its in ENDINGS.items() if its == form)
