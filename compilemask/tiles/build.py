"""From intervals to the tile map: cost and memory follow the runs and the partial tiles, never rows x columns.

A run of row r touches the key tiles floor(start / n) .. ceil(end / n) and covers ceil(start / n) .. floor(end / n)
entirely. Over the rows of a tile row, a tile is visited where any run touches it and FULL where every row covers it;
what is visited and not FULL is PARTIAL. Tiles stand on one line, `stride` places a tile row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals, linear
from compilemask.tiles.patterns import number_patterns
from compilemask.tiles.tile_map import TileMap, line_cells

COUNTED_CELLS_PER_RUN = 4


@dataclass(frozen=True, slots=True)
class TileSpans:
    """What the runs of a mask touch: places on the line of tiles.

    `partial` [partial tiles] ascending places; run i touches the partial tiles `low[i]:high[i]` of them.
    """

    intervals: Intervals
    block_m: int
    block_n: int
    stride: int
    base: NDArray[np.integer]  # [runs] place of tile 0 of the run's tile row
    full: linear.Runs
    partial: linear.Line
    low: NDArray[np.integer]
    high: NDArray[np.integer]


def build_tile_map(intervals: Intervals, block_m: int, block_n: int) -> TileMap:
    """The tile map of a mask in row form. `block_m`, `block_n` >= 1 need not divide the lengths."""
    query_tiles, key_tiles = -(-intervals.rows // block_m), -(-intervals.columns // block_n)
    spans = _spans(intervals, block_m, block_n)
    numbers, patterns = number_patterns(spans)
    full_tiles = Intervals.from_line(query_tiles, key_tiles, spans.full)
    row = spans.partial // spans.stride
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
        (spans.partial - row * spans.stride).astype(np.int32),
        numbers,
        patterns,
    )


def _spans(intervals: Intervals, block_m: int, block_n: int) -> TileSpans:
    query_tiles, key_tiles = -(-intervals.rows // block_m), -(-intervals.columns // block_n)
    stride = key_tiles + 1
    kind = np.int32 if query_tiles * stride < 2**31 - 1 else np.int64
    bounds = intervals.offsets[np.minimum(np.arange(query_tiles + 1) * block_m, intervals.rows)]
    base = np.repeat(np.arange(query_tiles, dtype=kind) * kind(stride), np.diff(bounds))
    touched = base + intervals.starts // block_n, base + ((intervals.ends - 1) // block_n + 1)
    begin = (intervals.starts + (block_n - 1)) // block_n
    end = (intervals.ends + (block_n - 1) * (intervals.ends == intervals.columns)) // block_n
    some = begin < end
    covered = (base + begin)[some], (base + end)[some]
    needed = np.full(query_tiles, block_m)
    if query_tiles:
        needed[-1] = intervals.rows - (query_tiles - 1) * block_m
    if query_tiles * stride <= COUNTED_CELLS_PER_RUN * intervals.runs + (1 << 16):
        full, partial, low, high = _by_counting(touched, covered, needed, stride)
    else:
        full, partial, low, high = _by_sorting(touched, covered, needed, stride)
    return TileSpans(intervals, block_m, block_n, stride, base, full, partial, low, high)


_Judged = tuple[linear.Runs, linear.Line, NDArray[np.integer], NDArray[np.integer]]
_Places = tuple[NDArray[np.integer], NDArray[np.integer]]


def _by_counting(touched: _Places, covered: _Places, needed: NDArray[np.int64], stride: int) -> _Judged:
    """A counter per tile: for masks whose tiles are not many more than their runs."""
    size = needed.size * stride
    visits = np.cumsum(np.bincount(touched[0], minlength=size) - np.bincount(touched[1], minlength=size))
    covers = np.cumsum(np.bincount(covered[0], minlength=size) - np.bincount(covered[1], minlength=size))
    full = (covers.reshape(-1, stride) == needed[:, None]).reshape(-1)
    is_partial = (visits > 0) & ~full
    rank = np.zeros(size + 1, np.int32)
    np.cumsum(is_partial, out=rank[1:])
    edges = np.diff(np.concatenate(([False], full, [False])).astype(np.int8))
    runs = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return runs, np.flatnonzero(is_partial), rank[touched[0]], rank[touched[1]]


def _by_sorting(touched: _Places, covered: _Places, needed: NDArray[np.int64], stride: int) -> _Judged:
    """Sorted run ends only: for long masks with few runs, whose tiles nobody could count one by one."""
    starts = np.sort(covered[0].astype(np.int64), kind="stable")
    ends = np.sort(covered[1].astype(np.int64), kind="stable")
    ended = np.searchsorted(ends, starts, side="right")
    everywhere = np.arange(1, starts.size + 1) - ended == needed[starts // stride]
    full = starts[everywhere], ends[ended[everywhere]]
    visited = linear.merge(touched[0].astype(np.int64), touched[1].astype(np.int64))
    partial = line_cells(linear.subtract(visited, full))
    return full, partial, np.searchsorted(partial, touched[0]), np.searchsorted(partial, touched[1])
