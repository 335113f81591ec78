"""From runs to pixels: how many cells of each pixel are visible, without building the matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.coverage import Coverage
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form
from compilemask.intervals.tally import Tally
from compilemask.tiles.tile_map import TileMap
from compilemask_app.drawing.ink import SHADE_STEPS, Ink
from compilemask_app.drawing.run_counts import RunCounts

Counts = NDArray[np.int64]
Inks = NDArray[np.uint8]


class Cells(Protocol):
    """Counts visible cells between edges."""

    def between(self, row_edges: Counts, column_edges: Counts) -> Counts:
        """[rows, columns] visible cells of the rectangles between neighbouring edges."""
        ...


FEW_RUNS = 1 << 18
"""So many runs are counted at every picture within two or three milliseconds, with nothing prepared."""

SHORT = 1 << 16
"""Up to this length a picture may look at every column of every pixel row."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A mask of rows x columns, prepared for being drawn again and again."""

    rows: int
    columns: int
    counts: Cells


def sampled(intervals: Intervals) -> Sampled:
    """Prepare a mask; cost: its runs."""
    return Sampled(intervals.rows, intervals.columns, Coverage(intervals))


def sampled_mask(lowered: Lowered, rows: Callable[[], Intervals]) -> Sampled:
    """Prepare a mask from the form and the order in which it is kept, so that the first picture comes soon.

    `rows` makes the rows as written, for masks that are too long to be drawn otherwise.
    """
    intervals, order = lowered.intervals, lowered.order
    turned = lowered.form is Form.COLUMN
    height, width = (intervals.columns, intervals.rows) if turned else (intervals.rows, intervals.columns)
    if not order.moves and intervals.runs <= FEW_RUNS:
        return Sampled(height, width, RunCounts(intervals, transposed=turned))
    if not order.moves and max(height, width) > SHORT:
        return Sampled(height, width, Coverage(intervals, transposed=turned))
    if max(height, width) > SHORT:
        return sampled(rows())
    here = order.turned() if turned else order
    return Sampled(height, width, Tally(intervals, here.queries, here.keys, transposed=turned))


@dataclass(frozen=True, slots=True, eq=False)
class SampledTiles:
    """A tile map prepared for being drawn again and again."""

    tiles: TileMap
    full: Coverage
    partial: Coverage


def sampled_tiles(tiles: TileMap) -> SampledTiles:
    """Prepare a tile map."""
    places = tiles.partial_tiles
    partial = Intervals(tiles.query_tiles, tiles.key_tiles, tiles.partial_offsets.astype(np.int64), places, places + 1)
    return SampledTiles(tiles, Coverage(tiles.full_intervals()), Coverage(partial))


def mask_inks(mask: Sampled, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of a window of the mask: empty, four shades by share, full; outside past its end."""
    rows, row_of = _places(query_edges[:-1], int(query_edges[-1]), query_edges[:-1] >= mask.rows)
    columns, column_of = _places(key_edges[:-1], int(key_edges[-1]), key_edges[:-1] >= mask.columns)
    counts = _counts(mask.counts, rows, columns)
    return _spread(shade(counts, np.diff(rows)[:, None] * np.diff(columns)[None, :]), row_of, column_of)


def tile_inks(sampled_map: SampledTiles, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of the same window of the tile map.

    A pixel of one tile, or of tiles of one kind, is EMPTY, PARTIAL or FULL; a pixel of several kinds is MIXED, by the
    share of its tiles that are visited.
    """
    tiles = sampled_map.tiles
    rows, row_of = _tile_places(query_edges, tiles.block_m, tiles.query_length)
    columns, column_of = _tile_places(key_edges, tiles.block_n, tiles.key_length)
    full = _counts(sampled_map.full, rows, columns)
    partial = _counts(sampled_map.partial, rows, columns)
    area = np.diff(rows)[:, None] * np.diff(columns)[None, :]
    inks = np.where(full + partial < SHADE_STEPS[1] * area, np.uint8(Ink.MIXED_LOW), np.uint8(Ink.MIXED_HIGH))
    inks[full + partial == 0] = Ink.EMPTY
    inks[(full == area) & (area > 0)] = Ink.FULL
    inks[(partial == area) & (area > 0)] = Ink.PARTIAL
    return _spread(inks.astype(np.uint8), row_of, column_of)


def difference_inks(left: Sampled, right: Sampled, query_edges: Counts, key_edges: Counts) -> Inks:
    """[rows, columns] inks of what only the left or only the right mask shows; `DIFFERS` where a pixel holds both.

    `left` and `right` are the two set differences, not the masks themselves.
    """
    rows, row_of = _places(query_edges[:-1], int(query_edges[-1]), query_edges[:-1] >= left.rows)
    columns, column_of = _places(key_edges[:-1], int(key_edges[-1]), key_edges[:-1] >= left.columns)
    only_left = _counts(left.counts, rows, columns) > 0
    only_right = _counts(right.counts, rows, columns) > 0
    inks = np.full(only_left.shape, Ink.EMPTY, dtype=np.uint8)
    inks[only_left] = Ink.LEFT_ONLY
    inks[only_right] = Ink.RIGHT_ONLY
    inks[only_left & only_right] = Ink.DIFFERS
    return _spread(inks, row_of, column_of)


def shade(counts: Counts, area: Counts) -> Inks:
    """Inks by the share of visible cells; any visible cell is at least the first shade, full means all of them."""
    share = counts / np.maximum(area, 1)
    step = np.searchsorted(SHADE_STEPS, share, side="right").astype(np.uint8)
    inks = np.where(counts == 0, np.uint8(Ink.EMPTY), np.uint8(Ink.SHADE_1) + step)
    return np.where((counts == area) & (area > 0), np.uint8(Ink.FULL), inks).astype(np.uint8)


def _counts(counts: Cells, rows: Counts, columns: Counts) -> Counts:
    if len(rows) < 2 or len(columns) < 2:
        return np.zeros((max(0, len(rows) - 1), max(0, len(columns) - 1)), dtype=np.int64)
    return counts.between(rows, columns)


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
