"""Arrays that callers can read and not change: a compiled mask is immutable, and what it hands out is kept by it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TypeVar

import numpy as np

Holder = TypeVar("Holder")


def read_only(holder: Holder) -> Holder:
    """The same array, record of arrays or tuple of them, whose arrays refuse to be written to from now on."""
    if isinstance(holder, np.ndarray):
        holder.flags.writeable = False
    elif isinstance(holder, tuple):
        for part in holder:
            read_only(part)
    elif is_dataclass(holder):
        for field in fields(holder):
            read_only(getattr(holder, field.name))
    return holder
