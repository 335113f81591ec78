"""Searching and clipping the runs of many rows at once."""

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
