"""Plans: what a term will emit and what that costs, before anything large is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.join import Join
from compilemask.intervals.layers import Layer, Repeated, intersected, one_layer, united
from compilemask.intervals.limits import MOST_RUNS, too_many_runs
from compilemask.language import effort

EMITTED_STEPS = 8  # for every run

Ints = NDArray[np.int64]


class Plan(ABC):
    """Something that gives a mask; `cost` estimates the runs made on the way.

    `asked` counts the requests that these runs answer, in whatever order the tokens lie.
    """

    cost: int
    asked: int

    @abstractmethod
    def emit(self) -> Intervals:
        """Make the mask."""

    def layers(self) -> list[Layer]:
        """Masks whose union is the mask, some of them of few different rows."""
        return [self.emit()]


@dataclass(frozen=True, slots=True)
class Nothing(Plan):
    """No cell."""

    rows: int
    columns: int
    cost: int = 0
    asked: int = 0

    def emit(self) -> Intervals:
        return Intervals.empty(self.rows, self.columns)


@dataclass(frozen=True, slots=True)
class Rectangle(Plan):
    """Every pair of a row slot and a column slot."""

    rows: int
    columns: int
    row_slots: Ints
    column_slots: Ints

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Runs of the columns, once a row."""
        return self.row_slots.size * (1 + int((np.diff(self.column_slots) != 1).sum()))

    @property
    def asked(self) -> int:  # type: ignore[override]
        """One per row."""
        return self.row_slots.size

    def emit(self) -> Intervals:
        slots = self.column_slots
        if not slots.size or not self.row_slots.size:
            return Intervals.empty(self.rows, self.columns)
        cut = np.flatnonzero(np.diff(slots) != 1)
        start = slots[np.concatenate(([0], cut + 1))].astype(np.int32)
        end = (slots[np.concatenate((cut, [slots.size - 1]))] + 1).astype(np.int32)
        counts = np.zeros(self.rows, np.int64)
        counts[self.row_slots] = start.size
        offsets = np.concatenate(([0], np.cumsum(counts)))
        times = self.row_slots.size
        return Intervals(self.rows, self.columns, offsets, np.tile(start, times), np.tile(end, times))


@dataclass(frozen=True, slots=True)
class Joined(Plan):
    """One join."""

    rows: int
    columns: int
    join: Join

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Runs before merging."""
        return self.join.cost

    @property
    def asked(self) -> int:  # type: ignore[override]
        """Requests that any key answers."""
        return self.join.asked

    def emit(self) -> Intervals:
        return united(self.layers())

    def layers(self) -> list[Layer]:
        effort.spend(EMITTED_STEPS * self.join.cost)
        return [self.join.repeated(self.rows, self.columns) or self.join.emit(self.rows, self.columns)]


@dataclass(frozen=True, slots=True)
class Combined(Plan):
    """Several plans made one."""

    parts: tuple[Plan, ...]

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Of all parts."""
        return sum(part.cost for part in self.parts)

    @property
    def asked(self) -> int:  # type: ignore[override]
        """By all parts."""
        return sum(part.asked for part in self.parts)

    def emit(self) -> Intervals:
        return united(self.layers())


class Union(Combined):
    """Cells of any part."""

    __slots__ = ()

    def layers(self) -> list[Layer]:
        return [layer for part in self.parts for layer in part.layers()]


class Intersection(Combined):
    """Cells of all parts."""

    __slots__ = ()

    def layers(self) -> list[Layer]:
        parts = sorted((one_layer(part.layers()) for part in self.parts), key=lambda layer: layer.runs)
        return [reduce(intersected, parts)]


@dataclass(frozen=True, slots=True)
class Without(Plan):
    """One plan less another."""

    base: Plan
    hidden: Plan

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Of both."""
        return self.base.cost + self.hidden.cost

    @property
    def asked(self) -> int:  # type: ignore[override]
        """By both."""
        return self.base.asked + self.hidden.asked

    def emit(self) -> Intervals:
        base = self.base.emit()
        return base.difference(self.hidden.emit()) if base.runs else base


@dataclass(frozen=True, slots=True)
class Turned(Plan):
    """A plan of the other form, transposed."""

    plan: Plan

    @property
    def cost(self) -> int:  # type: ignore[override]
        """Transposing costs about as much again as making."""
        return 3 * self.plan.cost

    @property
    def asked(self) -> int:  # type: ignore[override]
        """By the plan that is turned."""
        return self.plan.asked

    def emit(self) -> Intervals:
        return self.plan.emit().transpose()


@dataclass(frozen=True, slots=True)
class Spread(Plan):
    """A plan of the first row of every kind, for all rows of that kind; row r is as row first[kind[r]] of the plan.

    Kind `first.size` is that of rows without cells.
    """

    plan: Plan
    first: Ints
    kind: NDArray[np.int32]

    @property
    def cost(self) -> int:  # type: ignore[override]
        """As if there were as many rows of every kind."""
        return self.plan.cost * self._rows_a_kind()

    @property
    def asked(self) -> int:  # type: ignore[override]
        """The same."""
        return self.plan.asked * self._rows_a_kind()

    def _rows_a_kind(self) -> int:
        return -(-self.kind.size // self.first.size)

    def emit(self) -> Intervals:
        return united(self.layers())

    def layers(self) -> list[Layer]:
        mask = self.plan.emit().select(self.first)
        different = Intervals.stacked(mask.columns, [mask, Intervals.empty(1, mask.columns)])
        layer = Repeated(different, self.kind)
        if layer.runs > MOST_RUNS:
            raise too_many_runs(layer.runs)
        return [layer]


@dataclass(frozen=True, slots=True)
class Made(Plan):
    """A mask from a function."""

    make: Callable[[], Intervals]
    cost: int

    @property
    def asked(self) -> int:  # type: ignore[override]
        """Not known to be less than the runs."""
        return self.cost

    def emit(self) -> Intervals:
        return self.make()


def union(parts: list[Plan]) -> Plan:
    """Cells of any part."""
    return parts[0] if len(parts) == 1 else Union(tuple(parts))


def intersection(parts: list[Plan]) -> Plan:
    """Cells of all parts."""
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))
