"""How many cells of every screen pixel are visible, counted from the runs at each picture.

Nothing is prepared, and the tokens may be stored in another order than they are drawn in, so the first picture of a
mask of many runs, or of a mask that is kept in the kernel's order, need not wait for a `Coverage`, nor for its rows.
The cost of a picture is its runs and, for every pixel row, the length of a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.order import Permutation, inverse

Ints = NDArray[np.int64]
NARROW = 1 << 15
"""Pixels of fewer rows than this are counted in 16 bits, which stays in the cache where runs lie at a stride."""

CELLS_AT_ONCE = 1 << 17
"""Pixel rows x columns that are worked on together, so that they stay in the cache and no fresh memory is touched."""


class Tally:
    """Counts of visible cells per pixel for one mask.

    Row i of `intervals` is the row `row_order[i]` that is drawn, its column j the column `column_order[j]`.
    `transposed`: the intervals are the columns of the mask that is drawn; the orders are those of the intervals.
    """

    def __init__(
        self,
        intervals: Intervals,
        row_order: Permutation | None = None,
        column_order: Permutation | None = None,
        *,
        transposed: bool = False,
    ) -> None:
        places = inverse(row_order)
        self._intervals = intervals if places is None else intervals.permute_rows(places)
        self._column_of = inverse(column_order)
        self._transposed = transposed

    def between(self, row_edges: Ints, column_edges: Ints) -> Ints:
        """[rows, columns] visible cells of the rectangles between neighbouring edges; both ascend."""
        if self._transposed:
            return self._between(column_edges, row_edges).T
        return self._between(row_edges, column_edges)

    def _between(self, rows: Ints, columns: Ints) -> Ints:
        counts = np.zeros((rows.size - 1, columns.size - 1), np.int64)
        some = columns[1:] > columns[:-1]
        if not some.any():
            return counts
        first, last = int(columns[0]), int(columns[-1])
        begins = columns[:-1][some] - first
        at_once = max(1, CELLS_AT_ONCE // (self._intervals.columns + 1))
        for row in range(0, rows.size - 1, at_once):
            seen = self._seen(rows[row : row + at_once + 1])
            if self._column_of is None:
                seen = seen[:, first:last]
            else:
                seen = np.take(seen, self._column_of[first:last], axis=1)
            counts[row : row + at_once, some] = np.add.reduceat(seen, begins, axis=1, dtype=np.int64)
        return counts

    def _seen(self, rows: Ints) -> NDArray[np.int32]:
        """[pixel rows, columns] how many rows of each pixel show a column."""
        intervals = self._intervals
        narrow = int(np.diff(rows).max(initial=0)) < NARROW
        change = np.zeros((rows.size - 1, intervals.columns + 1), np.int16 if narrow else np.int32)
        bounds = intervals.offsets[rows].tolist()
        for line, begin, end in zip(change, bounds, bounds[1:], strict=False):
            np.add.at(line, intervals.starts[begin:end], change.dtype.type(1))
            np.subtract.at(line, intervals.ends[begin:end], change.dtype.type(1))
        return np.cumsum(change, axis=1, dtype=np.int32)
