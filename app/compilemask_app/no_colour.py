"""What a terminal under `NO_COLOR` is sent: bold, underline and reverse, and no colour code at all."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

APART = 0.15
"""Grounds whose lightness differs by more from the theme's are shown in reverse: what is chosen, what has the keys."""


class NoColour(LineFilter):
    """Takes colours out of lines. The framework's own filter for this sends greys instead."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same words without colours; `background` is the widget's ground."""
        ground = round(background.brightness, 3)
        return [Segment(text, plain(style, ground), control) for text, style, control in segments]


@lru_cache(4096)
def plain(style: Style | None, ground: float) -> Style | None:
    """A style without colours, reversed where only its ground tells it from its surroundings."""
    if style is None:
        return None
    reverse = bool(style.reverse) or abs(_lightness(style.bgcolor, ground) - ground) > APART
    return Style(bold=style.bold, underline=style.underline, reverse=reverse or None, meta=style.meta or None)


def _lightness(colour: RichColor | None, ground: float) -> float:
    if colour is None or colour.is_default:
        return ground
    return Color.from_rich_color(colour).brightness
