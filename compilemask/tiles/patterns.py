"""Distinct partial tiles: runs cut at tile borders are pieces, and tiles of equal pieces share one pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.tiles.tile_map import pack_patterns

if TYPE_CHECKING:
    from compilemask.tiles.build import TileSpans

Numbers = NDArray[np.int64]
PIECES_AT_ONCE = 1 << 21
PATTERNS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Runs cut at partial tiles, sorted by tile and row; packed = (row in tile, start, end) as one number."""

    tile: NDArray[np.integer]  # [pieces] counted from the first tile of the chunk
    begin: Numbers  # [tiles] first piece of every tile
    packed: Numbers


def number_patterns(spans: TileSpans) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """The pattern number of every partial tile, by first use, and the pattern table."""
    words = -(-spans.block_n // 32)
    numbers = np.zeros(spans.partial.size, np.int32)
    table: list[NDArray[np.uint32]] = [np.zeros((0, spans.block_m, words), np.uint32)]
    known: dict[bytes, int] = {}
    row_in_tile = _rows_in_tile(spans)
    weights = _weights(spans.block_m, spans.block_n)
    for low, high, runs in _chunks(spans):
        pieces = _cut(spans, row_in_tile, low, high, runs)
        local, first = _group(pieces, weights, spans.block_n)
        fresh = _draw(pieces, first, spans.block_m, spans.block_n)
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


def _rows_in_tile(spans: TileSpans) -> NDArray[np.int32]:
    rows = np.arange(spans.intervals.rows, dtype=np.int32) % np.int32(spans.block_m)
    return np.repeat(rows, np.diff(spans.intervals.offsets))


def _weights(block_m: int, block_n: int) -> NDArray[np.uint64]:
    """A fixed random weight per cell, summed along rows: a run of row r weighs f[r, end] - f[r, start]."""
    weights = np.random.default_rng(20240229).integers(0, 1 << 64, (block_m, block_n + 1), dtype=np.uint64)
    weights[:, 0] = 0
    return np.cumsum(weights, axis=1, dtype=np.uint64).reshape(-1)


def _chunks(spans: TileSpans) -> list[tuple[int, int, slice]]:
    """Whole tile rows, about PIECES_AT_ONCE pieces each: partial tiles [low, high) and the slice of runs."""
    if not spans.partial.size:
        return []
    tile_rows = -(-spans.intervals.rows // spans.block_m)
    bounds = spans.intervals.offsets[np.minimum(np.arange(tile_rows + 1) * spans.block_m, spans.intervals.rows)]
    pieces = np.zeros(spans.intervals.runs + 1, np.int64)
    np.cumsum(spans.high - spans.low, out=pieces[1:])
    total = pieces[bounds]
    borders = np.searchsorted(spans.partial, np.arange(tile_rows + 1) * spans.stride)
    chunks = []
    row = 0
    while row < tile_rows:
        end = int(np.searchsorted(total, total[row] + PIECES_AT_ONCE, side="right")) - 1
        end = min(max(end, row + 1), tile_rows)
        if borders[row] < borders[end]:
            chunks.append((int(borders[row]), int(borders[end]), slice(int(bounds[row]), int(bounds[end]))))
        row = end
    return chunks


def _cut(spans: TileSpans, row_in_tile: NDArray[np.int32], first: int, last: int, runs: slice) -> _Pieces:
    """The pieces of the runs of some tile rows, which hold the partial tiles first..last - 1."""
    n = spans.block_n
    wide = spans.block_m * (n + 1) ** 2 >= 2**31
    low, count = spans.low[runs], spans.high[runs] - spans.low[runs]
    starts, ends, row, base = (
        spans.intervals.starts[runs],
        spans.intervals.ends[runs],
        row_in_tile[runs],
        spans.base[runs],
    )
    if (count == 1).all():
        tile = low.astype(np.int64)
    else:
        starts, ends, row, base = (np.repeat(array, count) for array in (starts, ends, row, base))
        tile = linear.ranges(low, count)
    left = ((spans.partial[tile] - base) * n).astype(np.int32)
    start = np.maximum(starts - left, 0)
    end = np.minimum(ends - left, n)
    packed = row.astype(np.int64 if wide else np.int32)
    packed *= n + 1
    packed += start
    packed *= n + 1
    packed += end
    tile -= first
    if not linear.is_sorted(tile):
        small = tile.astype(np.uint16) if last - first <= 1 << 16 else tile
        order = np.argsort(small, kind="stable")
        tile, packed = small[order], packed[order]
    return _Pieces(tile, np.searchsorted(tile, np.arange(last - first, dtype=tile.dtype)), packed)


def _group(pieces: _Pieces, weights: NDArray[np.uint64], block_n: int) -> tuple[Numbers, Numbers]:
    """A local number per tile, and per number the first tile that has it; equal sums are compared exactly."""
    row_start, end = np.divmod(pieces.packed, block_n + 1)
    row = row_start // (block_n + 1)
    weight = weights[row * (block_n + 1) + end]
    weight -= weights[row_start]
    begin = pieces.begin
    _, first, local = np.unique(np.add.reduceat(weight, begin), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    local, first = rank[local.reshape(-1)], first[order]
    count = np.diff(begin, append=pieces.packed.size)
    model = first[local]
    same = count == count[model]
    place = linear.ranges(begin[model], np.where(same, count, 0))
    packed = pieces.packed if same.all() else pieces.packed[np.flatnonzero(same[pieces.tile])]
    wrong = packed != pieces.packed[place]
    if wrong.any():
        tile = pieces.tile if same.all() else pieces.tile[same[pieces.tile]]
        same[tile[wrong]] = False
    alone = np.flatnonzero(~same)
    local[alone] = first.size + np.arange(alone.size)
    return local, np.concatenate((first, alone))


def _draw(pieces: _Pieces, tiles: Numbers, block_m: int, block_n: int) -> NDArray[np.uint32]:
    """The bits of the given tiles."""
    count = np.diff(pieces.begin, append=pieces.packed.size)[tiles]
    drawn = np.empty((tiles.size, block_m, -(-block_n // 32)), np.uint32)
    for i in range(0, tiles.size, PATTERNS_AT_ONCE):
        part = slice(i, i + PATTERNS_AT_ONCE)
        step = np.zeros((tiles[part].size, block_m, block_n + 1), np.int8)
        packed = pieces.packed[linear.ranges(pieces.begin[tiles[part]], count[part])]
        own = np.repeat(np.arange(step.shape[0]), count[part])
        row_start, end = np.divmod(packed, block_n + 1)
        row, start = np.divmod(row_start, block_n + 1)
        step[own, row, start] = 1
        step[own, row, end] = -1
        drawn[part] = pack_patterns(np.cumsum(step, axis=2, dtype=np.int8)[:, :, :-1].astype(np.bool_))
    return drawn
