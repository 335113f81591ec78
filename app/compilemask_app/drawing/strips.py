"""Arrays of inks to rows of styled runs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from rich.segment import Segment
from rich.style import Style

from compilemask_app.drawing.ink import ASCII_GLYPHS, BORDER, GLYPHS_IN_COLOUR, UNICODE_GLYPHS, Ink
from compilemask_app.drawing.palette import glyph_style, pixel_style

Inks = NDArray[np.uint8]
UPPER_HALF = "▀"


def half_block_row(upper: Inks, lower: Inks, palette: str) -> list[Segment]:
    """One terminal row of two pixel rows; neighbours of one look are one segment, even cells are spaces."""
    pairs = upper.astype(np.int32) * 256 + lower
    if not len(pairs):
        return []
    cuts = (pairs[1:] != pairs[:-1]).nonzero()[0] + 1
    codes = [int(pairs[0]), *pairs[cuts].tolist()]
    looks = _LOOKS[palette]
    segments, begin = [], 0
    for pair, end in zip(codes, [*cuts.tolist(), len(pairs)], strict=True):
        glyph, style = looks.get(pair) or _look(palette, pair)
        segments.append(Segment(glyph * (end - begin), style))
        begin = end
    return segments


_LOOKS: defaultdict[str, dict[int, tuple[str, Style]]] = defaultdict(dict)
"""Of each palette the glyph and style of a pair of inks, upper * 256 + lower."""


def _look(palette: str, pair: int) -> tuple[str, Style]:
    top, bottom = divmod(pair, 256)
    glyph = GLYPHS_IN_COLOUR.get(top) if top == bottom else None
    if glyph is not None:
        look = glyph, glyph_style(palette, top)
    else:
        look = " " if top == bottom else UPPER_HALF, pixel_style(palette, top, bottom)
    _LOOKS[palette][pair] = look
    return look


def half_block_rows(inks: Inks, palette: str) -> list[list[Segment]]:
    """All terminal rows of [2 rows, columns] inks."""
    return [half_block_row(inks[row], inks[row + 1], palette) for row in range(0, len(inks) - 1, 2)]


def glyph_rows(inks: Inks, style: Style | None, *, ascii_only: bool) -> list[list[Segment]]:
    """The same without colour: one character per terminal cell, the weightier of its two pixels."""
    table = _glyph_table(ascii_only)
    heavier = _heavier(inks[0:-1:2], inks[1::2])
    codes = table[heavier % BORDER].astype("<u4")
    return [[Segment(row.tobytes().decode("utf-32-le"), style)] for row in codes]


def glyph_row(upper: Inks, lower: Inks, style: Style | None, *, ascii_only: bool) -> list[Segment]:
    """One terminal row of two pixel rows without colour."""
    return glyph_rows(np.stack((upper, lower)), style, ascii_only=ascii_only)[0]


def _heavier(upper: Inks, lower: Inks) -> Inks:
    """Of two pixels the one to show: a mark or a part before a whole, anything before nothing."""
    even = upper == lower
    mixed = np.where((upper <= Ink.FULL) & (lower <= Ink.FULL), np.minimum(np.maximum(upper, lower), Ink.SHADE_4), 0)
    either = np.maximum(upper, lower)
    edge = np.where(np.minimum(upper, lower) == Ink.OUTSIDE, either, np.where(mixed > 0, mixed, either))
    return np.where(even, upper, edge).astype(np.uint8)


def _glyph_table(ascii_only: bool) -> NDArray[np.uint32]:
    glyphs = ASCII_GLYPHS if ascii_only else UNICODE_GLYPHS
    table = np.full(BORDER, ord(" "), dtype=np.uint32)
    for ink, glyph in glyphs.items():
        table[ink] = ord(glyph)
    return table
