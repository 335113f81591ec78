"""Masks of other programs: arrays become intervals, intervals become a text of the language. Needs numpy only."""

from compilemask.imports.arrays import (
    EXPECTED,
    FLASHMASK_BOUNDS,
    Form,
    Masks,
    guess,
    hidden_value,
    masks_of,
    read_array,
)
from compilemask.imports.mask_text import Imported, imported, write

__all__ = [
    "EXPECTED",
    "FLASHMASK_BOUNDS",
    "Form",
    "Imported",
    "Masks",
    "guess",
    "hidden_value",
    "imported",
    "masks_of",
    "read_array",
    "write",
]
