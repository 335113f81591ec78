"""Set algebra on sorted, disjoint, maximal half-open runs of one number line.

A mask of several rows becomes one line when row r starts at r * (columns + 1): the unused place after every row keeps
runs of neighbouring rows from touching, so one pass serves all rows. Every function costs O(n log m) of its input plus
its output.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Line = NDArray[np.int64]
Runs = tuple[Line, Line]  # starts, ends


def is_sorted(values: NDArray[np.integer]) -> bool:
    """Whether values never decrease."""
    return values.size < 2 or bool((values[1:] >= values[:-1]).all())


def ascends(values: NDArray[np.integer]) -> bool:
    """Whether every value is larger than the one before."""
    return values.size < 2 or bool((values[1:] > values[:-1]).all())


def merge(starts: Line, ends: Line) -> Runs:
    """Union of non-empty runs in any order, overlapping or touching.

    The union ends behind the i-th smallest end exactly where the next start lies beyond it, so starts and ends may be
    sorted independently.
    """
    if starts.size < 2:
        return starts, ends
    if not is_sorted(starts):
        starts = np.sort(starts, kind="stable")
    if not is_sorted(ends):
        ends = np.sort(ends, kind="stable")
    gap = starts[1:] > ends[:-1]
    if gap.all():
        return starts, ends
    first = np.concatenate(([True], gap))
    last = np.concatenate((gap, [True]))
    return starts[first], ends[last]


def union(a: Runs, b: Runs) -> Runs:
    """Places in `a` or `b`."""
    if not a[0].size:
        return b
    if not b[0].size:
        return a
    if a[1][-1] < b[0][0]:
        return np.concatenate((a[0], b[0])), np.concatenate((a[1], b[1]))
    if b[1][-1] < a[0][0]:
        return np.concatenate((b[0], a[0])), np.concatenate((b[1], a[1]))
    return merge(np.concatenate((a[0], b[0])), np.concatenate((a[1], b[1])))


def intersect(a: Runs, b: Runs) -> Runs:
    """Places in `a` and `b`."""
    if a[0].size > b[0].size:
        a, b = b, a
    low = np.searchsorted(b[1], a[0], side="right")
    high = np.searchsorted(b[0], a[1], side="left")
    count = high - low
    if (count <= 1).all():
        some = count == 1
        other = low[some]
        return np.maximum(a[0][some], b[0][other]), np.minimum(a[1][some], b[1][other])
    own = np.repeat(np.arange(a[0].size), count)
    other = ranges(low, count)
    return np.maximum(a[0][own], b[0][other]), np.minimum(a[1][own], b[1][other])


def subtract(a: Runs, b: Runs) -> Runs:
    """Places in `a` and not in `b`."""
    if not a[0].size or not b[0].size:
        return a
    starts, ends = complement(b, int(min(a[0][0], b[0][0])) - 1, int(max(a[1][-1], b[1][-1])) + 1)
    return intersect(a, (starts, ends))


def complement(a: Runs, begin: int, end: int) -> Runs:
    """Places of [begin, end) not in `a`, which lies inside."""
    starts = np.concatenate(([begin], a[1]))
    ends = np.concatenate((a[0], [end]))
    keep = starts < ends
    return starts[keep], ends[keep]


def ranges(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> Line:
    """The numbers starts[i], starts[i] + 1, ... (counts[i] of them) for every i, one after another."""
    numbers = np.ones(int(counts.sum(dtype=np.int64)), np.int64)
    _count_up(numbers, starts.astype(np.int64, copy=False), counts)
    return numbers


def narrow_ranges(starts: NDArray[np.int32], counts: NDArray[np.integer]) -> NDArray[np.int32]:
    """`ranges` in 32 bits, for numbers and totals that fit."""
    numbers = np.ones(int(counts.sum(dtype=np.int64)), np.int32)
    _count_up(numbers, starts.astype(np.int32, copy=False), counts.astype(np.int32, copy=False))
    return numbers


def _count_up(steps: NDArray[np.integer], starts: NDArray[np.integer], counts: NDArray[np.integer]) -> None:
    """Ones become the ranges: a step of 1 from number to number but for the first of each range."""
    if not counts.all():
        some = np.flatnonzero(counts)
        starts, counts = starts[some], counts[some]
    if not starts.size:
        return
    first = np.cumsum(counts[:-1], dtype=np.int64)
    steps[0] = starts[0]
    steps[first] = starts[1:] - starts[:-1] - counts[:-1] + 1
    np.cumsum(steps, out=steps)
