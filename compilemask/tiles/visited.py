"""How many tiles a token order makes a kernel visit, without making patterns or moving the mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear
from compilemask.intervals.moving import MovedColumns

MOST_COUNTED = 1 << 24
RUNS_AT_ONCE = 1 << 17

Places = NDArray[np.integer]


def visited_tiles(
    intervals: Intervals,
    block_m: int,
    block_n: int,
    row_order: Places | None = None,
    column_order: Places | None = None,
) -> int:
    """Tiles with a visible cell when row i is row row_order[i] and column j is column column_order[j]."""
    tile_rows, stride = -(-intervals.rows // block_m), -(-intervals.columns // block_n) + 1
    size = tile_rows * stride + 1
    kind = np.int32 if size < 2**31 else np.int64
    tile_row = np.arange(intervals.rows) // block_m
    if row_order is not None:
        moved = np.empty_like(tile_row)
        moved[row_order] = tile_row
        tile_row = moved
    base = np.repeat((tile_row * stride).astype(kind), np.diff(intervals.offsets))
    counted = size <= MOST_COUNTED
    change = np.zeros(size if counted else 0, np.int64)
    spans: list[tuple[Places, Places]] = []
    columns = None if column_order is None else MovedColumns(column_order)
    for begin in range(0, intervals.runs, RUNS_AT_ONCE):
        part = slice(begin, begin + RUNS_AT_ONCE)
        first, last = _touched(intervals, part, base[part], block_n, columns)
        if counted:
            change += np.bincount(first, minlength=size) - np.bincount(last, minlength=size)
        else:
            spans.append((first, last))
    if counted:
        return int(np.count_nonzero(np.cumsum(change)))
    nothing = np.zeros(0, np.int64)
    starts, ends = linear.merge(
        np.concatenate([nothing, *(first for first, _ in spans)]),
        np.concatenate([nothing, *(last for _, last in spans)]),
    )
    return int((ends - starts).sum())


def _touched(
    intervals: Intervals, part: slice, base: Places, block_n: int, columns: MovedColumns | None
) -> tuple[Places, Places]:
    """Tiles [first, last) on the line of tiles that some runs, or their pieces in the order, touch."""
    starts, ends = intervals.starts[part], intervals.ends[part]
    if columns is not None:
        own, starts, ends = intervals.pieces(columns, part)
        base = base[own]
    return base + starts // np.int32(block_n), base + ((ends - 1) // np.int32(block_n) + 1)
