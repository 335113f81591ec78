"""Whether two masks are the same, cell by cell in the order in which the caller holds the tokens; never dense.

Attention sees the caller's order: an order for the kernel moves tiles and no cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import TooLargeError, UsageError
from compilemask.imports.arrays import Masks
from compilemask.intervals import Intervals, linear, turning
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.order import Permutation, TokenOrder
from compilemask.intervals.solve import Form
from compilemask.pipeline import CompiledMask


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of two masks. `variant` [batch or 1, heads or 1] numbers the distinct ones, which `kept` gives as they are
    kept and `listed` in the caller's order and in one form.
    """

    name: str
    query_length: int
    key_length: int
    variant: NDArray[np.int32]
    kept: Callable[[int], Lowered]
    listed: Callable[[int, Form], Intervals]


@dataclass(frozen=True, slots=True)
class DifferingCell:
    """The first cell that differs: by batch entry, head, query and key; `in_first`: the first mask shows it."""

    batch: int
    head: int
    query: int
    key: int
    in_first: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """`cells` are those of all compared batch entries and heads; so many are visible in one mask only."""

    cells: int
    only_first: int
    only_second: int
    first: DifferingCell | None

    @property
    def differing(self) -> int:
        """How many cells only one of the masks shows."""
        return self.only_first + self.only_second

    @property
    def equal(self) -> bool:
        """Whether no cell differs."""
        return self.first is None


def compiled_side(compiled: CompiledMask, name: str) -> Side:
    """A compiled mask."""

    def listed(number: int, form: Form) -> Intervals:
        batch, head = (int(place[0]) for place in np.nonzero(compiled.variant == number))
        return compiled.rows_of(batch, head) if form is Form.ROW else compiled.columns_of(batch, head)

    lengths = compiled.query_length, compiled.key_length
    return Side(name, *lengths, compiled.variant, lambda number: compiled.kept[number], listed)


def array_side(masks: Masks, name: str) -> Side:
    """The masks of an array, as `masks_of` gives them."""
    rows = [one for sample in masks for one in sample]
    variant = np.arange(len(rows), dtype=np.int32).reshape(len(masks), -1)

    def listed(number: int, form: Form) -> Intervals:
        return rows[number] if form is Form.ROW else rows[number].transpose()

    lengths = rows[0].rows, rows[0].columns
    return Side(name, *lengths, variant, lambda number: Lowered(Form.ROW, rows[number]), listed)


def compare(a: Side, b: Side, batch: int | None = None, head: int | None = None) -> Comparison:
    """Compare two masks of equal lengths: every batch entry and head, or the given one of them.

    A mask that does not tell entries (heads) apart is compared with each of the other's.

    Raises:
        UsageError: the lengths differ, or the masks tell different numbers of batch entries or heads apart.
        TooLargeError: the masks are kept in different ways and can't be listed alike.
    """
    if (a.query_length, a.key_length) != (b.query_length, b.key_length):
        raise UsageError(f"{a.name} and {b.name} have no cells in common: their lengths differ")
    ours, theirs = _paired(a, b, batch, head)
    pairs, first, counts = np.unique(
        np.stack((ours, theirs)).reshape(2, -1), axis=1, return_index=True, return_counts=True
    )
    only, earliest = [0, 0], None
    for place in np.argsort(first):
        found = _Differences.between(a, int(pairs[0, place]), b, int(pairs[1, place]))
        only = [total + one.visible * int(counts[place]) for total, one in zip(only, found.only, strict=True)]
        cell = found.first() if earliest is None else None
        if cell is not None:
            entry, number = divmod(int(first[place]), ours.shape[1])
            earliest = DifferingCell(batch if batch is not None else entry, head if head is not None else number, *cell)
    return Comparison(ours.size * a.query_length * a.key_length, only[0], only[1], earliest)


def _paired(a: Side, b: Side, batch: int | None, head: int | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """[batch, heads] the distinct masks of both sides that are compared with one another."""
    chosen = [_chosen(_chosen(side.variant, 0, batch), 1, head) for side in (a, b)]
    for axis, what, option in ((0, "batch entries", "--batch"), (1, "heads", "--head")):
        ours, theirs = (one.shape[axis] for one in chosen)
        if 1 not in (ours, theirs) and ours != theirs:
            raise UsageError(
                f"{a.name} tells {ours:,} {what} apart and {b.name} {theirs:,}: choose one of them with {option}"
            )
    ours, theirs = np.broadcast_arrays(*chosen)
    return ours, theirs


def _chosen(variant: NDArray[np.int32], axis: int, number: int | None) -> NDArray[np.int32]:
    """One entry of an axis, or all; an axis of one entry serves every number."""
    if number is None:
        return variant
    return variant.take([number if variant.shape[axis] > 1 else 0], axis)


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """What only one of two masks shows, in one form and one order of tokens."""

    only: tuple[Intervals, Intervals]
    form: Form
    order: TokenOrder

    @staticmethod
    def between(a: Side, number: int, b: Side, other: int) -> _Differences:
        """Compared as both are kept, where that is alike, else in the caller's order."""
        kept, theirs = a.kept(number), b.kept(other)
        if kept.form is theirs.form and equal_orders(kept.order, theirs.order):
            return _Differences.of(kept.intervals, theirs.intervals, kept.form, kept.order)
        try:
            rows = a.listed(number, Form.ROW), b.listed(other, Form.ROW)
        except TooLargeError:
            columns = a.listed(number, Form.COLUMN), b.listed(other, Form.COLUMN)
            return _Differences.of(*columns, Form.COLUMN, TokenOrder())
        return _Differences.of(*rows, Form.ROW, TokenOrder())

    @staticmethod
    def of(a: Intervals, b: Intervals, form: Form, order: TokenOrder) -> _Differences:
        """Of two masks in the same form and order."""
        return _Differences((a.difference(b), b.difference(a)), form, order)

    def first(self) -> tuple[int, int, bool] | None:
        """The first differing query of the caller, its first differing key, and whether the first mask shows it."""
        found = [
            (*cell, shown) for one, shown in zip(self.only, (True, False), strict=True) if (cell := self._cell(one))
        ]
        return min(found, default=None)

    def _cell(self, cells: Intervals) -> tuple[int, int] | None:
        if not cells.runs:
            return None
        if self.form is Form.ROW:
            row = _earliest(np.flatnonzero(np.diff(cells.offsets)), self.order.queries)
            runs = slice(int(cells.offsets[row]), int(cells.offsets[row + 1]))
            keys = linear.ranges(cells.starts[runs], cells.ends[runs] - cells.starts[runs])
            return _token(row, self.order.queries), _token(_earliest(keys, self.order.keys), self.order.keys)
        shown = turning.shown_columns(cells.starts, cells.ends, cells.columns)
        query = _earliest(np.flatnonzero(shown), self.order.queries)
        keys = cells.run_rows()[(cells.starts <= query) & (query < cells.ends)]
        return _token(query, self.order.queries), _token(_earliest(keys, self.order.keys), self.order.keys)


def equal_orders(one: TokenOrder, other: TokenOrder) -> bool:
    """Whether two orders put every token into the same place."""
    pairs = ((one.queries, other.queries), (one.keys, other.keys))
    return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs)


def _earliest(slots: NDArray[np.integer], order: Permutation | None) -> int:
    """The slot whose token comes first for the caller."""
    return int(slots.min() if order is None else slots[int(np.argmin(order[slots]))])


def _token(slot: int, order: Permutation | None) -> int:
    return slot if order is None else int(order[slot])
