"""The tile map of the union of two masks, from their tile maps alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals
from compilemask.tiles.tile_map import TileMap, by_first_use, tile_row_of

Numbers = NDArray[np.int64]
Words = NDArray[np.uint32]


def union(a: TileMap, b: TileMap) -> TileMap:
    """The map of the cells of either mask; both are of the same lengths and blocks."""
    full = a.full_intervals().union(b.full_intervals())
    stride = a.key_tiles + 1
    place, of_a, of_b = _met(a, b, stride)
    pair = of_a * (b.distinct_partial + 1) + of_b
    _, first, kind = np.unique(pair, return_index=True, return_inverse=True)
    patterns = _either(a.patterns, of_a[first], b.patterns, of_b[first])
    row = place // stride
    column = place - row * stride
    kind = kind.reshape(-1)
    covered = _covering(full, place, stride)
    filled = ~covered & (_cells(patterns)[kind] == _in_range(a, row, column))
    full = full.union(Intervals.from_runs(a.query_tiles, a.key_tiles, row[filled], column[filled], column[filled] + 1))
    partial = ~(covered | filled)
    numbers, patterns = _distinct(*by_first_use(kind[partial], patterns))
    return TileMap(
        a.query_length,
        a.key_length,
        a.block_m,
        a.block_n,
        full.offsets,
        np.stack((full.starts, full.ends), axis=1),
        np.concatenate(([0], np.cumsum(np.bincount(row[partial], minlength=a.query_tiles)))).astype(np.int64),
        column[partial].astype(np.int32),
        numbers,
        patterns,
    )


def _met(a: TileMap, b: TileMap, stride: int) -> tuple[Numbers, Numbers, Numbers]:
    """Places of partial tiles of either map, ascending, and their patterns there + 1; 0 where a map has none."""
    places = [tile_row_of(one.partial_offsets) * stride + one.partial_tiles for one in (a, b)]
    place = np.union1d(*places)
    numbers = []
    for one, there in zip((a, b), places, strict=True):
        number = np.zeros(place.size, np.int64)
        number[np.searchsorted(place, there)] = one.partial_patterns + 1
        numbers.append(number)
    return place, numbers[0], numbers[1]


def _either(a: Words, of_a: Numbers, b: Words, of_b: Numbers) -> Words:
    """Patterns of the cells of either; number 0 is no cell."""
    none = np.zeros((1, *a.shape[1:]), np.uint32)
    a, b = np.concatenate((none, a)), np.concatenate((none, b))
    return a[of_a] | b[of_b]


def _cells(patterns: Words) -> Numbers:
    """[patterns] visible cells."""
    cells: Numbers = np.bitwise_count(patterns).sum(axis=(1, 2), dtype=np.int64)
    return cells


def _in_range(map_: TileMap, row: Numbers, column: Numbers) -> Numbers:
    """Cells of tiles that lie inside of the mask."""
    height = np.minimum(map_.query_length - row * map_.block_m, map_.block_m)
    width = np.minimum(map_.key_length - column * map_.block_n, map_.block_n)
    return height * width


def _covering(full: Intervals, place: Numbers, stride: int) -> NDArray[np.bool_]:
    """Which places lie in the runs of tiles; the line of `full` has the same stride."""
    starts, ends = full.to_line()
    at = np.searchsorted(starts, place, side="right") - 1
    return (at >= 0) & (place < np.append(ends, 0)[at])


def _distinct(numbers: NDArray[np.int32], patterns: Words) -> tuple[NDArray[np.int32], Words]:
    """Equal patterns given one number, the order of first use kept."""
    known: dict[bytes, int] = {}
    rename = np.zeros(patterns.shape[0], np.int32)
    kept: list[int] = []
    for i, pattern in enumerate(patterns):
        rename[i] = known.setdefault(pattern.tobytes(), len(known))
        if len(kept) < len(known):
            kept.append(i)
    return rename[numbers], patterns[kept]
