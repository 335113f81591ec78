"""How many tiles a token order makes a kernel visit, without making patterns or moving the mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear

MOST_COUNTED = 1 << 24


def visited_tiles(
    intervals: Intervals,
    block_m: int,
    block_n: int,
    row_order: NDArray[np.integer] | None = None,
    column_order: NDArray[np.integer] | None = None,
) -> int:
    """Tiles with a visible cell when row i is row row_order[i] and column j is column column_order[j]."""
    tile_rows, stride = -(-intervals.rows // block_m), -(-intervals.columns // block_n) + 1
    tile_row = np.arange(intervals.rows) // block_m
    if row_order is not None:
        moved = np.empty_like(tile_row)
        moved[row_order] = tile_row
        tile_row = moved
    base = np.repeat(tile_row * stride, np.diff(intervals.offsets))
    starts: NDArray[np.integer] = intervals.starts
    ends: NDArray[np.integer] = intervals.ends
    if column_order is not None:
        own, starts, ends = intervals.pieces(column_order)
        base = base[own]
    first, last = base + starts // block_n, base + (ends - 1) // block_n + 1
    if tile_rows * stride > MOST_COUNTED:
        begin, end = linear.merge(first.astype(np.int64), last.astype(np.int64))
        return int((end - begin).sum())
    size = tile_rows * stride + 1
    change = np.bincount(first, minlength=size) - np.bincount(last, minlength=size)
    return int(np.count_nonzero(np.cumsum(change)))
