"""A slider of a few columns: where its knob stands, and which value a column means.

The scale is that of doubling: 0, 1, 2, 4, ... up to 32,768, and further only for a value that is larger. It is the same
for every number, so that knobs can be compared, and twice the value is as far to the right wherever the knob stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

LONG, SHORT = 17, 9
"""Columns of a track: one for each doubling, or one for two."""

ENDS = 2
"""A step button at either end."""

DOUBLINGS = 16
"""0 and 2^0 to 2^15."""


@dataclass(frozen=True, slots=True)
class Scale:
    """`columns` of track from 0 to 2^(top - 1)."""

    columns: int
    top: float

    def column(self, value: int) -> int:
        """The column of the track on which the knob stands."""
        return min(self.columns - 1, round(_doublings(value) * (self.columns - 1) / self.top))

    def value(self, column: int) -> int:
        """The value of a column of the track; columns past an end mean that end."""
        doublings = min(self.columns - 1, max(0, column)) * self.top / (self.columns - 1)
        return round(2 ** (doublings - 1)) if doublings >= 1 else 0


def scale_of(value: int, columns: int) -> Scale:
    """The scale on which a value is shown."""
    return Scale(columns, max(float(DOUBLINGS), _doublings(value)))


def drawn(value: int, scale: Scale) -> str:
    """The slider as text."""
    place = scale.column(value)
    return f"◂{'─' * place}●{'─' * (scale.columns - 1 - place)}▸"


def _doublings(value: int) -> float:
    return log2(value) + 1 if value > 0 else 0.0
