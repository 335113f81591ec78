"""Searching, clipping and selecting the runs of many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear

if TYPE_CHECKING:
    from compilemask.intervals.interval_set import Intervals

Numbers = NDArray[np.int64]
Narrow = NDArray[np.int32]
Runs = tuple[Numbers, Narrow, Narrow]  # offsets, starts, ends
RUNS_SEARCHED = 4  # rows of more runs are clipped by searching for the runs that stay
RUNS_A_COPY = 64  # runs of neighbouring rows are copied together where they are at least so many


def first_at_least(values: Narrow, offsets: Numbers, row: NDArray[np.integer], bound: Narrow) -> Numbers:
    """For every bound the first place in its row whose value, ascending in a row, is at least the bound."""
    low: Numbers = offsets[row]
    high: Numbers = offsets[row + 1]
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        less = open_ & (values.take(np.where(open_, middle, 0)) < bound)
        low = np.where(less, middle + 1, low)
        high = np.where(less, high, middle)
    return low


def clipped(mask: Intervals, row: NDArray[np.integer], low: Narrow, high: Narrow) -> Runs:
    """Rows row[i] of a mask that has runs, each within [low[i], high[i])."""
    first = first_at_least(mask.ends, mask.offsets, row, low + np.int32(1))
    last = first_at_least(mask.starts, mask.offsets, row, high)
    counts = np.maximum(last - first, 0)
    offsets = np.zeros(row.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    place = linear.ranges(first, counts)
    starts, ends = mask.starts.take(place), mask.ends.take(place)
    some = np.flatnonzero(counts)
    begin, end = offsets[some], offsets[some + 1] - 1
    starts[begin] = np.maximum(starts[begin], low[some])
    ends[end] = np.minimum(ends[end], high[some])
    return offsets, starts, ends


def all_clipped(mask: Intervals, low: Narrow, high: Narrow) -> Runs:
    """All rows of a mask, row r within [low[r], high[r])."""
    if mask.runs > RUNS_SEARCHED * mask.rows:
        return clipped(mask, np.arange(mask.rows), low, high)
    counts = np.diff(mask.offsets)
    starts, ends = np.repeat(low, counts), np.repeat(high, counts)
    np.maximum(mask.starts, starts, out=starts)
    np.minimum(mask.ends, ends, out=ends)
    some = starts < ends
    if some.all():
        return mask.offsets, starts, ends
    kept = np.zeros(some.size + 1, np.int32)
    np.cumsum(some, out=kept[1:], dtype=np.int32)
    return kept[mask.offsets].astype(np.int64), starts[some], ends[some]


def selected(mask: Intervals, rows: NDArray[np.integer]) -> Runs:
    """The runs of rows rows[0], rows[1], ... of a mask."""
    counts = np.diff(mask.offsets)[rows]
    offsets = np.zeros(rows.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    cut = np.flatnonzero(np.diff(rows) != 1) + 1
    if RUNS_A_COPY * cut.size < offsets[-1]:
        first = np.concatenate(([0], cut, [rows.size]))
        begin = mask.offsets[rows[first[:-1]]]
        parts = [slice(a, a + b) for a, b in zip(begin.tolist(), np.diff(offsets[first]).tolist(), strict=True)]
        starts, ends = (np.concatenate([runs[part] for part in parts]) for runs in (mask.starts, mask.ends))
        return offsets, starts, ends
    place = linear.ranges(mask.offsets[:-1][rows], counts)
    return offsets, mask.starts[place], mask.ends[place]
