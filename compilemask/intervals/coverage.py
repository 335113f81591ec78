"""How many cells of every screen pixel are visible: exact counts, without looking at all runs for every picture.

Borders of runs move by -1, 0 or 1 from row to row over long stretches, so a mask of a million rows has few straight
border segments. A picture splits these segments at pixel edges; what a pixel holds follows from how many run starts
and run ends fall into it and where. A single visible cell always counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.interval_set import Intervals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Segments:
    """Borders at `place + slope * (row - row0)` for rows [row0, row1)."""

    row0: Ints
    row1: Ints
    place: Ints
    slope: Ints


class Coverage:
    """Counts of visible cells per pixel for one mask; built once, asked for every frame.

    `transposed`: the intervals are the columns of the mask that is drawn.
    """

    def __init__(self, intervals: Intervals, transposed: bool = False) -> None:
        self.transposed = transposed
        order, chain_end, row = _chains(intervals)
        self._starts = _segments(intervals.starts[order], chain_end, row)
        self._ends = _segments(intervals.ends[order], chain_end, row)

    def window(self, row0: int, row1: int, column0: int, column1: int, height: int, width: int) -> Ints:
        """[height, width] visible cells of rows [row0, row1) x columns [column0, column1) cut into equal pixels.

        Where a pixel would be narrower than a cell, some pixels are of no cells and count 0.
        """
        return self.between(_edges(row0, row1, height), _edges(column0, column1, width))

    def between(self, row_edges: Ints, column_edges: Ints) -> Ints:
        """[rows, columns] visible cells of the rectangles between neighbouring edges; both ascend."""
        if self.transposed:
            return self._between(column_edges, row_edges).T
        return self._between(row_edges, column_edges)

    def _between(self, rows: Ints, columns: Ints) -> Ints:
        begun, begun_at = _rasterise(self._starts, rows, columns)
        ended, ended_at = _rasterise(self._ends, rows, columns)
        number, place = begun - ended, begun_at - ended_at
        inside = np.cumsum(number, axis=1)[:, :-2] * np.diff(columns)
        counts = inside + number[:, 1:-1] * columns[1:] - place[:, 1:-1]
        return np.rint(counts).astype(np.int64)


def coverage(intervals: Intervals, row0: int, row1: int, column0: int, column1: int, height: int, width: int) -> Ints:
    """One picture of a mask; keep a `Coverage` where there will be more."""
    return Coverage(intervals).window(row0, row1, column0, column1, height, width)


def _edges(begin: int, end: int, count: int) -> Ints:
    return begin + np.arange(count + 1, dtype=np.int64) * (end - begin) // max(count, 1)


def _chains(intervals: Intervals) -> tuple[Ints, NDArray[np.bool_], Ints]:
    """Runs reordered so that the k-th runs of neighbouring rows with equally many runs follow each other.

    Returns the order, whether a run is the last of its chain, and the row of every run in that order.
    """
    counts = np.diff(intervals.offsets)
    row = intervals.run_rows()
    total = row.size
    if not total:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_), row
    if bool((counts <= 1).all()):
        return np.arange(total), np.append(np.diff(row) != 1, True), row
    change = np.flatnonzero(np.diff(counts) != 0) + 1
    first_row = np.concatenate(([0], change))
    rows = np.diff(np.append(first_row, counts.size))
    band = np.repeat(np.arange(first_row.size), rows)[row]
    rank = np.arange(total) - intervals.offsets[:-1][row]
    place = intervals.offsets[first_row[band]] + rank * rows[band] + (row - first_row[band])
    order = np.empty(total, np.int64)
    order[place] = np.arange(total)
    ordered = row[order]
    return order, np.append(np.diff(ordered) != 1, True), ordered


def _segments(border: NDArray[np.int32], chain_end: NDArray[np.bool_], row: Ints) -> _Segments:
    """Straight stretches of a border."""
    place: Ints = border.astype(np.int64)
    if not place.size:
        return _Segments(row, row, place, place)
    slope = np.diff(place, append=place[-1:])
    broken = chain_end | (np.abs(slope) > 1)
    bends = np.concatenate(([False], (slope[1:] != slope[:-1]) & ~broken[:-1]))
    last = broken | bends
    end = np.flatnonzero(last)
    begin = np.concatenate(([0], end[:-1] + 1))
    return _Segments(row[begin], row[end] + 1, place[begin], np.where(begin == end, 0, slope[begin]))


def _rasterise(segments: _Segments, rows: Ints, columns: Ints) -> tuple[Floats, Floats]:
    """[height, width + 2] borders per pixel, and the sum of their places; first and last column: left, right of all."""
    height, width = rows.size - 1, columns.size - 1
    first = np.searchsorted(rows, segments.row0, side="right") - 1
    last = np.searchsorted(rows, segments.row1, side="left")
    first, last = np.maximum(first, 0), np.minimum(last, height)
    count = np.maximum(last - first, 0)
    own = np.repeat(np.arange(count.size), count)
    pixel = linear.ranges(first, count)
    begin = np.maximum(rows[pixel], segments.row0[own])
    length = np.minimum(rows[pixel + 1], segments.row1[own]) - begin
    some = length > 0
    own, pixel, begin, length = own[some], pixel[some], begin[some], length[some]
    slope = segments.slope[own]
    start = segments.place[own] + slope * (begin - segments.row0[own])
    # Downward borders run the other way: the same places in ascending order.
    least = np.where(slope < 0, start - (length - 1), start)
    bucket = np.searchsorted(columns, least, side="right")
    reach = np.where(slope == 0, bucket, np.searchsorted(columns, least + length - 1, side="right"))
    count = reach - bucket + 1
    part = np.repeat(np.arange(count.size), count)
    column = linear.ranges(bucket, count)
    bounds = np.concatenate(([-(2**62)], columns, [2**62]))
    low = np.maximum(bounds[column], least[part])
    high = np.minimum(bounds[column + 1], least[part] + length[part])
    steep = slope[part] == 0
    number = np.where(steep, length[part], high - low)
    total = np.where(steep, number * least[part], number * (low + high - 1) // 2)
    cell = pixel[part] * (width + 2) + column
    size = height * (width + 2)
    shape = (height, width + 2)
    counted = np.bincount(cell, number, minlength=size).astype(np.float64)
    summed = np.bincount(cell, total, minlength=size).astype(np.float64)
    return counted.reshape(shape), summed.reshape(shape)
