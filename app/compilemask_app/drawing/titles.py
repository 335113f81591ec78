"""The line above a map: which of its headings and which form of its legend fit in beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LegendForm:
    """Columns of a sample of colour, between it and its name, and after the name."""

    swatch: int
    before: int
    after: int

    def columns(self, names: Sequence[str]) -> int:
        """Room for a legend of these names."""
        return sum(self.swatch + self.before + len(name) + self.after for name in names)


FORMS = (LegendForm(2, 1, 2), LegendForm(1, 1, 1), LegendForm(1, 0, 1))
"""From the roomiest to the tightest that can still be read."""


def fitting_title(headings: Sequence[str], names: Sequence[str], width: int) -> tuple[LegendForm | None, str]:
    """The longest heading that leaves room for the legend in some form, in the roomiest form that fits.

    A map says less of its scale rather than nothing of its colours; where not even
    the shortest heading leaves room for it, the longest that fits stands alone.
    """
    for heading in headings:
        for form in FORMS:
            if names and len(heading) + 1 + form.columns(names) <= width:
                return form, heading
    return None, next((heading for heading in headings if len(heading) <= width), headings[-1])
