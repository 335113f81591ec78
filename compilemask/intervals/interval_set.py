"""Visible intervals per row: the canonical form of a mask, and set algebra on it.

A mask of `rows` x `columns` cells is kept as runs `[start, end)` per row, in compressed rows: sorted, disjoint and
maximal (touching runs merged), so equal masks have equal arrays. The same class serves both directions: rows are
queries in row form and keys in column form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError
from compilemask.intervals import in_rows, insertion, linear, turning
from compilemask.intervals.moving import MovedColumns
from compilemask.language import effort

RUNS_AT_ONCE = 1 << 18
COMBINED_STEPS = 16  # for every run that set algebra looks at
COPIED_STEPS = 2  # for every run that is only copied


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Runs of row r are `starts[i], ends[i]` for i in `offsets[r]:offsets[r + 1]`."""

    rows: int
    columns: int
    offsets: NDArray[np.int64]  # [rows + 1]
    starts: NDArray[np.int32]  # [runs]
    ends: NDArray[np.int32]  # [runs]

    # ---------------------------------------------------------------- making

    @staticmethod
    def empty(rows: int, columns: int) -> Intervals:
        """The mask that shows nothing."""
        none = np.zeros(0, np.int32)
        return Intervals(rows, columns, np.zeros(rows + 1, np.int64), none, none)

    @staticmethod
    def full(rows: int, columns: int) -> Intervals:
        """The mask that shows everything."""
        if not columns:
            return Intervals.empty(rows, columns)
        ends = np.full(rows, columns, np.int32)
        return Intervals(rows, columns, np.arange(rows + 1, dtype=np.int64), np.zeros(rows, np.int32), ends)

    @staticmethod
    def from_runs(
        rows: int,
        columns: int,
        row: NDArray[np.integer],
        start: NDArray[np.integer],
        end: NDArray[np.integer],
    ) -> Intervals:
        """Canonical form of runs [start, end) in the given rows, in any order; they may overlap, touch or be empty.

        Row, start and end must lie inside the mask.
        """
        some = start < end
        if not some.all():
            row, start, end = row[some], start[some], end[some]
        base = row.astype(np.int64) * (columns + 1)
        return Intervals.from_line(rows, columns, linear.merge(base + start, base + end))

    @staticmethod
    def from_bounds(columns: int, start: NDArray[np.integer], end: NDArray[np.integer]) -> Intervals:
        """One run a row, [start[r], end[r]) clipped to the columns; empty where start >= end."""
        start = np.maximum(start, 0)
        end = np.minimum(end, columns)
        some = start < end
        offsets = np.zeros(start.size + 1, np.int64)
        np.cumsum(some, out=offsets[1:])
        if not some.all():
            start, end = start[some], end[some]
        return Intervals(offsets.size - 1, columns, offsets, start.astype(np.int32), end.astype(np.int32))

    @staticmethod
    def from_line(rows: int, columns: int, runs: linear.Runs) -> Intervals:
        """From canonical runs on the line where row r starts at r * (columns + 1)."""
        row = runs[0] // (columns + 1)
        base = row * (columns + 1)
        offsets = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
        return Intervals(rows, columns, offsets, (runs[0] - base).astype(np.int32), (runs[1] - base).astype(np.int32))

    @staticmethod
    def from_dense(mask: NDArray[np.bool_]) -> Intervals:
        """From a boolean [rows, columns] array, True = visible."""
        rows, columns = mask.shape
        padded = np.zeros((rows, columns + 2), np.int8)
        padded[:, 1:-1] = mask
        step = np.diff(padded, axis=1)
        row, start = np.nonzero(step == 1)
        _, end = np.nonzero(step == -1)
        offsets = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
        return Intervals(rows, columns, offsets, start.astype(np.int32), end.astype(np.int32))

    @staticmethod
    def stacked(columns: int, parts: Sequence[Intervals]) -> Intervals:
        """The rows of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)])
        none = np.zeros(0, np.int32)
        starts = np.concatenate([none, *(part.starts for part in parts)])
        ends = np.concatenate([none, *(part.ends for part in parts)])
        return Intervals(counts.size - 1, columns, np.cumsum(counts), starts, ends)

    # ---------------------------------------------------------------- looking

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.starts.size)

    @property
    def visible(self) -> int:
        """Number of visible cells."""
        return int(self.ends.sum(dtype=np.int64) - self.starts.sum(dtype=np.int64))

    def run_rows(self) -> NDArray[np.int64]:
        """The row of every run."""
        return np.repeat(np.arange(self.rows, dtype=np.int64), np.diff(self.offsets))

    def run_places(self) -> NDArray[np.int64]:
        """How many runs of its row lie before every run."""
        return np.arange(self.runs, dtype=np.int64) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def runs_per_row(self) -> NDArray[np.int64]:
        """[rows] number of runs."""
        return np.diff(self.offsets)

    def visible_per_row(self) -> NDArray[np.int64]:
        """[rows] number of visible cells."""
        total = np.zeros(self.runs + 1, np.int64)
        np.cumsum(self.ends - self.starts, dtype=np.int64, out=total[1:])
        bounds = total[self.offsets]
        return np.diff(bounds)

    def empty_rows(self) -> NDArray[np.int64]:
        """Rows that show nothing, ascending."""
        return np.flatnonzero(self.offsets[1:] == self.offsets[:-1])

    def one_run_bounds(self) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """[rows] start and end of the only run, both 0 where there is none; None where a row has more."""
        counts = np.diff(self.offsets)
        if self.runs > self.rows or int(counts.max(initial=0)) > 1:
            return None
        start, end = np.zeros(self.rows, np.int32), np.zeros(self.rows, np.int32)
        start[counts == 1], end[counts == 1] = self.starts, self.ends
        return start, end

    def row(self, row: int) -> tuple[tuple[int, int], ...]:
        """The runs of one row."""
        part = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        return tuple(zip(self.starts[part].tolist(), self.ends[part].tolist(), strict=True))

    def contains(self, row: int, column: int) -> bool:
        """Whether one cell is visible."""
        low, high = int(self.offsets[row]), int(self.offsets[row + 1])
        place = low + int(np.searchsorted(self.starts[low:high], column, side="right")) - 1
        return place >= low and column < int(self.ends[place])

    def holds(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the cells (rows, columns) are visible; both of one shape, the mask has a run."""
        first, last = self.offsets[rows], self.offsets[rows + 1]
        low, high = first, last
        while (low < high).any():  # the first run that starts behind the cell lies in [low, high]
            middle = (low + high) // 2
            behind = self.starts[np.minimum(middle, self.runs - 1)] > columns
            open_ = low < high
            low, high = np.where(open_ & ~behind, middle + 1, low), np.where(open_ & behind, middle, high)
        return (low > first) & (columns < self.ends[np.maximum(low - 1, 0)])

    def to_line(self) -> linear.Runs:
        """Runs on the line where row r starts at r * (columns + 1)."""
        base = self.run_rows() * (self.columns + 1)
        return base + self.starts, base + self.ends

    def to_dense(self) -> NDArray[np.bool_]:
        """Boolean [rows, columns]; the caller answers for its size."""
        step = np.zeros((self.rows, self.columns + 1), np.int8)
        row = self.run_rows()
        step[row, self.starts] = 1
        step[row, self.ends] = -1
        return np.cumsum(step, axis=1, dtype=np.int8)[:, :-1].astype(np.bool_)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervals):
            return NotImplemented
        return (
            (self.rows, self.columns) == (other.rows, other.columns)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.ends, other.ends)
        )

    def __hash__(self) -> int:
        return hash((self.rows, self.columns, self.offsets.tobytes(), self.starts.tobytes(), self.ends.tobytes()))

    def check(self) -> None:
        """Raise InternalError unless the canonical form holds."""
        offsets, starts, ends = self.offsets, self.starts, self.ends
        if offsets.shape != (self.rows + 1,) or int(offsets[0]) != 0 or int(offsets[-1]) != starts.size:
            raise InternalError("offsets do not frame the runs")
        if starts.shape != ends.shape or (np.diff(offsets) < 0).any():
            raise InternalError("offsets decrease, or starts and ends differ in number")
        if starts.size and (int(starts.min()) < 0 or int(ends.max()) > self.columns or (starts >= ends).any()):
            raise InternalError("a run is empty or leaves the mask")
        inside = np.diff(self.run_rows()) == 0
        if (starts[1:][inside] <= ends[:-1][inside]).any():
            raise InternalError("runs of a row overlap, touch or are not sorted")

    # ---------------------------------------------------------------- set algebra

    def union(self, other: Intervals) -> Intervals:
        """Cells visible in either."""
        self._same_shape(other)
        if not other.runs:
            return self
        if not self.runs:
            return other
        few, many = sorted((self, other), key=lambda mask: mask.runs)
        if few.runs * insertion.MANY_PER_FEW < many.runs:
            effort.spend(COPIED_STEPS * many.runs + COMBINED_STEPS * few.runs + self.rows)
            runs = insertion.inserted(many, few)
            if runs is not None:
                return Intervals(self.rows, self.columns, *runs)
        return self._combine(other, linear.union)

    def intersection(self, other: Intervals) -> Intervals:
        """Cells visible in both."""
        self._same_shape(other)
        if self._one_run_a_row() and other._one_run_a_row():
            return Intervals.from_bounds(
                self.columns, np.maximum(self.starts, other.starts), np.minimum(self.ends, other.ends)
            )
        for mask, bounds in ((self, other.one_run_bounds()), (other, self.one_run_bounds())):
            if bounds is not None:
                return mask._clipped(*bounds)
        return self._combine(other, linear.intersect)

    def difference(self, other: Intervals) -> Intervals:
        """Cells visible in this mask and not in the other."""
        self._same_shape(other)
        if not other.runs or not self.runs:
            return self
        return self._combine(other, linear.subtract)

    def complement(self) -> Intervals:
        """Cells not visible."""
        return Intervals.full(self.rows, self.columns).difference(self)

    # ---------------------------------------------------------------- rearranging

    def transpose(self) -> Intervals:
        """Columns as rows. A column's run starts where a row shows the cell and the row above does not.

        Raises TooLargeError where there would be more than MOST_RUNS.
        """
        return Intervals.from_line(self.columns, self.rows, turning.turned(self.to_line(), self.rows, self.columns))

    def transposed_runs_per_row(self) -> NDArray[np.int64]:
        """[columns] runs that every row of `transpose` would have, without building it."""
        last = int(self.offsets[-2]) if self.rows else 0
        down = np.concatenate(([0], self.offsets[:-1]))
        opened = self.difference(Intervals(self.rows, self.columns, down, self.starts[:last], self.ends[:last]))
        return turning.runs_per_column(opened.starts, opened.ends, self.columns)

    def transposed_runs(self) -> int:
        """How many runs `transpose` would have."""
        return int(self.transposed_runs_per_row().sum())

    def shown_columns(self) -> NDArray[np.bool_]:
        """[columns] which columns some row shows."""
        return turning.shown_columns(self.starts, self.ends, self.columns)

    def select(self, rows: NDArray[np.integer]) -> Intervals:
        """A mask whose row i is row rows[i] of this one."""
        return Intervals(int(rows.size), self.columns, *in_rows.selected(self, rows))

    def rows_between(self, begin: int, end: int) -> Intervals:
        """Rows [begin, end), sharing the arrays."""
        low, high = int(self.offsets[begin]), int(self.offsets[end])
        offsets = self.offsets[begin : end + 1] - low
        return Intervals(end - begin, self.columns, offsets, self.starts[low:high], self.ends[low:high])

    def permute_rows(self, order: NDArray[np.integer]) -> Intervals:
        """Row i of the result is row order[i]; `order` is a permutation of the rows."""
        return self.select(order)

    def permute_columns(self, order: NDArray[np.integer]) -> Intervals:
        """Column j of the result is column order[j]; `order` is a permutation of the columns.

        Runs break where neighbouring columns part, so the cost follows how well the order keeps neighbours together.
        """
        if not self.runs:
            return self
        own, starts, ends = self.pieces(MovedColumns(order))
        return Intervals.from_runs(self.rows, self.columns, self.run_rows()[own], starts, ends)

    def pieces_made(self, order: NDArray[np.integer], runs: slice = slice(None)) -> int:
        """Into how many pieces the order of the columns cuts the runs."""
        return MovedColumns(order).made(self.starts[runs], self.ends[runs])

    def pieces(
        self, order: MovedColumns, runs: slice = slice(None)
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Runs cut where the order of the columns parts neighbours: number in `runs`, start and end in the order.

        The pieces are in no particular order.

        Raises TooLargeError where there would be more than MOST_RUNS.
        """
        return order.pieces(self.starts[runs], self.ends[runs])

    # ---------------------------------------------------------------- inside

    def _combine(self, other: Intervals, operation: Callable[[linear.Runs, linear.Runs], linear.Runs]) -> Intervals:
        """Set algebra some rows at a time, so that what is worked on stays in the cache."""
        effort.spend(COMBINED_STEPS * (self.runs + other.runs) + self.rows)
        total = self.offsets + other.offsets
        borders = [0]
        while borders[-1] < self.rows:
            last = int(np.searchsorted(total, total[borders[-1]] + RUNS_AT_ONCE, side="right")) - 1
            borders.append(min(max(last, borders[-1] + 1), self.rows))
        parts = []
        for begin, end in pairwise(borders):
            a, b = self.rows_between(begin, end), other.rows_between(begin, end)
            parts.append(Intervals.from_line(a.rows, a.columns, operation(a.to_line(), b.to_line())))
        return Intervals.stacked(self.columns, parts)

    def _clipped(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> Intervals:
        """Row r within [low[r], high[r])."""
        return Intervals(self.rows, self.columns, *in_rows.all_clipped(self, low, high))

    def _one_run_a_row(self) -> bool:
        return self.runs == self.rows and bool((self.offsets[1:] > self.offsets[:-1]).all())

    def _same_shape(self, other: Intervals) -> None:
        if (self.rows, self.columns) != (other.rows, other.columns):
            raise InternalError(f"{self.rows}x{self.columns} and {other.rows}x{other.columns} masks do not combine")
