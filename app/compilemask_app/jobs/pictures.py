"""From a text to a picture: runs the compiler and keeps what the screens need."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from compilemask.intervals.interval_set import Intervals
from compilemask.tiles.tile_map import TileMap
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.picture import Figures, Picture


def figures_of(rows: Intervals, tiles: TileMap, descriptor_bytes: int | None) -> Figures:
    """The counts that the statistics panel shows."""
    cells = rows.rows * rows.columns
    runs = rows.runs_per_row()
    per_tile_row = tiles.visited_per_query_tile()
    return Figures(
        visible=rows.visible,
        density=rows.visible / cells if cells else 0.0,
        max_runs_per_row=int(runs.max(initial=0)),
        mean_runs_per_row=float(runs.mean()) if len(runs) else 0.0,
        empty_rows=len(rows.empty_rows()),
        unseen_keys=unseen_keys(rows),
        tiles_empty=tiles.empty,
        tiles_partial=tiles.partial,
        tiles_full=tiles.full,
        distinct_partial=tiles.distinct_partial,
        useful=useful_share(rows, tiles),
        heaviest=int(per_tile_row.max(initial=0)),
        lightest=int(per_tile_row.min(initial=per_tile_row.max(initial=0))),
        descriptor_bytes=descriptor_bytes,
    )


def unseen_keys(rows: Intervals) -> int:
    """How many keys no query sees."""
    change = np.bincount(rows.starts, minlength=rows.columns + 1) - np.bincount(rows.ends, minlength=rows.columns + 1)
    return int((np.cumsum(change)[: rows.columns] == 0).sum())


def useful_share(rows: Intervals, tiles: TileMap) -> float:
    """Visible cells over the cells of all visited tiles, as a kernel computes them (whole tiles)."""
    computed = tiles.visited * tiles.block_m * tiles.block_n
    return rows.visible / computed if computed else 1.0


def picture_of(request: CompileRequest) -> Picture:
    """Compile a text. Raises MaskFileError with all findings."""
    raise NotImplementedError
