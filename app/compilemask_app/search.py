"""Where the next cell of a kind is: the search behind `n`, `p` and their backwards twins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask_app.picture import Picture


def find_cell(picture: Picture, kind: str, direction: int, query: int, key: int) -> tuple[int, int] | None:
    """(query, key) of the next (1) or last (-1) `empty_row` or `partial_tile`, going round; None if there is none."""
    if kind == "empty_row":
        rows = np.flatnonzero(~picture.lowered.seeing_queries())
        place = _next(rows, query, direction)
        return None if place is None else (int(rows[place]), key)
    tiles = picture.tiles
    rows = np.repeat(np.arange(tiles.query_tiles), np.diff(tiles.partial_offsets))
    order = rows.astype(np.int64) * (tiles.key_tiles + 1) + tiles.partial_tiles
    row, column = picture.tile_of(query, key)
    place = _next(order, row * (tiles.key_tiles + 1) + column, direction)
    return None if place is None else picture.cell_of_tile(int(rows[place]), int(tiles.partial_tiles[place]))


def find_visible(rows: Intervals, direction: int, query: int, key: int) -> tuple[int, int] | None:
    """The next (1) or last (-1) beginning of a run, going round; None in an empty mask."""
    row = rows.run_rows()
    order = row * (rows.columns + 1) + rows.starts
    place = _next(order, query * (rows.columns + 1) + key, direction)
    return None if place is None else (int(row[place]), int(rows.starts[place]))


def _next(ascending: NDArray[np.int64], here: int, direction: int) -> int | None:
    if not len(ascending):
        return None
    if direction > 0:
        return int(np.searchsorted(ascending, here, side="right")) % len(ascending)
    return (int(np.searchsorted(ascending, here, side="left")) - 1) % len(ascending)
