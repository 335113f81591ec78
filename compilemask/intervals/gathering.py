"""Runs that come in portions, put together to a mask; portions that are canonical already are not sorted again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.interval_set import Intervals

Places = NDArray[np.integer]
LEAST_WAITING, MOST_WAITING = 1 << 18, 1 << 21  # so many runs out of order are sorted together
A_SHARE = 8  # of what has been gathered, between these two


class Gathering:
    """Collects runs of a mask of rows x columns.

    Runs that come in the order of the mask are written to their place. Others wait until they are many, so that what
    has been gathered is not copied for every portion.
    """

    def __init__(self, rows: int, columns: int, most_runs: int) -> None:
        self.rows = rows
        self.columns = columns
        self._counts = np.zeros(rows, np.int64)
        self._starts, self._ends = np.empty(most_runs, np.int32), np.empty(most_runs, np.int32)
        self._size = 0
        self._last = (-1, -1)  # row and end of the last run
        self._waiting: list[tuple[Places, Places, Places]] = []
        self._waiting_runs = 0
        self._others: Intervals | None = None

    def add(self, row: Places, start: Places, end: Places) -> None:
        """Runs [start, end), not empty, in the given rows."""
        if not row.size:
            return
        row, start, end = _joined(row, start, end)
        if not _ascend(row, start, end):
            row, start, end = self._sorted(row, start, end)
        last_row, last_end = self._last
        if int(row[0]) < last_row or (int(row[0]) == last_row and int(start[0]) <= last_end):
            cut = int(np.searchsorted(row, last_row, side="right"))
            self._wait(row[:cut], start[:cut], end[:cut])
            row, start, end = row[cut:], start[cut:], end[cut:]
        if row.size:
            self._append(row, start, end)

    def _append(self, row: Places, start: Places, end: Places) -> None:
        """Runs that ascend and lie behind all that were appended before."""
        borders = np.flatnonzero(row[1:] != row[:-1]) + 1
        first = np.concatenate(([0], borders))
        self._counts[row[first]] += np.diff(first, append=row.size)
        there = slice(self._size, self._size + row.size)
        self._starts[there], self._ends[there] = start, end
        self._size = there.stop
        self._last = (int(row[-1]), int(end[-1]))

    def _sorted(self, row: Places, start: Places, end: Places) -> tuple[Places, Places, Places]:
        """The same cells as runs in the order of the mask."""
        stride = self.columns + 1
        base = row.astype(np.int64) * stride
        starts, ends = linear.merge(base + start, base + end)
        row = starts // stride
        base = row * stride
        return row, starts - base, ends - base

    def _wait(self, row: Places, start: Places, end: Places) -> None:
        self._waiting.append((row, start, end))
        self._waiting_runs += row.size
        gathered = 0 if self._others is None else self._others.runs
        if self._waiting_runs >= min(MOST_WAITING, max(LEAST_WAITING, gathered // A_SHARE)):
            self._unite()

    def _unite(self) -> None:
        """Put what waits to the others."""
        row, start, end = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting, self._waiting_runs = [], 0
        part = Intervals.from_runs(self.rows, self.columns, row, start, end)
        self._others = part if self._others is None else self._others.union(part)

    def mask(self) -> Intervals:
        """All runs together."""
        if self._waiting:
            self._unite()
        if not self._size:
            return Intervals.empty(self.rows, self.columns) if self._others is None else self._others
        offsets = np.zeros(self.rows + 1, np.int64)
        np.cumsum(self._counts, out=offsets[1:])
        starts, ends = self._starts[: self._size], self._ends[: self._size]
        if 2 * self._size < self._starts.size:
            starts, ends = starts.copy(), ends.copy()
        sorted_part = Intervals(self.rows, self.columns, offsets, starts, ends)
        return sorted_part if self._others is None else sorted_part.union(self._others)


def _ascend(row: Places, start: Places, end: Places) -> bool:
    """Whether the runs come as a mask keeps them."""
    return bool(((row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & (start[1:] > end[:-1]))).all())


def _joined(row: Places, start: Places, end: Places) -> tuple[Places, Places, Places]:
    """Runs that touch the run before them joined to it."""
    touching = start[1:] == end[:-1]
    touching &= row[1:] == row[:-1]
    if not touching.any():
        return row, start, end
    first = np.concatenate(([True], ~touching))
    last = np.concatenate((~touching, [True]))
    return row[first], start[first], end[last]
