"""Union of a mask of many runs with one of few: the few are put in where they belong, the many are not sorted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.in_rows import Narrow, Numbers, Runs, first_at_least

if TYPE_CHECKING:
    from compilemask.intervals.interval_set import Intervals

MANY_PER_FEW = 4
RUNS_A_COPY = 64  # stretches of at least so many runs are copied as they are


def inserted(many: Intervals, few: Intervals) -> Runs | None:
    """The runs of the union; None where runs of `few` meet the same run of `many`."""
    row = few.run_rows()
    # Runs low to high of `many` overlap or touch the run of `few`.
    low = first_at_least(many.ends, many.offsets, row, few.starts)
    high = first_at_least(many.starts, many.offsets, row, few.ends + np.int32(1))
    if (low[1:] < high[:-1]).any():
        return None
    met = high > low
    start, end = few.starts.copy(), few.ends.copy()
    start[met] = np.minimum(start[met], many.starts[low[met]])
    end[met] = np.maximum(end[met], many.ends[high[met] - 1])
    # The first run of `many` that is met gives way to the united one, further ones go; a run that meets none comes in.
    more = 1 - (high - low)
    place = low + np.cumsum(more) - more
    change = np.flatnonzero(more)
    put = _by_copying if RUNS_A_COPY * change.size < many.runs else _by_choosing
    comes = more[change] == 1
    begin = low[change] + ~comes
    starts, ends = (put(runs, begin, high[change], comes) for runs in (many.starts, many.ends))
    starts[place], ends[place] = start, end
    offsets = np.concatenate(([0], np.cumsum(more)))[few.offsets]
    return many.offsets + offsets, starts, ends


def _by_copying(runs: Narrow, begin: Numbers, end: Numbers, comes: NDArray[np.bool_]) -> Narrow:
    """Runs without those of the slices begin:end, which ascend; room for one where it `comes`. Slice by slice."""
    parts, done = [], 0
    for first, last, one_comes in zip(begin.tolist(), end.tolist(), comes.tolist(), strict=True):
        parts.append(runs[done:first])
        if one_comes:
            parts.append(runs[:1])
        done = last
    return np.concatenate([*parts, runs[done:]])


def _by_choosing(runs: Narrow, begin: Numbers, end: Numbers, comes: NDArray[np.bool_]) -> Narrow:
    """The same, run by run."""
    gone = linear.ranges(begin, end - begin)
    before = np.cumsum(end - begin) - (end - begin)
    place = begin[comes] - before[comes] + np.arange(np.count_nonzero(comes))
    is_old = np.ones(runs.size - gone.size + place.size, np.bool_)
    is_old[place] = False
    if gone.size:
        kept = np.ones(runs.size, np.bool_)
        kept[gone] = False
        runs = runs[kept]
    result = np.empty(is_old.size, np.int32)
    result[is_old] = runs
    return result
