"""Overlays: tile borders over the pixels, and one bar per row for work and for runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.lowering import Lowered
from compilemask.intervals.order import inverse
from compilemask.tiles.tile_map import TileMap
from compilemask_app.drawing.ink import BORDER, Ink

BARS = " ▏▎▍▌▋▊▉█"


def tile_borders(
    query_edges: NDArray[np.int64], key_edges: NDArray[np.int64], block_m: int, block_n: int
) -> NDArray[np.bool_]:
    """[rows, columns] pixels in which a tile begins; nothing where tiles are too small to be told apart."""
    rows = _begins(query_edges, block_m)
    columns = _begins(key_edges, block_n)
    if rows is None or columns is None:
        return np.zeros((len(query_edges) - 1, len(key_edges) - 1), dtype=np.bool_)
    return rows[:, None] | columns[None, :]


def with_borders(
    inks: NDArray[np.uint8],
    query_edges: NDArray[np.int64],
    key_edges: NDArray[np.int64],
    block_m: int,
    block_n: int,
) -> NDArray[np.uint8]:
    """The inks of a map, flagged where a tile begins."""
    border = tile_borders(query_edges, key_edges, block_m, block_n) & (inks != Ink.OUTSIDE)
    return np.where(border, inks + BORDER, inks).astype(np.uint8)


def _begins(edges: NDArray[np.int64], block: int) -> NDArray[np.bool_] | None:
    tile = edges[:-1] // block
    begins = np.concatenate(([edges[0] % block == 0], tile[1:] != tile[:-1]))
    repeated = np.concatenate(([False], edges[1:-1] == edges[:-2]))
    begins &= ~repeated
    return begins if begins.sum() * 4 <= max(4, len(begins)) else None


def work_per_row(tiles: TileMap, query_edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """[rows] visited tiles of the query tile at each pixel row, as a share of the heaviest."""
    visited = np.diff(tiles.partial_offsets).astype(np.float64)
    lengths = (
        (tiles.full_runs[:, 1] - tiles.full_runs[:, 0]).astype(np.float64) if len(tiles.full_runs) else np.zeros(0)
    )
    total = np.concatenate(([0.0], np.cumsum(lengths)))
    visited = visited + np.diff(total[tiles.full_offsets])
    return _peaks(visited, query_edges // tiles.block_m)


def runs_per_row(lowered: Lowered, query_edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """[rows] most runs of any query in each pixel row, as a share of the most in the mask; counted as it is kept."""
    runs, places = lowered.runs_per_query(), inverse(lowered.order.queries)
    return _peaks((runs if places is None else runs[places]).astype(np.float64), query_edges)


def _peaks(values: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    if not len(values):
        return np.zeros(len(edges) - 1)
    begins = np.minimum(edges[:-1], len(values) - 1)
    peaks = np.maximum.reduceat(values, begins)
    single = edges[1:] <= edges[:-1] + 1
    peaks = np.where(single, values[begins], peaks)
    peaks[-1] = values[begins[-1] : max(begins[-1] + 1, int(edges[-1]))].max()
    most = values.max()
    return np.asarray(peaks / most if most else peaks, dtype=np.float64)


def bar_text(share: float, width: int, *, ascii_only: bool = False) -> str:
    """A share of 1 fills `width` columns; anything above 0 leaves a mark. One blank stands before it."""
    if ascii_only:
        return " " + ("=" * max(1 if share > 0 else 0, round(share * width))).ljust(width)
    eighths = max(1 if share > 0 else 0, round(share * width * 8))
    full, rest = divmod(eighths, 8)
    return (" " + "█" * full + (BARS[rest] if rest else "")).ljust(width + 1)
