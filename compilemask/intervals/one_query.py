"""The keys of a single query, without making the rows of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form


def runs_of_query(lowered: Lowered, query: int) -> tuple[tuple[int, int], ...]:
    """The runs [start, end) of keys that one of the caller's queries sees; the cost is the runs of the mask at most."""
    intervals, order = lowered.intervals, lowered.order
    slot = query if order.queries is None else int((order.queries == query).argmax())
    if lowered.form is Form.ROW:
        if order.keys is None:
            return intervals.row(slot)
        part = slice(int(intervals.offsets[slot]), int(intervals.offsets[slot + 1]))
        keys = linear.ranges(intervals.starts[part], intervals.ends[part] - intervals.starts[part])
    else:
        runs = np.flatnonzero((intervals.starts <= slot) & (intervals.ends > slot))
        keys = np.searchsorted(intervals.offsets, runs, side="right") - 1
    return _runs(keys if order.keys is None else np.sort(order.keys[keys]).astype(np.int64))


def _runs(ascending: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Different numbers as runs."""
    starts, ends = linear.merge(ascending, ascending + 1)
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))
