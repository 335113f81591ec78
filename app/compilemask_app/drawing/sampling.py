"""From runs to pixels: how many cells of each pixel are visible, without building the matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask.tiles.tile_map import TileMap
from compilemask_app.drawing.ink import SHADES, Ink

Counts = NDArray[np.int64]
Inks = NDArray[np.uint8]


def coverage(intervals: Intervals, row_edges: Counts, column_edges: Counts) -> Counts:
    """Visible cells of each rectangle between neighbouring edges, [rows, columns] exact counts.

    Both edge arrays ascend; equal neighbours give rectangles without cells. Cost: the runs in the window.
    """
    height, width = len(row_edges) - 1, len(column_edges) - 1
    bounds = intervals.offsets[row_edges]
    first, last = int(bounds[0]), int(bounds[-1])
    if height <= 0 or width <= 0 or first == last or column_edges[0] >= column_edges[-1]:
        return np.zeros((max(0, height), max(0, width)), dtype=np.int64)
    row = np.repeat(np.arange(height, dtype=np.int64) * (width + 1), np.diff(bounds))
    begun, before_start = _ramps(intervals.starts[first:last], row, column_edges, height)
    ended, before_end = _ramps(intervals.ends[first:last], row, column_edges, height)
    active = np.cumsum(begun - ended, axis=1)[:, :width]
    active = np.concatenate((np.zeros((height, 1)), active[:, :-1]), axis=1)
    counts = active * np.diff(column_edges) + (before_start - before_end)[:, :width]
    return np.rint(counts).astype(np.int64)


def _ramps(
    positions: NDArray[np.int32], row: Counts, edges: Counts, height: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per pixel: positions that fall in it, and the cells from them to its right edge."""
    width = len(edges) - 1
    clipped = np.clip(positions, edges[0], edges[-1])
    step = int(edges[1] - edges[0])
    if step > 0 and bool((np.diff(edges[:-1]) == step).all()):
        pixel = np.minimum((clipped - int(edges[0])) // step, width - 1)
        pixel[clipped == edges[-1]] = width
    else:
        pixel = np.searchsorted(edges, clipped, side="right") - 1
        pixel[clipped == edges[-1]] = width
    place = row + pixel
    right = np.append(edges[1:], edges[-1])
    cells = height * (width + 1)
    number = np.bincount(place, minlength=cells).reshape(height, width + 1).astype(np.float64)
    ahead = np.bincount(place, weights=(right[pixel] - clipped).astype(np.float64), minlength=cells).reshape(
        height, width + 1
    )
    return number, ahead.astype(np.float64)


def mask_inks(intervals: Intervals, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of a window of the mask: empty, four shades by share, full; outside past its end."""
    rows, row_of = _places(query_edges[:-1], int(query_edges[-1]), query_edges[:-1] >= intervals.rows)
    columns, column_of = _places(key_edges[:-1], int(key_edges[-1]), key_edges[:-1] >= intervals.columns)
    counts = coverage(intervals, rows, columns)
    return _spread(shade(counts, np.diff(rows)[:, None] * np.diff(columns)[None, :]), row_of, column_of)


def tile_inks(tiles: TileMap, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of the same window of the tile map.

    A pixel of one tile, or of tiles of one kind, is EMPTY, PARTIAL or FULL; a pixel of several kinds is MIXED, by the
    share of its tiles that are visited.
    """
    rows, row_of = _tile_places(query_edges, tiles.block_m, tiles.query_length)
    columns, column_of = _tile_places(key_edges, tiles.block_n, tiles.key_length)
    full = coverage(full_tiles(tiles), rows, columns)
    partial = coverage(partial_tiles(tiles), rows, columns)
    area = np.diff(rows)[:, None] * np.diff(columns)[None, :]
    inks = np.where(2 * (full + partial) < area, np.uint8(Ink.MIXED_LOW), np.uint8(Ink.MIXED_HIGH))
    inks[full + partial == 0] = Ink.EMPTY
    inks[(full == area) & (area > 0)] = Ink.FULL
    inks[(partial == area) & (area > 0)] = Ink.PARTIAL
    return _spread(inks.astype(np.uint8), row_of, column_of)


def difference_inks(left: Intervals, right: Intervals, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of what only the left or only the right mask shows; `DIFFERS` where a pixel holds both.

    `left` and `right` are the two set differences, not the masks themselves.
    """
    rows, row_of = _places(query_edges[:-1], int(query_edges[-1]), query_edges[:-1] >= left.rows)
    columns, column_of = _places(key_edges[:-1], int(key_edges[-1]), key_edges[:-1] >= left.columns)
    only_left = coverage(left, rows, columns) > 0
    only_right = coverage(right, rows, columns) > 0
    inks = np.full(only_left.shape, Ink.EMPTY, dtype=np.uint8)
    inks[only_left] = Ink.LEFT_ONLY
    inks[only_right] = Ink.RIGHT_ONLY
    inks[only_left & only_right] = Ink.DIFFERS
    return _spread(inks, row_of, column_of)


def shade(counts: Counts, area: Counts) -> Inks:
    """Inks by the share of visible cells; any visible cell is at least the first shade, full means all of them."""
    share = counts / np.maximum(area, 1)
    step = np.minimum(np.floor(share * SHADES), SHADES - 1).astype(np.uint8)
    inks = np.where(counts == 0, np.uint8(Ink.EMPTY), np.uint8(Ink.SHADE_1) + step)
    return np.where((counts == area) & (area > 0), np.uint8(Ink.FULL), inks).astype(np.uint8)


def full_tiles(tiles: TileMap) -> Intervals:
    """The FULL tiles as runs of key tiles per query tile."""
    runs = tiles.full_runs.reshape(-1, 2)
    return Intervals(*tile_grid(tiles), tiles.full_offsets.astype(np.int64), runs[:, 0], runs[:, 1])


def partial_tiles(tiles: TileMap) -> Intervals:
    """The PARTIAL tiles as runs of one key tile each (touching runs stay apart)."""
    places = tiles.partial_tiles
    return Intervals(*tile_grid(tiles), tiles.partial_offsets.astype(np.int64), places, places + 1)


def tile_grid(tiles: TileMap) -> tuple[int, int]:
    """(query tiles, key tiles)."""
    return -(-tiles.query_length // tiles.block_m), -(-tiles.key_length // tiles.block_n)


def _tile_places(edges: Counts, block: int, length: int) -> tuple[Counts, NDArray[np.int64]]:
    return _places(edges[:-1] // block, -(-int(edges[-1]) // block), edges[:-1] >= length)


def _places(begins: Counts, end: int, outside: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.int64]]:
    """Edges without repeats, and for each pixel its place between them, -1 outside.

    Pixels that begin at the same token or tile share a place.
    """
    edges = np.append(np.unique(begins[~outside]), end)
    place = np.searchsorted(edges[:-1], begins, side="right") - 1
    return edges, np.where(outside, -1, place)


def _spread(inks: Inks, row_of: NDArray[np.int64], column_of: NDArray[np.int64]) -> Inks:
    if inks.size == 0:
        return np.full((len(row_of), len(column_of)), Ink.OUTSIDE, dtype=np.uint8)
    spread = inks[np.maximum(row_of, 0)][:, np.maximum(column_of, 0)]
    spread[row_of < 0] = Ink.OUTSIDE
    spread[:, column_of < 0] = Ink.OUTSIDE
    return spread
