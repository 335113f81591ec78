"""The whole mask in a corner of a zoomed-in map, with the window marked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.sampling import Sampled, mask_inks
from compilemask_app.drawing.viewport import Extent, Viewport

ROOM = Extent(12, 6)
"""Terminal cells of the picture itself; a frame of one cell is around it."""

LEAST = Extent(30, 12)
"""Maps smaller than this have no corner to spare."""


@dataclass(frozen=True, slots=True)
class Minimap:
    """Where the corner lies in the map, in terminal cells, and the scale of the picture in it."""

    left: int
    top: int
    whole: Viewport

    def cell_at(self, column: int, row: int) -> tuple[int, int] | None:
        """The (query, key) at a terminal cell of the map; None outside of the corner."""
        if not (0 <= column - self.left < ROOM.columns and 0 <= row - self.top < ROOM.rows):
            return None
        return self.whole.cell_at(column - self.left, row - self.top)


def minimap_of(view: Viewport, extent: Extent) -> Minimap | None:
    """The minimap of a window; None where the whole mask is shown or the map is small."""
    if extent.columns < LEAST.columns or extent.rows < LEAST.rows or view.shows_whole(extent):
        return None
    whole = Viewport(view.query_length, view.key_length).fitted(ROOM)
    return Minimap(extent.columns - ROOM.columns - 1, extent.rows - ROOM.rows, whole)


def draw_minimap(inks: NDArray[np.uint8], minimap: Minimap, mask: Sampled, view: Viewport, extent: Extent) -> None:
    """Draw it over the inks of a map."""
    small = mask_inks(mask, minimap.whole.query_edges(ROOM.rows), minimap.whole.key_edges(ROOM.columns))
    _mark_window(small, minimap.whole, view, extent)
    top, left = 2 * minimap.top, minimap.left
    inks[max(0, top - 1) :, left - 1 :] = Ink.OUTSIDE
    inks[top : top + len(small), left : left + ROOM.columns] = small


def _mark_window(small: NDArray[np.uint8], whole: Viewport, view: Viewport, extent: Extent) -> None:
    rows = _span(view.query_start, view.tokens_down(extent.rows), whole.query_edges(ROOM.rows))
    columns = _span(view.key_start, view.tokens_across(extent.columns), whole.key_edges(ROOM.columns))
    small[rows[0], columns[0] : columns[1] + 1] = Ink.CURSOR_FULL
    small[rows[1], columns[0] : columns[1] + 1] = Ink.CURSOR_FULL
    small[rows[0] : rows[1] + 1, columns[0]] = Ink.CURSOR_FULL
    small[rows[0] : rows[1] + 1, columns[1]] = Ink.CURSOR_FULL


def _span(start: int, tokens: int, edges: NDArray[np.int64]) -> tuple[int, int]:
    """The first and last pixel that a stretch of tokens touches."""
    last = len(edges) - 2
    first = int(np.searchsorted(edges, start, side="right")) - 1
    end = int(np.searchsorted(edges, max(start, start + tokens - 1), side="right")) - 1
    return min(first, last), min(end, last)
