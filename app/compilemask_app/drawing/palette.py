"""The colours of the inks. Lightness carries the meaning, or a character; hue only helps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rich.color import Color
from rich.style import Style

from compilemask_app.drawing.ink import BORDER, Ink

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Palette:
    """One colour per ink, and the ground that the map lies on."""

    name: str
    ground: Rgb
    empty: Rgb
    shades: tuple[Rgb, Rgb, Rgb, Rgb]
    full: Rgb
    partial: Rgb
    left: Rgb
    right: Rgb
    wrong: Rgb
    cursor: Rgb

    def colour(self, ink: int) -> Rgb:
        """The colour of an ink, with or without its border flag."""
        plain = self._plain(Ink(ink % BORDER))
        return _blend(plain, self.cursor, 0.22) if ink >= BORDER else plain

    def _plain(self, ink: Ink) -> Rgb:
        table: dict[Ink, Rgb] = {
            Ink.OUTSIDE: self.ground,
            Ink.EMPTY: self.empty,
            Ink.SHADE_1: self.shades[0],
            Ink.SHADE_2: self.shades[1],
            Ink.SHADE_3: self.shades[2],
            Ink.SHADE_4: self.shades[3],
            Ink.FULL: self.full,
            Ink.PARTIAL: self.partial,
            Ink.MIXED_LOW: _blend(self.empty, self.partial, 0.45),
            Ink.MIXED_HIGH: _blend(self.full, self.partial, 0.45),
            Ink.LEFT_ONLY: self.left,
            Ink.RIGHT_ONLY: self.right,
            Ink.WRONG: self.wrong,
            Ink.DIFFERS: _blend(self.left, self.right, 0.5),
            Ink.CURSOR_EMPTY: _blend(self.empty, self.cursor, 0.62),
            Ink.CURSOR_WRONG: _blend(self.wrong, self.cursor, 0.35),
            Ink.CURSOR_PART: _blend(self.shades[2], self.cursor, 0.75),
        }
        return table.get(ink, self.cursor)


def _blend(low: Rgb, high: Rgb, share: float) -> Rgb:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return red, green, blue


DARK = Palette(
    name="dusk",
    ground=(13, 17, 23),
    empty=(22, 28, 37),
    shades=((28, 62, 88), (50, 102, 130), (52, 130, 155), (92, 168, 184)),
    full=(196, 238, 234),
    partial=(210, 145, 56),
    left=(86, 150, 236),
    right=(250, 214, 120),
    wrong=(255, 90, 90),
    cursor=(255, 255, 255),
)
LIGHT = Palette(
    name="paper",
    ground=(250, 250, 247),
    empty=(233, 234, 230),
    shades=((189, 212, 224), (139, 183, 205), (90, 148, 180), (52, 112, 150)),
    full=(18, 66, 104),
    partial=(214, 138, 30),
    left=(20, 84, 168),
    right=(226, 150, 20),
    wrong=(190, 0, 40),
    cursor=(0, 0, 0),
)
CIVIDIS = Palette(
    name="cividis",
    ground=(8, 12, 22),
    empty=(16, 24, 44),
    shades=((20, 54, 108), (74, 84, 110), (122, 122, 120), (174, 162, 114)),
    full=(250, 228, 96),
    partial=(120, 150, 210),
    left=(74, 126, 226),
    right=(255, 233, 69),
    wrong=(255, 255, 255),
    cursor=(255, 255, 255),
)
GREY = Palette(
    name="grey",
    ground=(12, 12, 12),
    empty=(30, 30, 30),
    shades=((66, 66, 66), (100, 100, 100), (134, 134, 134), (168, 168, 168)),
    full=(222, 222, 222),
    partial=(150, 150, 150),
    left=(110, 110, 110),
    right=(210, 210, 210),
    wrong=(255, 255, 255),
    cursor=(255, 255, 255),
)
PALETTES: dict[str, Palette] = {palette.name: palette for palette in (DARK, LIGHT, CIVIDIS, GREY)}


@cache
def pixel_style(palette: str, upper: int, lower: int) -> Style:
    """The style of one terminal cell: upper half in the foreground, lower half in the background."""
    colours = PALETTES[palette]
    return Style(
        color=Color.from_rgb(*colours.colour(upper)),
        bgcolor=Color.from_rgb(*colours.colour(lower)),
    )


@cache
def glyph_style(palette: str, ink: int) -> Style:
    """Of a character on an ink that has one even in colour, dark on light and light on dark."""
    colours = PALETTES[palette]
    red, green, blue = ground = colours.colour(ink)
    light = 2 * red + 5 * green + blue > 8 * 128
    dark, bright = sorted((colours.ground, colours.cursor))
    return Style(color=Color.from_rgb(*(dark if light else bright)), bgcolor=Color.from_rgb(*ground), bold=True)


@cache
def text_style(palette: str, bold: bool = False, dim: bool = False, accent: bool = False) -> Style:
    """Text on the ground of a map: rulers and labels."""
    colours = PALETTES[palette]
    ink = colours.cursor if accent else colours.shades[3] if not dim else colours.shades[2]
    return Style(color=Color.from_rgb(*ink), bgcolor=Color.from_rgb(*colours.ground), bold=bold)
