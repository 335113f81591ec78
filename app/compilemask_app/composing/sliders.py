"""A slider of a few columns: where its knob stands, and which value a column means."""

from __future__ import annotations

TRACK = 9
WIDTH = TRACK + 2
"""With a step button at either end."""


def top_of(value: int) -> int:
    """The value at the right end: a power of two, so that the knob stands between a quarter and a half of the way."""
    return 1 << max(3, int(value).bit_length() + 1)


def knob(value: int, top: int) -> int:
    """The column of the track on which the knob stands."""
    return min(TRACK - 1, max(0, round(value * (TRACK - 1) / top)))


def value_at(column: int, top: int) -> int:
    """The value of a column of the whole slider; columns past an end mean that end."""
    return min(TRACK - 1, max(0, column - 1)) * top // (TRACK - 1)


def drawn(value: int, top: int | None = None) -> str:
    """The slider as text; `top` holds the scale still while it is dragged."""
    place = knob(value, top if top is not None else top_of(value))
    return f"◂{'─' * place}●{'─' * (TRACK - 1 - place)}▸"
