"""Union of a mask of many runs with one of few: the few are put in where they belong, the many are not sorted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear

if TYPE_CHECKING:
    from compilemask.intervals.interval_set import Intervals

MANY_PER_FEW = 8

Numbers = NDArray[np.int64]
Narrow = NDArray[np.int32]
Runs = tuple[Numbers, Narrow, Narrow]  # offsets, starts, ends


def inserted(many: Intervals, few: Intervals) -> Runs | None:
    """The runs of the union; None where runs of `few` meet the same run of `many`."""
    row = few.run_rows()
    # Runs low to high of `many` overlap or touch the run of `few`.
    low = _first_at_least(many.ends, many.offsets, row, few.starts)
    high = _first_at_least(many.starts, many.offsets, row, few.ends + np.int32(1))
    if (low[1:] < high[:-1]).any():
        return None
    met = high > low
    start, end = few.starts.copy(), few.ends.copy()
    start[met] = np.minimum(start[met], many.starts[low[met]])
    end[met] = np.maximum(end[met], many.ends[high[met] - 1])
    offsets = many.offsets
    if met.all() and int((high - low).max(initial=0)) == 1:
        starts, ends = many.starts.copy(), many.ends.copy()
        starts[low], ends[low] = start, end
        return offsets, starts, ends
    gone = np.concatenate(([0], np.cumsum(high - low)))
    place = low - gone[:-1] + np.arange(low.size)
    is_new = np.zeros(many.runs - int(gone[-1]) + few.runs, np.bool_)
    is_new[place] = True
    kept = np.ones(many.runs, np.bool_)
    kept[linear.ranges(low, high - low)] = False
    starts, ends = np.empty(is_new.size, np.int32), np.empty(is_new.size, np.int32)
    old = ~is_new
    starts[old], ends[old] = many.starts[kept], many.ends[kept]
    starts[place], ends[place] = start, end
    return offsets + (few.offsets - gone[few.offsets]), starts, ends


def _first_at_least(values: Narrow, offsets: Numbers, row: Numbers, bound: Narrow) -> Numbers:
    """For every bound the first place in its row whose value, ascending in a row, is at least the bound."""
    low, high = offsets[row], offsets[row + 1]
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        less = open_ & (values[np.where(open_, middle, 0)] < bound)
        low = np.where(less, middle + 1, low)
        high = np.where(less, high, middle)
    return low
