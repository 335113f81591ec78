"""Distinct partial tiles: runs cut at tile borders are pieces, and tiles of the same cells share one pattern.

Tiles are compared by a sum of random weights of their cells first. Tiles of equal sums are then compared exactly: all
pieces of the one lie in cells of the other, and both have the same number of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.draws import splitmix64
from compilemask.tiles.pieces import CELLS_A_PIECE, are_set, draw
from compilemask.tiles.tile_map import pack_patterns
from compilemask.tiles.unchanged import unchanged_tiles

if TYPE_CHECKING:
    from compilemask.tiles.build import Group, Judged

Numbers = NDArray[np.int64]
PATTERNS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Runs cut at partial tiles, in no particular order: tile, and flat place of start and end in [rows, n + 1]."""

    tile: Numbers
    start: NDArray[np.integer]
    end: NDArray[np.integer]

    def part(self, chosen: NDArray[np.bool_]) -> _Pieces:
        """Some of the pieces."""
        return _Pieces(self.tile[chosen], self.start[chosen], self.end[chosen])


def weights(block_m: int, block_n: int) -> NDArray[np.uint64]:
    """[block_m * (block_n + 1)] sums over a row of the random weights of its cells left of a column."""
    each = splitmix64(np.arange(block_m * (block_n + 1), dtype=np.uint64)).reshape(block_m, block_n + 1)
    each[:, 0] = 0
    return np.cumsum(each, axis=1, dtype=np.uint64).reshape(-1)


class PatternTable:
    """Patterns in order of first use, shared by all groups of a tile map."""

    def __init__(self, block_m: int, block_n: int) -> None:
        self.block_m = block_m
        self.block_n = block_n
        self._known: dict[bytes, int] = {}
        self._drawn: list[NDArray[np.uint32]] = [np.zeros((0, block_m, -(-block_n // 32)), np.uint32)]
        self._weights = weights(block_m, block_n)

    @property
    def count(self) -> int:
        """Distinct patterns so far."""
        return len(self._known)

    def patterns(self) -> NDArray[np.uint32]:
        """[distinct, block_m, ceil(block_n / 32)] words."""
        return np.concatenate(self._drawn)

    def number(self, group: Group, judged: Judged, base: NDArray[np.integer]) -> NDArray[np.int32]:
        """The pattern of every partial tile of a group."""
        if not judged.partial.size:
            return np.zeros(0, np.int32)
        unchanged = unchanged_tiles(group, judged, base, self.block_n)
        if unchanged is None or not unchanged.any():
            return self._number(group, judged, base)
        first = np.cumsum(~unchanged, dtype=np.int32) - np.int32(1)
        numbers: NDArray[np.int32] = self._number(group, judged.kept(~unchanged, first), base)[first]
        return numbers

    def _number(self, group: Group, judged: Judged, base: NDArray[np.integer]) -> NDArray[np.int32]:
        """The same with every tile compared by itself."""
        pieces = self._cut(group, judged, base)
        tiles = judged.partial.size
        sums = np.zeros(tiles, np.uint64)
        np.add.at(sums, pieces.tile, self._weights[pieces.end] - self._weights[pieces.start])
        cells = np.bincount(pieces.tile, pieces.end - pieces.start, minlength=tiles).astype(np.float64)
        first, local = _first_use(sums)
        drawn, right = self._draw(pieces, first, local, cells)
        wrong = np.flatnonzero(~right)
        if wrong.size:
            local[wrong] = first.size + np.arange(wrong.size)
            alone = np.full(tiles, -1)
            alone[wrong] = np.arange(wrong.size)
            own = pieces.part(alone[pieces.tile] >= 0)
            each = np.arange(wrong.size)
            more, _ = self._draw(_Pieces(alone[own.tile], own.start, own.end), each, each, cells[wrong])
            drawn = np.concatenate((drawn, more))
        return self._enter(local, drawn)

    def _enter(self, local: Numbers, drawn: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Final numbers, in order of first use."""
        used, at = np.unique(local, return_index=True)
        rename = np.empty(drawn.shape[0], np.int32)
        new = []
        for i in used[np.argsort(at)].tolist():
            key = drawn[i].tobytes()
            if key not in self._known:
                self._known[key] = len(self._known)
                new.append(i)
            rename[i] = self._known[key]
        self._drawn.append(drawn[new])
        return rename[local]

    def _cut(self, group: Group, judged: Judged, base: NDArray[np.integer]) -> _Pieces:
        n = self.block_n
        row = group.row % np.int32(self.block_m) * np.int32(n + 1)
        low, count = judged.low, judged.high - judged.low
        runs: tuple[NDArray[np.integer], ...] = (group.starts, group.ends, row, base)
        if not count.all():
            some = count > 0
            low, count, runs = low[some], count[some], tuple(array[some] for array in runs)
        tile = low.astype(np.int64)
        wide = np.flatnonzero(count > 1)
        if wide.size:
            more = count[wide] - 1
            own = np.repeat(wide, more)
            runs = tuple(np.concatenate((array, array[own])) for array in runs)
            tile = np.concatenate((tile, linear.ranges(low[wide] + 1, more)))
        starts, ends, place, base = runs
        left = ((judged.partial[tile] - base) * n).astype(np.int32)
        start, end = np.maximum(starts - left, 0), np.minimum(ends - left, n)
        return _Pieces(tile, place + start, place + end)

    def _draw(
        self, pieces: _Pieces, first: Numbers, local: Numbers, cells: NDArray[np.float64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """The bits of the tiles `first`, and which tiles are exactly like the one with their number."""
        m, n = self.block_m, self.block_n
        drawn = np.empty((first.size, m, -(-n // 32)), np.uint32)
        right = cells == cells[first[local]]
        model = np.zeros(local.size, np.bool_)
        model[first] = True
        number = local[pieces.tile]
        for begin in range(0, first.size, PATTERNS_AT_ONCE):
            count = min(PATTERNS_AT_ONCE, first.size - begin)
            part, place = pieces, number
            if first.size > PATTERNS_AT_ONCE:
                chosen = (number >= begin) & (number < begin + count)
                part, place = pieces.part(chosen), number[chosen] - begin
            shown = drawn[begin : begin + count]
            is_model = model[part.tile]
            if part.tile.size * CELLS_A_PIECE < count * m * n:
                self._draw_bits(part, place, is_model, shown, right)
            else:
                self._draw_cells(part, place, is_model, shown, right)
        return drawn, right

    def _draw_bits(
        self,
        part: _Pieces,
        place: Numbers,
        is_model: NDArray[np.bool_],
        drawn: NDArray[np.uint32],
        right: NDArray[np.bool_],
    ) -> None:
        """Draw patterns from the pieces of their models; clear `right` of tiles with a piece that does not fit."""
        stride = self.block_n + 1
        start, end = part.start % stride, part.end % stride
        line = place * self.block_m + part.start // stride
        drawn[:] = 0
        lines = drawn.reshape(-1, drawn.shape[2])
        draw(lines, line[is_model], start[is_model], end[is_model])
        others = ~is_model
        good = are_set(lines, line[others], start[others], end[others])
        right[part.tile[others][~good]] = False

    def _draw_cells(
        self,
        part: _Pieces,
        place: Numbers,
        is_model: NDArray[np.bool_],
        drawn: NDArray[np.uint32],
        right: NDArray[np.bool_],
    ) -> None:
        """The same by way of all cells."""
        count, m, n = drawn.shape[0], self.block_m, self.block_n
        size = m * (n + 1)
        step = np.zeros(count * size, np.int8)
        np.add.at(step, place[is_model] * size + part.start[is_model], np.int8(1))
        np.subtract.at(step, place[is_model] * size + part.end[is_model], np.int8(1))
        visible = np.cumsum(step.reshape(count, m, n + 1), axis=2, dtype=np.int8)[:, :, :-1].astype(np.bool_)
        drawn[:] = pack_patterns(visible)
        if not is_model.all():
            _compare(part, place, ~is_model, visible, right)


def _first_use(sums: NDArray[np.uint64]) -> tuple[Numbers, Numbers]:
    """The first tile of every distinct sum, ascending, and for every tile the number of its sum."""
    _, first, local = np.unique(sums, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[local.reshape(-1)]


def _compare(
    pieces: _Pieces, place: Numbers, chosen: NDArray[np.bool_], visible: NDArray[np.bool_], right: NDArray[np.bool_]
) -> None:
    """Clear `right` of tiles with a piece that is not all visible in the pattern of its place."""
    count, m, n = visible.shape
    seen = np.zeros((count, m, n + 1), np.int16 if n < 2**15 else np.int32)
    np.cumsum(visible, axis=2, out=seen[:, :, 1:])
    flat = seen.reshape(-1)
    base = place[chosen] * (m * (n + 1))
    start, end = pieces.start[chosen], pieces.end[chosen]
    wrong = flat[base + end] - flat[base + start] != end - start
    right[pieces.tile[chosen][wrong]] = False
