"""Which tokens a map shows: scale, origin and cursor, shared by every map of one mask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLOSEST = -4
"""The deepest zoom: one token is 8 columns wide and 4 rows high."""

STRETCH_FROM = 6
"""Lengths that differ by more than this factor get a scale of their own each."""


class Axis(Enum):
    """Queries run down, keys run right."""

    QUERY = "query"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Extent:
    """Room for a map, in terminal cells."""

    columns: int
    rows: int


def zoom_in(zoom: int) -> int:
    """The next closer step: halves the tokens of a pixel, then widens the token."""
    if zoom > 1:
        return zoom // 2
    return -1 if zoom == 1 else max(CLOSEST, zoom - 1)


def zoom_out(zoom: int) -> int:
    """The next wider step."""
    if zoom > 0:
        return zoom * 2
    return 1 if zoom == -1 else zoom + 1


@dataclass(frozen=True, slots=True)
class Viewport:
    """A window on `query_length` x `key_length` cells.

    A zoom of n > 0 means n tokens to a pixel, where a terminal cell is one pixel wide and two high; a zoom of -n means
    that one token covers 2n columns and n rows.
    """

    query_length: int
    key_length: int
    query_zoom: int = 1
    key_zoom: int = 1
    query_start: int = 0
    key_start: int = 0
    query_cursor: int = 0
    key_cursor: int = 0

    # ------------------------------------------------------------ geometry

    @property
    def window(self) -> tuple[int, ...]:
        """Everything but the cursor: views of one window show the same cells at the same places."""
        return self.query_zoom, self.key_zoom, self.query_start, self.key_start, self.query_length, self.key_length

    def tokens_across(self, columns: int) -> int:
        """How many keys `columns` terminal columns hold."""
        return columns * self.key_zoom if self.key_zoom > 0 else columns // (-2 * self.key_zoom)

    def tokens_down(self, rows: int) -> int:
        """How many queries `rows` terminal rows hold."""
        return rows * 2 * self.query_zoom if self.query_zoom > 0 else rows // -self.query_zoom

    def key_edges(self, columns: int) -> NDArray[np.int64]:
        """[columns + 1] keys at the borders of each terminal column, up to the end of the mask.

        Equal neighbours mean that a column repeats the key before it (a token wider than a column).
        """
        return _edges(columns, self.key_start, self.key_length, self.key_zoom)

    def query_edges(self, rows: int) -> NDArray[np.int64]:
        """[2 rows + 1] queries at the borders of each half row."""
        return _edges(2 * rows, self.query_start, self.query_length, self.query_zoom)

    def column_of(self, key: int) -> int:
        """The terminal column where a key begins; may lie outside of the window."""
        ahead = key - self.key_start
        return ahead // self.key_zoom if self.key_zoom > 0 else ahead * -2 * self.key_zoom

    def row_of(self, query: int) -> int:
        """The terminal row where a query begins; may lie outside of the window."""
        ahead = query - self.query_start
        return ahead // (2 * self.query_zoom) if self.query_zoom > 0 else ahead * -self.query_zoom

    def cell_at(self, column: int, row: int) -> tuple[int, int] | None:
        """The (query, key) at a terminal cell of the map, None outside of the mask."""
        if column < 0 or row < 0:
            return None
        query = self.query_start + (row * 2 * self.query_zoom if self.query_zoom > 0 else row // -self.query_zoom)
        key = self.key_start + (column * self.key_zoom if self.key_zoom > 0 else column // (-2 * self.key_zoom))
        return (query, key) if query < self.query_length and key < self.key_length else None

    def fit_zooms(self, extent: Extent) -> tuple[int, int]:
        """(query_zoom, key_zoom) at which the whole mask just fits."""
        query = _fit(self.query_length, 2 * extent.rows, extent.rows)
        key = _fit(self.key_length, extent.columns, extent.columns // 2)
        longer, shorter = max(self.query_length, self.key_length), max(1, min(self.query_length, self.key_length))
        if longer > STRETCH_FROM * shorter:
            return query, key
        return max(query, key), max(query, key)

    # ------------------------------------------------------------ changes

    def fitted(self, extent: Extent) -> Viewport:
        """The whole mask in the window."""
        query_zoom, key_zoom = self.fit_zooms(extent)
        return replace(self, query_zoom=query_zoom, key_zoom=key_zoom, query_start=0, key_start=0)

    def zoomed(self, extent: Extent, *, closer: bool) -> Viewport:
        """One step closer or wider, the cursor staying where it is on the screen."""
        widest_query, widest_key = self.fit_zooms(extent)
        if closer:
            query_zoom, key_zoom = zoom_in(self.query_zoom), zoom_in(self.key_zoom)
        else:
            query_zoom = min(widest_query, zoom_out(self.query_zoom))
            key_zoom = min(widest_key, zoom_out(self.key_zoom))
        return self._rescaled(extent, query_zoom, key_zoom)

    def to_cells(self, extent: Extent) -> Viewport:
        """Down to single cells around the cursor."""
        return self._rescaled(extent, -1, -1)

    def _rescaled(self, extent: Extent, query_zoom: int, key_zoom: int) -> Viewport:
        row = min(max(0, self.row_of(self.query_cursor)), max(0, extent.rows - 1))
        column = min(max(0, self.column_of(self.key_cursor)), max(0, extent.columns - 1))
        scaled = replace(self, query_zoom=query_zoom, key_zoom=key_zoom)
        scaled = replace(
            scaled,
            query_start=self.query_cursor - scaled.tokens_down(row),
            key_start=self.key_cursor - scaled.tokens_across(column),
        )
        return scaled.clamped(extent)

    def clamped(self, extent: Extent) -> Viewport:
        """Origin and cursor inside of the mask, with no room wasted past its end."""
        last_query = max(0, self.query_length - max(1, self.tokens_down(extent.rows)))
        last_key = max(0, self.key_length - max(1, self.tokens_across(extent.columns)))
        return replace(
            self,
            query_start=min(max(0, self.query_start), last_query),
            key_start=min(max(0, self.key_start), last_key),
            query_cursor=min(max(0, self.query_cursor), max(0, self.query_length - 1)),
            key_cursor=min(max(0, self.key_cursor), max(0, self.key_length - 1)),
        )

    def panned(self, extent: Extent, rows: int, columns: int) -> Viewport:
        """The window moved by terminal cells; the cursor stays on its token."""
        queries = _sign(rows) * max(1, self.tokens_down(abs(rows))) if rows else 0
        keys = _sign(columns) * max(1, self.tokens_across(abs(columns))) if columns else 0
        return replace(self, query_start=self.query_start + queries, key_start=self.key_start + keys).clamped(extent)

    def moved(self, extent: Extent, rows: int, columns: int) -> Viewport:
        """The cursor moved by terminal cells (at least one token), the window following it."""
        queries = _sign(rows) * max(1, self.tokens_down(abs(rows))) if rows else 0
        keys = _sign(columns) * max(1, self.tokens_across(abs(columns))) if columns else 0
        if self.query_zoom < 0:
            queries = rows
        if self.key_zoom < 0:
            keys = columns
        return self.at(extent, self.query_cursor + queries, self.key_cursor + keys)

    def at(self, extent: Extent, query: int, key: int) -> Viewport:
        """The cursor on a cell, the window moved only as far as needed to show it."""
        query = min(max(0, query), max(0, self.query_length - 1))
        key = min(max(0, key), max(0, self.key_length - 1))
        down, across = max(1, self.tokens_down(extent.rows)), max(1, self.tokens_across(extent.columns))
        return replace(
            self,
            query_cursor=query,
            key_cursor=key,
            query_start=_follow(self.query_start, query, down),
            key_start=_follow(self.key_start, key, across),
        ).clamped(extent)

    def centred(self, extent: Extent, query: int, key: int) -> Viewport:
        """The cursor on a cell in the middle of the window."""
        start = replace(
            self,
            query_start=query - self.tokens_down(extent.rows) // 2,
            key_start=key - self.tokens_across(extent.columns) // 2,
        )
        return start.clamped(extent).at(extent, query, key)

    def resized(self, query_length: int, key_length: int, extent: Extent, *, whole: bool) -> Viewport:
        """For a mask of other lengths: fitted again if the whole was shown, else kept in place."""
        changed = replace(self, query_length=query_length, key_length=key_length)
        return changed.fitted(extent).clamped(extent) if whole else changed.clamped(extent)

    def shows_whole(self, extent: Extent) -> bool:
        """Whether the window holds the whole mask."""
        return (
            self.tokens_down(extent.rows) >= self.query_length and self.tokens_across(extent.columns) >= self.key_length
        )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _edges(pixels: int, start: int, length: int, zoom: int) -> NDArray[np.int64]:
    import numpy as np  # not before there is a mask to draw, so not before the first paint

    steps = np.arange(pixels + 1, dtype=np.int64)
    offsets = steps * zoom if zoom > 0 else steps // (-2 * zoom)
    if zoom < 0:
        offsets[-1] = -(-pixels // (-2 * zoom))  # a token cut off by the border still ends after it
    return np.minimum(start + offsets, length)


def _fit(length: int, pixels: int, cells: int) -> int:
    if pixels <= 0:
        return max(1, length)
    if 0 < length <= cells:
        return max(CLOSEST, -(cells // length))
    return max(1, ceil(length / pixels))


def _follow(start: int, token: int, room: int) -> int:
    if token < start:
        return token
    return token - room + 1 if token >= start + room else start
