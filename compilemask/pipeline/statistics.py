"""The counts that people look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compilemask.tiles import TileMap


@dataclass(frozen=True, slots=True)
class TileStatistics:
    """Counts of tiles over the whole mask, one batch entry and head of every kind.

    `useful` is the share of visible cells among the cells of visited tiles, counted inside of the mask.
    """

    block_m: int
    block_n: int
    empty: int
    partial: int
    full: int
    distinct_partial: int
    useful: float
    heaviest: int  # most tiles that one query tile visits
    lightest: int  # fewest


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all (batch, head) pairs; a mask of one batch entry and head stands for all of them.

    `density` = visible cells / all cells; `max_runs_per_row` and `empty_rows` are the worst of any pair;
    runs are counted in the order in which the compiler keeps the mask.
    """

    query_length: int
    key_length: int
    visible: int
    density: float
    max_runs_per_row: int
    mean_runs_per_row: float
    empty_rows: int
    unseen_keys: int
    tile: TileStatistics
    descriptor_bytes: int
    compile_ms: float


def tile_statistics(maps: list[TileMap], uses: list[int], visible: int) -> TileStatistics:
    """Sums over maps, each counted as often as it is used; `visible` is the same sum of cells."""
    visited = sum(_visited_cells(one) * use for one, use in zip(maps, uses, strict=True))
    work = np.concatenate([one.visited_per_query_tile() for one in maps])
    return TileStatistics(
        maps[0].block_m,
        maps[0].block_n,
        sum(one.empty * use for one, use in zip(maps, uses, strict=True)),
        sum(one.partial * use for one, use in zip(maps, uses, strict=True)),
        sum(one.full * use for one, use in zip(maps, uses, strict=True)),
        len({pattern.tobytes() for one in maps for pattern in one.patterns})
        if len(maps) > 1
        else maps[0].distinct_partial,
        visible / visited if visited else 1.0,
        int(work.max(initial=0)),
        int(work.min()) if work.size else 0,
    )


def _visited_cells(tiles: TileMap) -> int:
    """In-range cells of all visited tiles."""
    heights = np.full(tiles.query_tiles, tiles.block_m, np.int64)
    if tiles.query_tiles:
        heights[-1] = tiles.query_length - (tiles.query_tiles - 1) * tiles.block_m
    width = tiles.block_n
    last = tiles.key_length - (tiles.key_tiles - 1) * width
    full = tiles.full_intervals()
    cells = tiles.visited_per_query_tile() * width
    if last != width:
        crossing = np.zeros(tiles.query_tiles, np.int64)
        np.add.at(crossing, full.run_rows()[full.ends == tiles.key_tiles], 1)
        rows = np.repeat(np.arange(tiles.query_tiles), np.diff(tiles.partial_offsets))
        np.add.at(crossing, rows[tiles.partial_tiles == tiles.key_tiles - 1], 1)
        cells -= crossing * (width - last)
    return int((cells * heights).sum())
