"""Visible intervals per row: the canonical form of a mask, and set algebra on it.

A mask of `rows` x `columns` cells is kept as runs `[start, end)` per row, in compressed rows: sorted, disjoint and
maximal (touching runs merged), so equal masks have equal arrays. The same class serves both directions: rows are
queries in row form and keys in column form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Runs of row r are `starts[i], ends[i]` for i in `offsets[r]:offsets[r + 1]`."""

    rows: int
    columns: int
    offsets: NDArray[np.int64]  # [rows + 1]
    starts: NDArray[np.int32]  # [runs]
    ends: NDArray[np.int32]  # [runs]
