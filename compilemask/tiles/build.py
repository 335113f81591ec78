"""From intervals to the tile map: cost and memory follow the runs and the partial tiles, never rows x columns.

A run of row r touches the key tiles floor(start / n) .. ceil(end / n) and covers ceil(start / n) .. floor(end / n)
entirely. Over the rows of a tile row, a tile is visited where any run touches it and FULL where every row covers it;
what is visited and not FULL is PARTIAL. Runs cut at the borders of partial tiles are the pieces that patterns are
made of; equal pieces, equal pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear
from compilemask.tiles.tile_map import TileMap, line_cells, pack_patterns

PIECES_AT_ONCE = 1 << 21
PATTERNS_AT_ONCE = 1024


def build_tile_map(intervals: Intervals, block_m: int, block_n: int) -> TileMap:
    """The tile map of a mask in row form. `block_m`, `block_n` >= 1 need not divide the lengths."""
    query_tiles, key_tiles = -(-intervals.rows // block_m), -(-intervals.columns // block_n)
    stride = key_tiles + 1
    base = (intervals.run_rows() // block_m) * stride
    full = _full_tiles(intervals, base, block_m, block_n)
    touched = linear.merge(base + intervals.starts // block_n, base + (intervals.ends - 1) // block_n + 1)
    partial = line_cells(linear.subtract(touched, full))
    numbers, patterns = _Patterns(intervals, block_m, block_n, base, partial).number()
    full_tiles = Intervals.from_line(query_tiles, key_tiles, full)
    row = partial // stride
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
        (partial - row * stride).astype(np.int32),
        numbers,
        patterns,
    )


def _full_tiles(intervals: Intervals, base: linear.Line, block_m: int, block_n: int) -> linear.Runs:
    """Runs of tiles that every row of their tile row covers, by counting how many runs cover a place."""
    key_tiles = -(-intervals.columns // block_n)
    first = -(-intervals.starts // block_n)
    last = np.where(intervals.ends == intervals.columns, key_tiles, intervals.ends // block_n)
    some = first < last
    base = base[some]
    starts = np.sort(base + first[some], kind="stable")
    ends = np.sort(base + last[some], kind="stable")
    ended = np.searchsorted(ends, starts, side="right")
    covering = np.arange(1, starts.size + 1) - ended
    needed = np.minimum(block_m, intervals.rows - starts // (key_tiles + 1) * block_m)
    everywhere = covering == needed
    return starts[everywhere], ends[ended[everywhere]]


@dataclass(slots=True)
class _Pieces:
    """Runs cut at partial tiles, sorted by tile and row; packed = (row in tile, start, end) as one number."""

    tile: NDArray[np.int64]  # [pieces] counted from `first_tile`
    packed: NDArray[np.int64]
    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


class _Patterns:
    """Numbers the distinct partial tiles in order of first use."""

    def __init__(
        self, intervals: Intervals, block_m: int, block_n: int, base: linear.Line, partial: linear.Line
    ) -> None:
        self.intervals = intervals
        self.block_m, self.block_n = block_m, block_n
        self.base = base
        self.partial = partial
        self.low = np.searchsorted(partial, base + intervals.starts // block_n, side="left")
        self.high = np.searchsorted(partial, base + (intervals.ends - 1) // block_n, side="right")
        # A fixed random weight per cell; f[r, c] sums row r below column c, so a run weighs f[r, end] - f[r, start].
        weights = np.random.default_rng(20240229).integers(0, 1 << 64, (block_m, block_n + 1), dtype=np.uint64)
        weights[:, 0] = 0
        self.sums = np.cumsum(weights, axis=1, dtype=np.uint64).reshape(-1)

    def number(self) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """Pattern number of every partial tile, and the pattern table."""
        numbers = np.zeros(self.partial.size, np.int32)
        words = -(-self.block_n // 32)
        table: list[NDArray[np.uint32]] = [np.zeros((0, self.block_m, words), np.uint32)]
        known: dict[bytes, int] = {}
        for low, high, runs in self._chunks():
            pieces = self._pieces(low, runs)
            local, first = self._group(pieces, high - low)
            fresh = self._draw(pieces, first)
            new: list[int] = []
            rename = np.empty(first.size, np.int32)
            for i, octets in enumerate(fresh):
                key = octets.tobytes()
                if key not in known:
                    known[key] = len(known)
                    new.append(i)
                rename[i] = known[key]
            numbers[low:high] = rename[local]
            table.append(fresh[new])
        return numbers, np.concatenate(table)

    def _chunks(self) -> list[tuple[int, int, slice]]:
        """Whole tile rows, about PIECES_AT_ONCE pieces each: partial tiles [low, high) and the slice of runs."""
        if not self.partial.size:
            return []
        offsets = self.intervals.offsets
        tile_rows = -(-self.intervals.rows // self.block_m)
        bounds = offsets[np.minimum(np.arange(tile_rows + 1) * self.block_m, self.intervals.rows)]
        total = np.concatenate(([0], np.cumsum(self.high - self.low)))[bounds]
        chunks = []
        row = 0
        while row < tile_rows:
            end = int(np.searchsorted(total, total[row] + PIECES_AT_ONCE, side="right")) - 1
            end = min(max(end, row + 1), tile_rows)
            stride = -(-self.intervals.columns // self.block_n) + 1
            low, high = np.searchsorted(self.partial, (row * stride, end * stride))
            if low < high:
                chunks.append((int(low), int(high), slice(int(bounds[row]), int(bounds[end]))))
            row = end
        return chunks

    def _pieces(self, first_tile: int, runs: slice) -> _Pieces:
        low, count = self.low[runs], self.high[runs] - self.low[runs]
        own = np.repeat(np.arange(runs.start, runs.stop), count)
        tile = linear.ranges(low, count)
        row = np.repeat(self.intervals.run_rows()[runs] % self.block_m, count)
        left = (self.partial[tile] - self.base[own]) * self.block_n
        start = np.maximum(self.intervals.starts[own] - left, 0)
        end = np.minimum(self.intervals.ends[own] - left, self.block_n)
        tile -= first_tile
        if not linear.is_sorted(tile):
            order = np.argsort(tile.astype(np.uint16) if int(tile.max()) < 1 << 16 else tile, kind="stable")
            tile, row, start, end = tile[order], row[order], start[order], end[order]
        packed = (row * (self.block_n + 1) + start) * (self.block_n + 1) + end
        return _Pieces(tile, packed, row, start, end)

    def _group(self, pieces: _Pieces, tiles: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A local number per tile, and per number the first tile that has it; equal hashes are compared exactly."""
        begin = np.searchsorted(pieces.tile, np.arange(tiles))
        weight = self.sums[pieces.row * (self.block_n + 1) + pieces.end]
        weight -= self.sums[pieces.row * (self.block_n + 1) + pieces.start]
        _, first, local = np.unique(np.add.reduceat(weight, begin), return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        local, first = rank[local.reshape(-1)], first[order]
        count = np.diff(begin, append=pieces.tile.size)
        model = first[local]
        same = count == count[model]
        place = linear.ranges(begin[model], np.where(same, count, 0))
        mine = np.flatnonzero(same[pieces.tile])
        differs = pieces.tile[mine[pieces.packed[mine] != pieces.packed[place]]]
        same[differs] = False
        if same.all():
            return local, first
        alone = np.flatnonzero(~same)
        local[alone] = first.size + np.arange(alone.size)
        return local, np.concatenate((first, alone))

    def _draw(self, pieces: _Pieces, tiles: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The bits of the given tiles."""
        begin = np.searchsorted(pieces.tile, tiles)
        count = np.searchsorted(pieces.tile, tiles, side="right") - begin
        drawn = np.empty((tiles.size, self.block_m, -(-self.block_n // 32)), np.uint32)
        for i in range(0, tiles.size, PATTERNS_AT_ONCE):
            part = slice(i, i + PATTERNS_AT_ONCE)
            step = np.zeros((tiles[part].size, self.block_m, self.block_n + 1), np.int8)
            place = linear.ranges(begin[part], count[part])
            own = np.repeat(np.arange(step.shape[0]), count[part])
            step[own, pieces.row[place], pieces.start[place]] = 1
            step[own, pieces.row[place], pieces.end[place]] = -1
            drawn[part] = pack_patterns(np.cumsum(step, axis=2, dtype=np.int8)[:, :, :-1].astype(np.bool_))
        return drawn
