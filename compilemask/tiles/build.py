"""From intervals to the tile map: cost and memory follow the runs and the partial tiles, never rows x columns.

Tile rows are judged in groups of about RUNS_AT_ONCE runs. The tiles of a group stand on one line, `stride` places a
tile row. Counting the visible cells of every tile tells EMPTY, PARTIAL and FULL apart; where a group has far more
tiles than runs, as causal of a million tokens has, runs of tiles are merged instead and no tile is counted by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear
from compilemask.intervals.moving import LONG, MovedColumns
from compilemask.tiles.limits import TileMapSize
from compilemask.tiles.patterns import PatternTable
from compilemask.tiles.repeats import find_repeats
from compilemask.tiles.tile_map import TileMap, line_cells

RUNS_AT_ONCE = 1 << 19
COUNTED_TILES_PER_RUN = 4

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of some tile rows, disjoint and in row order; they may touch where columns have been moved."""

    first_row: int
    rows: int
    row: NDArray[np.int32]  # [runs] counted from first_row
    starts: NDArray[np.integer]
    ends: NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Grid:
    """Block sizes and the number of tiles of a row, plus 1 to keep tile rows apart on the line."""

    block_m: int
    block_n: int
    columns: int
    stride: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The tiles of a group: FULL runs and PARTIAL places on its line, visible cells of every partial tile.

    Run i touches the partial tiles `low[i]:high[i]`.
    """

    full: linear.Runs
    partial: Numbers
    low: NDArray[np.integer]
    high: NDArray[np.integer]

    def kept(self, kept: NDArray[np.bool_], number: NDArray[np.int32]) -> Judged:
        """Some of the partial tiles; those between two of them have the `number` of the one before."""
        some = self.low < self.high
        low = np.where(some, number[np.minimum(self.low, number.size - 1)], 0)
        high = np.where(some, number[self.high - 1] + np.int32(1), 0)
        return Judged(self.full, self.partial[kept], low, high)


def build_tile_map(
    intervals: Intervals, block_m: int, block_n: int, column_order: NDArray[np.integer] | None = None
) -> TileMap:
    """The tile map of a mask in row form. `block_m`, `block_n` >= 1 need not divide the lengths.

    With `column_order`, of the mask whose column j is column column_order[j] of this one.
    """
    repeats = find_repeats(intervals, block_m, block_n, column_order)
    if repeats is None:
        return _judged_map(intervals, block_m, block_n, column_order)
    models = _judged_map(repeats.of_models(intervals, block_m), block_m, block_n, column_order)
    return repeats.expand(models, intervals.rows)


def _judged_map(intervals: Intervals, block_m: int, block_n: int, column_order: NDArray[np.integer] | None) -> TileMap:
    """The tile map with every tile row judged by itself."""
    query_tiles, key_tiles = -(-intervals.rows // block_m), -(-intervals.columns // block_n)
    grid = Grid(block_m, block_n, intervals.columns, key_tiles + 1)
    table = PatternTable(block_m, block_n)
    full: list[linear.Runs] = []
    partial: list[Numbers] = []
    numbers: list[NDArray[np.int32]] = []
    size = TileMapSize(block_m, block_n)
    if column_order is None:
        borders = np.minimum(np.arange(query_tiles + 1) * block_m, intervals.rows)
        size.check_row(int(np.diff(intervals.offsets[borders]).max(initial=0)))
    for group in _groups(intervals, block_m, column_order, size):
        tile_rows = -(-group.rows // block_m)
        size.add(tile_rows, group.row.size, 0)
        judged, base = _judge(group, grid, size)
        begin = group.first_row // block_m * grid.stride
        full.append((judged.full[0] + begin, judged.full[1] + begin))
        partial.append(judged.partial + begin)
        numbers.append(table.number(group, judged, base))
        size.different(table.count)
    places = _joined(partial)
    full_tiles = Intervals.from_line(
        query_tiles, key_tiles, (_joined([a for a, _ in full]), _joined([b for _, b in full]))
    )
    row = places // grid.stride
    offsets = np.zeros(query_tiles + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=query_tiles), out=offsets[1:])
    return TileMap(
        intervals.rows,
        intervals.columns,
        block_m,
        block_n,
        full_tiles.offsets,
        np.stack((full_tiles.starts, full_tiles.ends), axis=1),
        offsets,
        (places - row * grid.stride).astype(np.int32),
        np.concatenate([np.zeros(0, np.int32), *numbers]),
        table.patterns(),
    )


def _joined(parts: list[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _groups(
    intervals: Intervals, block_m: int, column_order: NDArray[np.integer] | None, size: TileMapSize
) -> Iterator[Group]:
    """Whole tile rows that have any run, about RUNS_AT_ONCE runs together."""
    tile_rows = -(-intervals.rows // block_m)
    borders = np.minimum(np.arange(tile_rows + 1) * block_m, intervals.rows)
    cost = intervals.offsets
    moved = None if column_order is None else MovedColumns(column_order)
    if moved is not None and intervals.runs:
        pieces = moved.counts(intervals.starts, intervals.ends)
        size.check_pieces(int(pieces[pieces <= LONG].sum(dtype=np.int64)))  # longer runs may share theirs
        cost = np.concatenate(([0], np.cumsum(pieces)))[intervals.offsets]
    total = cost[borders]
    tile_row = 0
    while tile_row < tile_rows:
        end = int(np.searchsorted(total, total[tile_row] + RUNS_AT_ONCE, side="right")) - 1
        end = min(max(end, tile_row + 1), tile_rows)
        first, last = int(borders[tile_row]), int(borders[end])
        low, high = int(intervals.offsets[first]), int(intervals.offsets[last])
        tile_row = end
        if low == high:
            continue
        counts = np.diff(intervals.offsets[first : last + 1])
        row = np.repeat(np.arange(last - first, dtype=np.int32), counts)
        starts: NDArray[np.integer] = intervals.starts[low:high]
        ends: NDArray[np.integer] = intervals.ends[low:high]
        if moved is not None:
            own, starts, ends = intervals.pieces(moved, slice(low, high))
            row = row[own]
        yield Group(first, last - first, row, starts, ends)


def _judge(group: Group, grid: Grid, map_size: TileMapSize) -> tuple[Judged, NDArray[np.integer]]:
    """The tiles of a group, and for every run the place of tile 0 of its tile row."""
    tile_rows = -(-group.rows // grid.block_m)
    size = tile_rows * grid.stride
    kind = np.int32 if size < 2**31 - 1 else np.int64
    base: NDArray[np.integer] = (group.row // np.int32(grid.block_m)).astype(kind)
    base *= grid.stride
    first = base + (group.starts // grid.block_n).astype(kind)
    last = base + ((group.ends - 1) // grid.block_n).astype(kind)
    heights = np.full(tile_rows, grid.block_m)
    heights[-1] = group.rows - (tile_rows - 1) * grid.block_m
    if size <= COUNTED_TILES_PER_RUN * group.row.size + (1 << 16):
        return _by_counting(group, grid, base, first, last, heights, map_size), base
    return _by_merging(group, grid, base, first, last, heights, map_size), base


def _by_counting(
    group: Group,
    grid: Grid,
    base: NDArray[np.integer],
    first: NDArray[np.integer],
    last: NDArray[np.integer],
    heights: Numbers,
    map_size: TileMapSize,
) -> Judged:
    n, stride = grid.block_n, grid.stride
    size = heights.size * stride
    left = (first - base) * n
    cells = np.bincount(first, np.minimum(group.ends, left + n) - group.starts, minlength=size)
    wide = np.flatnonzero(last > first)
    if wide.size:
        begin, end = first[wide], last[wide]
        cells += np.bincount(end, group.ends[wide] - (end - base[wide]) * n, minlength=size)
        crossed = np.bincount(begin + 1, minlength=size) - np.bincount(end, minlength=size)
        cells += np.cumsum(crossed) * n
    widths = np.full(stride, n)
    widths[-2] = grid.columns - (stride - 2) * n
    widths[-1] = -1
    full = (cells.reshape(-1, stride) == heights[:, None] * widths).reshape(-1)
    is_partial = (cells > 0) & ~full
    map_size.add(0, 0, int(np.count_nonzero(is_partial)))
    rank = np.zeros(size + 1, np.int32)
    np.cumsum(is_partial, out=rank[1:])
    edges = np.diff(np.concatenate(([False], full, [False])).astype(np.int8))
    runs = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return Judged(runs, np.flatnonzero(is_partial), rank[first], rank[last + 1])


def _by_merging(
    group: Group,
    grid: Grid,
    base: NDArray[np.integer],
    first: NDArray[np.integer],
    last: NDArray[np.integer],
    heights: Numbers,
    map_size: TileMapSize,
) -> Judged:
    """A tile is FULL where as many runs cover it as its tile row has rows; for maximal runs only."""
    starts, ends = group.starts, group.ends
    if (group.row[1:] == group.row[:-1]).any():
        whole = Intervals.from_runs(group.rows, grid.columns, group.row, starts, ends)
        starts, ends = whole.starts, whole.ends
        row_base = (whole.run_rows() // grid.block_m) * grid.stride
    else:
        row_base = base.astype(np.int64)
    begin = -(-starts // grid.block_n)
    end = np.where(ends == grid.columns, grid.stride - 1, ends // grid.block_n)
    some = begin < end
    opened = np.sort((row_base + begin)[some], kind="stable")
    closed = np.sort((row_base + end)[some], kind="stable")
    ended = np.searchsorted(closed, opened, side="right")
    everywhere = np.arange(1, opened.size + 1) - ended == heights[opened // grid.stride]
    full = opened[everywhere], closed[ended[everywhere]]
    visited = linear.merge(first.astype(np.int64), last.astype(np.int64) + 1)
    rest = linear.subtract(visited, full)
    map_size.add(0, 0, int((rest[1] - rest[0]).sum()))
    partial = line_cells(rest)
    return Judged(full, partial, np.searchsorted(partial, first), np.searchsorted(partial, last, side="right"))
