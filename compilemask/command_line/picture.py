"""Pictures of a mask and of its tile map, in characters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.coverage import Coverage
from compilemask.language.axis import Axis
from compilemask.measure.bins import areas, bin_bounds, even_bounds, fitting_size, shares
from compilemask.measure.naming import Stretch, borders, fitted, outermost, stretches
from compilemask.pipeline import CompiledMask
from compilemask.tiles.tile_map import TileMap

GUTTER = 24
LOWEST_ROWS = 4
MOST_SINGLE_ROWS = 16
NOTHING = "(no cells)"


@dataclass(frozen=True, slots=True)
class Glyphs:
    """`shades` from the faintest share to the highest; `upper` and `lower` show one full half."""

    empty: str
    shades: str
    full: str
    upper: str
    lower: str
    partial: str
    tick: str
    nothing: str


BLOCKS = Glyphs(" ", "░▒▓", "█", "▀", "▄", "▒", "▏", "·")
ASCII = Glyphs(".", ":+*", "#", "+", "+", "+", "|", ".")


def mask_picture(compiled: CompiledMask, batch: int, head: int, width: int, glyphs: Glyphs) -> list[str]:
    """Lines of text: queries go down, keys go right; a character holds two rows of bins, one above the other."""
    variant = compiled.program.variant_of(batch, head)
    queries, keys = compiled.query_length, compiled.key_length
    if not queries or not keys:
        return [NOTHING]
    room = width - GUTTER
    size = fitting_size(keys, room, np.concatenate((borders(variant.queries), borders(variant.keys))))
    columns = even_bounds(keys, size)
    # A very long or very short side gets bins of its own, so that the picture is neither endless nor a line.
    size = max(size, fitting_size(queries, 2 * room, borders(variant.queries)))
    bands = even_bounds(queries, max(1, min(size, queries // (2 * LOWEST_ROWS))))
    share = shares(compiled, batch, head, bands, columns)
    if len(share) % 2:
        share = np.vstack((share, np.full((1, share.shape[1]), -1.0)))
    lines = [
        "".join(_character(top, bottom, glyphs) for top, bottom in zip(upper, lower, strict=True))
        for upper, lower in zip(share[::2], share[1::2], strict=True)
    ]
    line_bounds = np.append(bands[:-1:2], bands[-1])
    return _framed(lines, line_bounds, columns, variant.queries, variant.keys, glyphs)


def tile_picture(tiles: TileMap, width: int, glyphs: Glyphs) -> list[str]:
    """Lines of text, in the order in which the kernel holds the tokens: empty, partial or full, never in between.

    A map with room for it shows every tile by itself, two characters wide; else, where a character stands for several
    tiles, it is full or empty only if all of them are.
    """
    query_tiles, key_tiles = tiles.query_tiles, tiles.key_tiles
    if not query_tiles or not key_tiles:
        return [NOTHING]
    single = 2 * key_tiles <= width - GUTTER and query_tiles <= MOST_SINGLE_ROWS
    columns = bin_bounds(key_tiles, width - GUTTER)
    height = query_tiles if single else _height(query_tiles, key_tiles, len(columns) - 1)
    bands = bin_bounds(query_tiles, height)
    full = _full_tiles(tiles, bands, columns)
    partial = _partial_tiles(tiles, bands, columns)
    size = areas(bands, columns)
    kinds = np.where(full == size, 2, np.where((full == 0) & (partial == 0), 0, 1))
    characters = np.array([glyphs.nothing, glyphs.partial, glyphs.full])
    if single:
        characters = np.array([character * 2 for character in characters])
    lines = []
    for i, row in enumerate(characters[kinds]):
        label = f"tile {bands[i]:,}" if i % 4 == 0 else ""
        lines.append(f"{label:>{GUTTER - 1}} {''.join(row)}")
    return lines


def _full_tiles(tiles: TileMap, bands: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    return Coverage(tiles.full_intervals()).between(bands, columns)


def _partial_tiles(tiles: TileMap, bands: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.repeat(np.arange(tiles.query_tiles, dtype=np.int64), np.diff(tiles.partial_offsets))
    row = np.searchsorted(bands, rows, side="right") - 1
    column = np.searchsorted(columns, tiles.partial_tiles, side="right") - 1
    shape = len(bands) - 1, len(columns) - 1
    return np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape)


def _height(rows: int, columns: int, width: int) -> int:
    """Lines of text that keep a cell square, characters being twice as high as wide."""
    wanted = round(rows / max(columns, 1) * width / 2)
    return max(1, min(max(wanted, LOWEST_ROWS), width, -(-rows // 2)))


def _character(top: float, bottom: float, glyphs: Glyphs) -> str:
    """One character for two shares, one above the other; a bottom below 0 lies past the last query."""
    if top == 1 and bottom <= 0:
        return glyphs.upper
    bottom = max(bottom, 0.0)
    if top == 0 and bottom == 0:
        return glyphs.empty
    if top == 1 and bottom == 1:
        return glyphs.full
    if top == 0 and bottom == 1:
        return glyphs.lower
    share = (top + bottom) / 2
    return glyphs.shades[min(int(share * len(glyphs.shades)), len(glyphs.shades) - 1)]


def _framed(
    lines: list[str],
    bands: NDArray[np.int64],
    columns: NDArray[np.int64],
    queries: Axis,
    keys: Axis,
    glyphs: Glyphs,
) -> list[str]:
    """The picture with region names on the left and above; `bands` [lines + 1] are the queries of every line."""
    starting = {
        int(np.searchsorted(bands, stretch.start, side="right")) - 1: stretch for stretch in _named(queries, bands)
    }
    framed = [" " * GUTTER + _ruler(_named(keys, columns), columns, glyphs)]
    for i, line in enumerate(lines):
        stretch = starting.get(i)
        label = fitted(stretch.name, GUTTER - 2) if stretch else ""
        framed.append(f"{label:>{GUTTER - 1}} {line}")
    return framed


def _named(axis: Axis, bounds: NDArray[np.int64]) -> list[Stretch]:
    return stretches(axis, bounds.tolist())


def _ruler(found: list[Stretch], columns: NDArray[np.int64], glyphs: Glyphs) -> str:
    """Region names above the columns where they begin, as many as fit; outer regions where no inner one fits."""
    places = [int(np.searchsorted(columns, stretch.start, side="right")) - 1 for stretch in found]
    rooms = [after - place for place, after in zip(places, [*places[1:], len(columns) - 1], strict=True)]
    if not any(fitted(stretch.name, room - 1) for stretch, room in zip(found, rooms, strict=True)):
        outer = outermost(found)
        if len(outer) < len(found):
            return _ruler(outer, columns, glyphs)
    ruler = [" "] * (len(columns) - 1)
    free_from = 0
    for i, (stretch, place) in enumerate(zip(found, places, strict=True)):
        if place < free_from:
            continue
        name = fitted(stretch.name, rooms[i] - 1) or glyphs.tick
        ruler[place : place + len(name)] = name
        free_from = place + len(name)
    return "".join(ruler).rstrip()
