"""Masks of other programs: arrays become intervals, intervals become a text of the language. Needs numpy only."""

from compilemask.imports.arrays import EXPECTED, Form, guess, read_array
from compilemask.imports.mask_text import Imported, imported, write

__all__ = ["EXPECTED", "Form", "Imported", "guess", "imported", "read_array", "write"]
