"""How many cells of every pixel are visible, counted from all runs at every picture, with nothing prepared.

Both borders of every run go into a histogram over the pixels. That takes a few operations on each run of the window,
whatever the runs look like, so that masks of scattered cells are drawn as fast as others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals

Ints = NDArray[np.int64]


class RunCounts:
    """Counts of visible cells per pixel for one mask; `transposed`: its intervals are the columns that are drawn."""

    def __init__(self, intervals: Intervals, *, transposed: bool = False) -> None:
        self._intervals = intervals
        self._transposed = transposed

    def between(self, row_edges: Ints, column_edges: Ints) -> Ints:
        """[rows, columns] visible cells of the rectangles between neighbouring edges; both ascend."""
        if self._transposed:
            return self._between(column_edges, row_edges).T
        return self._between(row_edges, column_edges)

    def _between(self, rows: Ints, columns: Ints) -> Ints:
        """A border at `place` adds, or takes away, all cells right of it: in its own pixel those up to the edge."""
        intervals = self._intervals
        height, width = rows.size - 1, columns.size + 1  # with what lies left and right of all pixels
        bounds = intervals.offsets[rows]
        part = slice(int(bounds[0]), int(bounds[-1]))
        line = np.repeat(np.arange(height, dtype=np.int64) * width, np.diff(bounds))
        number, place = np.zeros(height * width), np.zeros(height * width)
        for sign, borders in ((1, intervals.starts[part]), (-1, intervals.ends[part])):
            pixel = line + _pixels_of(borders, columns, intervals.columns)
            number += sign * np.bincount(pixel, minlength=number.size)
            place += sign * np.bincount(pixel, borders, minlength=place.size)
        numbers, places = number.reshape(height, width), place.reshape(height, width)
        inside = np.cumsum(numbers, axis=1)[:, :-2] * np.diff(columns)
        return np.rint(inside + numbers[:, 1:-1] * columns[1:] - places[:, 1:-1]).astype(np.int64)


def _pixels_of(borders: NDArray[np.int32], edges: Ints, length: int) -> NDArray[np.intp]:
    """How many edges lie at or left of each border; looked up in a table where there are more borders than columns."""
    if borders.size <= length:
        return np.searchsorted(edges, borders, side="right")
    return np.searchsorted(edges, np.arange(length + 1), side="right")[borders]
