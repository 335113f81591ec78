"""The tile map: which blocks of the mask are empty, partial or full."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear


class TileKind(IntEnum):
    """What a tile holds, judged on its in-range cells only."""

    EMPTY = 0
    PARTIAL = 1
    FULL = 2


@dataclass(frozen=True, slots=True, eq=False)
class TileMap:
    """Tiles of `block_m` queries x `block_n` keys, in compressed rows of query tiles.

    FULL tiles are kept as half-open runs of key tiles, so that a million tokens of causal stay small;
    PARTIAL tiles one by one with the number of their pattern in `patterns`.
    """

    query_length: int
    key_length: int
    block_m: int
    block_n: int
    full_offsets: NDArray[np.int64]  # [query_tiles + 1]
    full_runs: NDArray[np.int32]  # [runs, 2] key tiles [start, end)
    partial_offsets: NDArray[np.int64]  # [query_tiles + 1]
    partial_tiles: NDArray[np.int32]  # [partial] key tile, ascending within a query tile
    partial_patterns: NDArray[np.int32]  # [partial] number in `patterns`, in order of first use
    patterns: NDArray[np.uint32]  # [distinct, block_m, ceil(block_n / 32)]; bit c % 32 of word c // 32 is column c

    @property
    def query_tiles(self) -> int:
        """Number of tile rows."""
        return -(-self.query_length // self.block_m)

    @property
    def key_tiles(self) -> int:
        """Number of tile columns."""
        return -(-self.key_length // self.block_n)

    @property
    def full(self) -> int:
        """Number of FULL tiles."""
        return int((self.full_runs[:, 1].astype(np.int64) - self.full_runs[:, 0]).sum())

    @property
    def partial(self) -> int:
        """Number of PARTIAL tiles."""
        return int(self.partial_tiles.size)

    @property
    def visited(self) -> int:
        """Number of tiles that hold at least one visible cell."""
        return self.full + self.partial

    @property
    def empty(self) -> int:
        """Number of EMPTY tiles."""
        return self.query_tiles * self.key_tiles - self.visited

    @property
    def distinct_partial(self) -> int:
        """Number of different PARTIAL tiles."""
        return int(self.patterns.shape[0])

    def full_intervals(self) -> Intervals:
        """FULL tiles as runs of key tiles per query tile."""
        runs = self.full_runs
        return Intervals(self.query_tiles, self.key_tiles, self.full_offsets, runs[:, 0], runs[:, 1])

    def visited_per_query_tile(self) -> NDArray[np.int64]:
        """[query_tiles] tiles that a kernel visits: the work of every query tile."""
        return self.full_intervals().visible_per_row() + np.diff(self.partial_offsets)

    def kind(self, query_tile: int, key_tile: int) -> TileKind:
        """What one tile holds."""
        if self.full_intervals().contains(query_tile, key_tile):
            return TileKind.FULL
        return TileKind.EMPTY if self.pattern_number(query_tile, key_tile) is None else TileKind.PARTIAL

    def pattern_number(self, query_tile: int, key_tile: int) -> int | None:
        """The number of a PARTIAL tile's pattern; None for EMPTY and FULL tiles."""
        low, high = int(self.partial_offsets[query_tile]), int(self.partial_offsets[query_tile + 1])
        place = low + int(np.searchsorted(self.partial_tiles[low:high], key_tile))
        if place < high and int(self.partial_tiles[place]) == key_tile:
            return int(self.partial_patterns[place])
        return None

    def kinds(self) -> NDArray[np.uint8]:
        """[query_tiles, key_tiles] of TileKind values; the caller answers for its size."""
        return self.window(0, self.query_tiles, 0, self.key_tiles)

    def window(self, query0: int, query1: int, key0: int, key1: int) -> NDArray[np.uint8]:
        """TileKind values of query tiles [query0, query1) x key tiles [key0, key1), clipped to the map."""
        query1, key1 = min(query1, self.query_tiles), min(key1, self.key_tiles)
        height, width = max(0, query1 - query0), max(0, key1 - key0)
        kinds = np.zeros((height, width), np.uint8)
        if not kinds.size:
            return kinds
        part = slice(int(self.full_offsets[query0]), int(self.full_offsets[query1]))
        row = np.repeat(np.arange(height), np.diff(self.full_offsets[query0 : query1 + 1]))
        step = np.zeros((height, width + 1), np.int32)
        np.add.at(step, (row, np.clip(self.full_runs[part, 0] - key0, 0, width)), 1)
        np.add.at(step, (row, np.clip(self.full_runs[part, 1] - key0, 0, width)), -1)
        kinds[np.cumsum(step, axis=1)[:, :-1] > 0] = TileKind.FULL
        part = slice(int(self.partial_offsets[query0]), int(self.partial_offsets[query1]))
        row = np.repeat(np.arange(height), np.diff(self.partial_offsets[query0 : query1 + 1]))
        column = self.partial_tiles[part] - key0
        inside = (column >= 0) & (column < width)
        kinds[row[inside], column[inside]] = TileKind.PARTIAL
        return kinds

    def transpose(self) -> TileMap:
        """The map with queries and keys exchanged; patterns are transposed and numbered by first use again."""
        full = self.full_intervals().transpose()
        row = np.repeat(np.arange(self.query_tiles), np.diff(self.partial_offsets))
        order = np.argsort(self.partial_tiles, kind="stable")
        patterns = transpose_patterns(self.patterns, self.block_n)
        numbers, patterns = by_first_use(self.partial_patterns[order], patterns)
        counts = np.bincount(self.partial_tiles, minlength=self.key_tiles)
        return TileMap(
            self.key_length,
            self.query_length,
            self.block_n,
            self.block_m,
            full.offsets,
            np.stack((full.starts, full.ends), axis=1),
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            row[order].astype(np.int32),
            numbers,
            patterns,
        )

    def to_dense(self) -> NDArray[np.bool_]:
        """Boolean [queries, keys] rebuilt from tiles; the caller answers for its size."""
        m, n = self.block_m, self.block_n
        dense = np.zeros((self.query_tiles * m, self.key_tiles * n), np.bool_)
        tiles = dense.reshape(self.query_tiles, m, self.key_tiles, n)
        row, column = np.nonzero(self.full_intervals().to_dense())
        tiles[row, :, column, :] = True
        row = np.repeat(np.arange(self.query_tiles), np.diff(self.partial_offsets))
        tiles[row, :, self.partial_tiles, :] = unpack_patterns(self.patterns, n)[self.partial_patterns]
        return dense[: self.query_length, : self.key_length]


def pack_patterns(cells: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """[n, block_m, block_n] cells as [n, block_m, ceil(block_n / 32)] words."""
    count, m, n = cells.shape
    words = -(-n // 32)
    if n % 32:
        cells = np.concatenate((cells, np.zeros((count, m, words * 32 - n), np.bool_)), axis=2)
    packed = np.packbits(cells, axis=2, bitorder="little")
    return packed.view("<u4").astype(np.uint32, copy=False)


def unpack_patterns(patterns: NDArray[np.uint32], block_n: int) -> NDArray[np.bool_]:
    """The cells of `pack_patterns`."""
    octets = np.ascontiguousarray(patterns).astype("<u4", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=2, count=block_n, bitorder="little").astype(np.bool_)


def transpose_patterns(patterns: NDArray[np.uint32], block_n: int) -> NDArray[np.uint32]:
    """Every pattern with rows and columns exchanged, some at a time to bound memory."""
    distinct, m, _ = patterns.shape
    turned = np.empty((distinct, block_n, -(-m // 32)), np.uint32)
    for i in range(0, distinct, 1024):
        cells = unpack_patterns(patterns[i : i + 1024], block_n)
        turned[i : i + 1024] = pack_patterns(np.ascontiguousarray(cells.transpose(0, 2, 1)))
    return turned


def by_first_use(
    numbers: NDArray[np.integer], patterns: NDArray[np.uint32]
) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Renumber patterns in the order in which `numbers` first uses them; unused ones go."""
    used, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    rank = np.empty(used.size, np.int32)
    order = np.argsort(first, kind="stable")
    rank[order] = np.arange(used.size, dtype=np.int32)
    return rank[inverse.reshape(-1)], patterns[used[order]]


def tile_row_of(offsets: NDArray[np.integer]) -> NDArray[np.int64]:
    """The row of every entry of compressed rows."""
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))


def line_cells(runs: linear.Runs) -> linear.Line:
    """All places of the runs."""
    return linear.ranges(runs[0], runs[1] - runs[0])
