"""Tile rows that repeat an earlier one: the same runs, some of them moved by whole tiles, the others where they were.

Masks over images and videos have many runs a row and few different tile rows: away from the borders all are one
another moved, also where text or sink tokens are seen at a fixed place. Only the first of its kind is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear
from compilemask.tiles.tile_map import TileMap

RUNS_A_ROW = 10  # masks of fewer runs are judged in about the time that comparing takes
MODELS_OF_A_SHAPE = 8
TILE_ROWS_TRIED = 48  # where hardly any of the first tile rows repeats another, the rest is not compared

Numbers = NDArray[np.int64]
Narrow = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Tile row t is tile row `models[model[t]]`, its tiles outside of `fixed` moved by `moved[t]` tiles.

    `models` ascend and come first in their kind; row i of `fixed` are the tiles of model i that stay.
    """

    models: Numbers
    model: Numbers
    moved: Numbers
    fixed: Intervals

    def of_models(self, intervals: Intervals, block_m: int) -> Intervals:
        """The rows of the models only."""
        first = self.models * block_m
        last = np.minimum(first + block_m, intervals.rows)
        parts = [intervals.rows_between(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return Intervals.stacked(intervals.columns, parts)

    def expand(self, tiles: TileMap, query_length: int) -> TileMap:
        """The map of all tile rows from the map of the models."""
        full = tiles.full_intervals()
        still, moving = full.intersection(self.fixed).select(self.model), full.difference(self.fixed).select(self.model)
        shift = np.repeat(self.moved, moving.runs_per_row()).astype(np.int32)
        moving = Intervals(moving.rows, moving.columns, moving.offsets, moving.starts + shift, moving.ends + shift)
        full = still.union(moving)
        counts = np.diff(tiles.partial_offsets)
        own = np.repeat(np.arange(counts.size), counts)
        stays = _inside(self.fixed, own, tiles.partial_tiles)
        counts = counts[self.model]
        entry = linear.ranges(tiles.partial_offsets[:-1][self.model], counts)
        row = np.repeat(np.arange(self.model.size), counts)
        column = tiles.partial_tiles[entry] + np.where(stays[entry], 0, self.moved[row])
        order = np.argsort(row * (tiles.key_tiles + 1) + column, kind="stable")
        return TileMap(
            query_length,
            tiles.key_length,
            tiles.block_m,
            tiles.block_n,
            full.offsets,
            np.stack((full.starts, full.ends), axis=1),
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            column[order].astype(np.int32),
            tiles.partial_patterns[entry[order]],
            tiles.patterns,
        )


class _Model:
    """A tile row that others may repeat. Which of its runs move is settled by the first that does move."""

    def __init__(self, starts: Narrow, ends: Narrow, grid: _Columns) -> None:
        self.starts = starts
        self.ends = ends
        self.grid = grid
        self.moves = False
        self._is_fixed = np.zeros(0, np.bool_)
        self._settled = False
        self._moving: NDArray[np.bool_] | None = None
        self._apart = False
        self._columns = np.zeros(0, np.int64)
        self._places = np.zeros(0, np.int64)
        self._tiles = np.zeros(0, np.int64)

    def fixed_tiles(self) -> Numbers:
        """The tiles that stay where the tile row is repeated elsewhere."""
        return np.flatnonzero(self._is_fixed) if self.moves else np.zeros(0, np.int64)

    def moved_to(self, starts: Narrow) -> int | None:
        """By how many tiles runs of equal lengths are this tile row moved; None where they are not."""
        step = starts - self.starts
        least, most = int(step.min()), int(step.max())
        if least != most and least and most:
            return None
        shift = least or most
        if not shift:
            return 0
        moving = None if least == most else step != 0
        first = int(self.starts[0 if moving is None else int(np.argmax(moving))])
        if (int(self.grid.place[first + shift]) - int(self.grid.place[first])) % self.grid.block:
            return None
        if moving is not None and np.count_nonzero(step == shift) != np.count_nonzero(moving):
            return None
        if not self._settled or not (self.moves or self._moves_as_well(moving)):
            self._settle(moving)
        elif not self._moves_as_well(moving):
            return None
        tiles = self._whole_tiles(shift) if self._apart else None
        self.moves |= tiles is not None
        return tiles

    def _moves_as_well(self, moving: NDArray[np.bool_] | None) -> bool:
        """Whether the runs that move are those that it was settled for."""
        if moving is None or self._moving is None:
            return moving is self._moving
        return np.array_equal(self._moving, moving)

    def _settle(self, moving: NDArray[np.bool_] | None) -> None:
        """Note what moves (None: everything), and whether no tile holds both moving and fixed cells."""
        grid = self.grid
        self._settled, self._moving = True, moving
        starts, ends = (self.starts, self.ends) if moving is None else (self.starts[moving], self.ends[moving])
        still = slice(0, 0) if moving is None else ~moving
        self._is_fixed = grid.touched(self.starts[still], self.ends[still])
        if grid.moved:
            self._columns = grid.covered(starts, ends)
            self._places = grid.place[self._columns]
            moved = grid.holding(self._places)
        else:
            moved = grid.touched(starts, ends)
        self._tiles = np.flatnonzero(moved)
        self._apart = not (moved & self._is_fixed).any()

    def _whole_tiles(self, shift: int) -> int | None:
        grid = self.grid
        by = shift
        if grid.moved:
            step = grid.place[self._columns + shift] - self._places
            by = int(step[0])
            if not (step == by).all():
                return None
        places, rest = divmod(by, grid.block)
        if rest:
            return None
        there = self._tiles + places
        last = max(int(self._tiles[-1]), int(there[-1]))
        if (last + 1) * grid.block > grid.place.size or self._is_fixed[there].any():
            return None
        return places


class _Columns:
    """The columns of a mask: where each of them lies, and how many make a tile."""

    def __init__(self, columns: int, block: int, order: NDArray[np.integer] | None) -> None:
        self.block = block
        self.tiles = -(-columns // block)
        self.moved = order is not None
        self.place = np.arange(columns)
        if order is not None:
            self.place[order] = np.arange(columns)

    def covered(self, starts: Narrow, ends: Narrow) -> Numbers:
        """Columns of any of the runs, ascending."""
        size = self.place.size + 1
        step = np.bincount(starts, minlength=size) - np.bincount(ends, minlength=size)
        return np.flatnonzero(np.cumsum(step) > 0)

    def holding(self, places: Numbers) -> NDArray[np.bool_]:
        """[tiles] which of them hold any of the places."""
        held = np.zeros(self.tiles, np.bool_)
        held[places // self.block] = True
        return held

    def touched(self, starts: Narrow, ends: Narrow) -> NDArray[np.bool_]:
        """[tiles] which of them hold any column of the runs."""
        if self.moved:
            return self.holding(self.place[self.covered(starts, ends)])
        size = self.tiles + 1
        step = np.bincount(starts // self.block, minlength=size)
        step -= np.bincount((ends - 1) // self.block + 1, minlength=size)
        return np.cumsum(step)[:-1] > 0


def find_repeats(
    intervals: Intervals, block_m: int, block_n: int, column_order: NDArray[np.integer] | None
) -> Repeats | None:
    """Which tile rows repeat earlier ones; None where too few do to be worth it."""
    tile_rows = -(-intervals.rows // block_m)
    if tile_rows < 4 or intervals.runs < RUNS_A_ROW * intervals.rows:
        return None
    grid = _Columns(intervals.columns, block_n, column_order)
    kinds: dict[tuple[bytes, bytes], list[int]] = {}
    models: list[_Model] = []
    first: list[int] = []
    model, moved = np.zeros(tile_rows, np.int64), np.zeros(tile_rows, np.int64)
    offsets = intervals.offsets
    for tile_row in range(tile_rows):
        if tile_row == TILE_ROWS_TRIED and len(models) > 0.9 * tile_row:
            return None
        borders = offsets[tile_row * block_m : (tile_row + 1) * block_m + 1]
        part = slice(int(borders[0]), int(borders[-1]))
        starts, ends = intervals.starts[part], intervals.ends[part]
        known = kinds.setdefault(((borders - borders[0]).tobytes(), (ends - starts).tobytes()), [])
        for number in reversed(known):
            shift = models[number].moved_to(starts) if starts.size else 0
            if shift is not None:
                model[tile_row], moved[tile_row] = number, shift
                known.remove(number)
                known.append(number)
                break
        else:
            if len(known) == MODELS_OF_A_SHAPE:
                known.pop(0)
            known.append(len(models))
            model[tile_row] = len(models)
            models.append(_Model(starts, ends, grid))
            first.append(tile_row)
    if 4 * len(models) > 3 * tile_rows:
        return None
    stay = [one.fixed_tiles() for one in models]
    counts = [one.size for one in stay]
    tiles = np.concatenate(stay)
    row = np.repeat(np.arange(len(models)), counts)
    fixed = Intervals.from_runs(len(models), -(-intervals.columns // block_n), row, tiles, tiles + 1)
    return Repeats(np.array(first), model, moved, fixed)


def _inside(intervals: Intervals, row: Numbers, column: Narrow) -> NDArray[np.bool_]:
    """Whether cells lie in the mask."""
    starts, ends = intervals.to_line()
    cell = row * (intervals.columns + 1) + column
    place = np.searchsorted(starts, cell, side="right") - 1
    return (place >= 0) & (cell < np.append(ends, 0)[place])
