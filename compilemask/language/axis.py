"""One axis of a mask with all sizes known: which coordinates each of its tokens has.

Tokens are described by runs: a run is one instance of a leaf region (or a stretch of padding) in the written layout.
Columns over tokens are made from the runs when first asked for. All columns are in storage order, by `index`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EVERYTHING = "everything"
FEW_RUNS = 64
MOST_KEPT = 2**25  # numbers in the columns that an axis keeps


class CoordinateKind(Enum):
    """INDEX storage slot; POS position; AT tokens of the instance before it; NUMBER of its instance in the parent;
    SIZE tokens of its instance; COUNT instances of the region in its parent; T, Y, X of its innermost grid."""

    INDEX = "index"
    POS = "pos"
    AT = "at"
    NUMBER = "number"
    SIZE = "size"
    COUNT = "count"
    T = "t"
    Y = "y"
    X = "x"


class Column(NamedTuple):
    """A coordinate of every token: `values` [tokens], meaningful where `present` [tokens]; None: present everywhere."""

    values: NDArray[np.int64]
    present: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True, eq=False)
class RegionTable:
    """All instances of one region name on an axis.

    `run_instance` [runs] is the instance that holds each run, -1 for none. `number`, `count`, `parent` [instances]:
    number within the parent, instances of this name in that parent, id of the parent (equal ids: siblings).
    """

    run_instance: NDArray[np.int64]
    number: NDArray[np.int64]
    count: NDArray[np.int64]
    parent: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The written layout, run by run, padding included.

    `length` [runs] tokens; `leaf` [runs]: place in `paths`, -1 for padding; `shape` [runs, 3]: t, y, x extents, -1
    where the run has no such coordinate. `paths`: the region names from the outside in, one per leaf line.
    """

    length: NDArray[np.int64]
    leaf: NDArray[np.int64]
    shape: NDArray[np.int64]
    paths: tuple[tuple[str, ...], ...]
    regions: dict[str, RegionTable]


class Axis:
    """The tokens of the queries or of the keys, or of both where the file has one layout.

    `name` is "layout", "queries" or "keys"; `length` counts all slots, padding included.
    `written[slot]` is the token's place in the written layout; None: storage is as written.
    `position` replaces the default `pos` (the written place); `picked` keeps only these slots of the whole layout, with
    numbers, `at`, sizes and `pos` of the `whole` axis (`queries are ...`).
    """

    def __init__(
        self,
        name: str,
        runs: Runs,
        written: NDArray[np.int64] | None = None,
        position: Column | None = None,
        picked: NDArray[np.int64] | None = None,
        whole: Axis | None = None,
    ) -> None:
        self.name = name
        self.runs = runs
        self.written = written
        self.position = position
        self.picked = picked
        self.whole = whole
        self.whole_length = int(runs.length.sum())
        self.length = self.whole_length if picked is None else len(picked)
        self._columns: dict[tuple[CoordinateKind, str | None], Column] = {}
        self._cache: dict[tuple[str, str], NDArray[np.int64]] = {}
        self._starts = np.cumsum(runs.length) - runs.length
        self._real = runs.leaf >= 0
        real_length = np.where(self._real, runs.length, 0)
        self._real_starts = np.cumsum(real_length) - real_length
        self._real_total = int(real_length.sum())
        self._padding: NDArray[np.bool_] | None = None
        self._leaves_of = leaves_by_name(runs.paths)

    # ------------------------------------------------------------ variants of an axis

    def stored(self, written: NDArray[np.int64]) -> Axis:
        """The same tokens in another storage order."""
        return Axis(self.name, self.runs, written, self.position, self.picked)

    def positioned(self, position: Column) -> Axis:
        """The same tokens with another `pos`; the column is in storage order of this axis."""
        return Axis(self.name, self.runs, self.written, position, self.picked)

    def picking(self, slots: NDArray[np.int64], name: str) -> Axis:
        """Only the tokens in these slots, in this order."""
        position = self.position and _take(self.position, slots)
        return Axis(name, self.runs, self.written, position, slots, self)

    def uncut(self, slots: NDArray[np.int64]) -> tuple[Axis, NDArray[np.int64]]:
        """The axis of all tokens, and where these slots lie on it: totals run over tokens that do not ask, too."""
        if self.whole is None or self.picked is None:
            return self, slots
        return self.whole, self.picked[slots]

    # ------------------------------------------------------------ columns

    @property
    def regions(self) -> tuple[str, ...]:
        """The names of all regions on this axis."""
        return tuple(self.runs.regions)

    @property
    def padding(self) -> NDArray[np.bool_]:
        """Which slots are padding, bool [tokens]."""
        if self._padding is None:
            self._padding = ~self.spread(self._real.astype(np.int64)).astype(np.bool_)
        return self._padding

    def column(self, kind: CoordinateKind, region: str | None = None) -> Column:
        """The coordinate of every token, int64 [tokens] with presence."""
        key = (kind, region)
        if key not in self._columns:
            column = self._build(kind, region)
            self._make_room()
            self._columns[key] = column
        return self._columns[key]

    def run_of(self) -> NDArray[np.int64]:
        """The run of every token, int64 [tokens]."""
        runs = np.arange(len(self.runs.length), dtype=np.int64)
        return self._cached("run", "", lambda: self.spread(runs))

    def spread(self, per_run: NDArray[np.int64]) -> NDArray[np.int64]:
        """A value per run, given to each of its tokens, in storage order."""
        return self._stored(np.repeat(per_run, self.runs.length))

    def instance(self, region: str) -> NDArray[np.int64]:
        """The instance of `region` that holds each token, counted over the whole axis; -1 for none. int64 [tokens]."""
        return self._cached("instance", region, lambda: self.spread(self.runs.regions[region].run_instance))

    def siblings(self, region: str) -> NDArray[np.int64]:
        """The parent of each token's instance of `region`: equal where the instances are siblings; -1 for none."""
        table = self.runs.regions[region]
        return self._cached("siblings", region, lambda: self.spread(_pick(table.parent, table.run_instance)))

    def innermost(self) -> NDArray[np.int64]:
        """The innermost instance of each token: its run, or -1 for padding. int64 [tokens]."""
        runs = np.where(self._real, np.arange(len(self._real), dtype=np.int64), -1)
        return self._cached("innermost", "", lambda: self.spread(runs))

    def enclosing(self, region: str, outer: str) -> NDArray[np.int64]:
        """The number of the instance of `outer` around each token's instance of `region`; -1 where there is none."""
        return self._cached(region, f".{outer}", lambda: self._enclosing(region, outer))

    def encloses(self, region: str) -> frozenset[str]:
        """The names that stand around `region` somewhere on this axis."""
        paths = [self.runs.paths[leaf] for leaf in self._leaves_of.get(region, ())]
        return frozenset(name for path in paths for name in path[: path.index(region)])

    def in_path(self, path: tuple[str, ...]) -> NDArray[np.bool_]:
        """Which tokens lie in `path`: in an instance of the last name, inside the one before it, and so on."""
        return self.spread(self._runs_in(path).astype(np.int64)).astype(np.bool_)

    def _runs_in(self, path: tuple[str, ...]) -> NDArray[np.bool_]:
        leaves = np.zeros(len(self.runs.paths) + 1, dtype=np.bool_)
        leaves[[leaf for leaf in self._leaves_of.get(path[-1], ()) if follows(self.runs.paths[leaf], path)]] = True
        return leaves[self.runs.leaf]

    # ------------------------------------------------------------ one token

    def value(self, kind: CoordinateKind, region: str | None, slot: int) -> int | None:
        """The coordinate of one token, None where it is absent."""
        column = self.column(kind, region)
        if column.present is not None and not column.present[slot]:
            return None
        return int(column.values[slot])

    def path_of(self, slot: int) -> tuple[tuple[str, int, int], ...]:
        """Where a token stands: (region, number, at) from the outside in; empty for padding."""
        leaf = int(self.runs.leaf[int(self.run_of()[slot])])
        if leaf < 0:
            return ()
        return tuple(
            (name, self.value(CoordinateKind.NUMBER, name, slot) or 0, self.value(CoordinateKind.AT, name, slot) or 0)
            for name in self.runs.paths[leaf]
        )

    # ------------------------------------------------------------ how columns are made

    def _stored(self, written: NDArray[np.int64]) -> NDArray[np.int64]:
        stored = written if self.written is None else written[self.written]
        return stored if self.picked is None else stored[self.picked]

    def _cached(self, first: str, second: str, make: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
        key = (first, second)
        if key not in self._cache:
            values = make()
            self._make_room()
            self._cache[key] = values
        return self._cache[key]

    def _make_room(self) -> None:
        """Forget what has been kept where it is many numbers: hundreds of names on millions of tokens would not fit."""
        if (len(self._columns) + len(self._cache) + 1) * self.whole_length > MOST_KEPT:
            self._columns.clear()
            self._cache.clear()

    def _offsets(self) -> NDArray[np.int64]:
        return self._cached(
            "offset", "", lambda: self._stored(np.arange(self.whole_length, dtype=np.int64)) - self.spread(self._starts)
        )

    def _build(self, kind: CoordinateKind, region: str | None) -> Column:
        if kind is CoordinateKind.INDEX:
            return Column(np.arange(self.length, dtype=np.int64), None)
        if kind is CoordinateKind.POS:
            return self.position or Column(self._stored(np.arange(self.whole_length, dtype=np.int64)), None)
        if kind in _GRID:
            return self._grid(_GRID[kind])
        if region is None:
            return self._innermost(kind)
        if region == EVERYTHING:
            return self._whole(kind)
        return self._regional(kind, region)

    def _innermost(self, kind: CoordinateKind) -> Column:
        values = self._offsets() if kind is CoordinateKind.AT else self.spread(self.runs.length)
        return Column(values, _unless_full(~self.padding))

    def _whole(self, kind: CoordinateKind) -> Column:
        if kind is CoordinateKind.AT:
            return Column(self.spread(self._real_starts) + self._offsets(), _unless_full(~self.padding))
        return Column(np.full(self.length, self._real_total, dtype=np.int64), _unless_full(~self.padding))

    def _regional(self, kind: CoordinateKind, region: str) -> Column:
        table = self.runs.regions[region]
        instance = table.run_instance
        present = _unless_full(self.instance(region) >= 0)
        match kind:
            case CoordinateKind.NUMBER:
                return Column(self.spread(_pick(table.number, instance)), present)
            case CoordinateKind.COUNT:
                return Column(self.spread(_pick(table.count, instance)), present)
            case CoordinateKind.SIZE:
                return Column(self.spread(_pick(self._sizes(table), instance)), present)
            case _:
                first = np.zeros(len(table.number) + 1, dtype=np.int64)
                backwards = np.arange(len(instance) - 1, -1, -1)
                first[instance[backwards]] = self._real_starts[backwards]
                return Column(self.spread(self._real_starts - first[instance]) + self._offsets(), present)

    def _sizes(self, table: RegionTable) -> NDArray[np.int64]:
        held = (table.run_instance >= 0) & self._real
        counts = np.bincount(table.run_instance[held], self.runs.length[held], minlength=len(table.number))
        return counts.astype(np.int64)

    def _grid(self, which: int) -> Column:
        shape = self.runs.shape
        inner = np.prod(np.maximum(shape[:, which + 1 :], 1), axis=1)
        if len(inner) <= FEW_RUNS:
            return self._grid_by_run(shape[:, which], inner)
        offset = self._offsets() // np.maximum(self.spread(inner), 1)
        extent = self.spread(shape[:, which])
        return Column(offset % np.maximum(extent, 1), _unless_full(extent >= 0))

    def _grid_by_run(self, extents: NDArray[np.int64], inner: NDArray[np.int64]) -> Column:
        """Division by one number is several times faster than by an array of them."""
        written = np.zeros(self.whole_length, dtype=np.int64)
        for start, length, extent, step in zip(self._starts, self.runs.length, extents, inner, strict=True):
            if extent > 0:
                written[start : start + length] = np.arange(length) // int(step) % int(extent)
        return Column(self._stored(written), _unless_full(self.spread(extents) >= 0))

    def _enclosing(self, region: str, outer: str) -> NDArray[np.int64]:
        table = self.runs.regions[outer]
        numbers = np.where(self._runs_in((outer, region)), _pick(table.number, table.run_instance), -1)
        return self.spread(numbers)


_GRID = {CoordinateKind.T: 0, CoordinateKind.Y: 1, CoordinateKind.X: 2}


def _pick(values: NDArray[np.int64], instance: NDArray[np.int64]) -> NDArray[np.int64]:
    """values[instance], -1 where the instance is -1."""
    return np.append(values, -1)[instance]


def _unless_full(present: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return None if bool(present.all()) else present


def _take(column: Column, slots: NDArray[np.int64]) -> Column:
    return Column(column.values[slots], None if column.present is None else column.present[slots])


def leaves_by_name(paths: tuple[tuple[str, ...], ...]) -> dict[str, list[int]]:
    """For every name, the leaves that lie in it."""
    found: dict[str, list[int]] = {}
    for leaf, path in enumerate(paths):
        for name in path:
            found.setdefault(name, []).append(leaf)
    return found


def follows(names: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether the names of `path` occur in `names` in this order."""
    rest = iter(names)
    return all(name in rest for name in path)
