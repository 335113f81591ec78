"""Masks of few different rows, and masks as unions of those: cheap to judge where the list of all runs is long.

`same y or same x` on an image has as many different rows as tokens, but each half has few: one per row of the image,
one per column. Tiles are judged half by half and united; see `tiles/layered.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import in_rows
from compilemask.intervals.codes import first_of_each
from compilemask.intervals.interval_set import COMBINED_STEPS, COPIED_STEPS, Intervals
from compilemask.language import effort

ROWS_A_KIND = 16  # fewer rows than this of every kind are not worth telling kinds apart

MOST_LAYERS = 4  # every layer is judged by itself
RUNS_A_KEPT_RUN = 8  # layers that keep fewer runs than their union by this factor are judged instead of it

Narrow = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """Row r is row `kind[r]` of `different`."""

    different: Intervals
    kind: Narrow  # [rows]

    @staticmethod
    def among(mask: Intervals) -> Repeated | None:
        """A mask of at most one run a row by its different rows; None where these are many, or rows have more runs."""
        bounds = mask.one_run_bounds()
        if bounds is None:
            return None
        code = bounds[0].astype(np.int64) << 32 | bounds[1]
        _, first, kind = np.unique(code, return_index=True, return_inverse=True)
        if first.size * ROWS_A_KIND > mask.rows:
            return None
        return Repeated(mask.select(first), kind.reshape(-1).astype(np.int32))

    def united(self, other: Repeated) -> Repeated | None:
        """The cells of either; None where their different rows meet in many ways."""
        met = first_of_each((self.kind, other.kind), self.rows // ROWS_A_KIND)
        if met is None:
            return None
        first, kind = met
        ours, theirs = self.different.select(self.kind[first]), other.different.select(other.kind[first])
        return Repeated(ours.union(theirs), kind)

    def intersected(self, other: Layer) -> Layer | None:
        """The cells of both; None where that is not found faster than by the list of all runs."""
        if isinstance(other, Repeated):
            met = first_of_each((self.kind, other.kind), self.rows // ROWS_A_KIND)
            if met is None:
                return None
            ours, theirs = self.different.select(self.kind[met[0]]), other.different.select(other.kind[met[0]])
            return Repeated(ours.intersection(theirs), met[1])
        bounds = other.one_run_bounds()
        if bounds is None or not self.different.runs:
            return None
        effort.spend(COPIED_STEPS * self.runs + COMBINED_STEPS * self.rows)
        return Intervals(self.rows, other.columns, *in_rows.clipped(self.different, self.kind, *bounds))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.kind.size)

    @property
    def runs(self) -> int:
        """Runs of all rows."""
        return int(self.different.runs_per_row()[self.kind].sum())

    def mask(self) -> Intervals:
        """All rows."""
        effort.spend(COPIED_STEPS * self.runs + self.rows)
        return self.different.select(self.kind)

    def permute_rows(self, order: NDArray[np.integer]) -> Repeated:
        """Row i of the result is row order[i]."""
        return Repeated(self.different, self.kind[order])


Layer = Intervals | Repeated


def united(layers: Sequence[Layer]) -> Intervals:
    """The cells of any of at least one layer, as the list of all runs; masks of few runs first."""
    masks = [layer if isinstance(layer, Intervals) else layer.mask() for layer in fewer(layers)]
    return reduce(Intervals.union, sorted(masks, key=lambda mask: mask.runs))


def one_layer(layers: Sequence[Layer]) -> Layer:
    """The cells of any of at least one layer, of few different rows where that is so."""
    told = fewer(layers)
    return told[0] if len(told) == 1 else united(told)


def intersected(a: Layer, b: Layer) -> Layer:
    """The cells of both layers."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Repeated) and (both := one.intersected(other)) is not None:
            return both
    masks = [layer if isinstance(layer, Intervals) else layer.mask() for layer in (a, b)]
    return masks[0].intersection(masks[1])


def fewer(layers: Sequence[Layer]) -> list[Layer]:
    """The same cells in fewer layers: repeated rows that meet in few ways are one layer."""
    found: list[Layer] = []
    for layer in layers:
        last = found[-1] if found else None
        if isinstance(layer, Repeated) and isinstance(last, Repeated) and (both := last.united(layer)) is not None:
            found[-1] = both
        else:
            found.append(layer)
    return found


def worthwhile(layers: Sequence[Layer], runs: int) -> tuple[Layer, ...]:
    """Few layers of the same cells that keep far fewer than the `runs` of their union; none where that can't be."""
    kept = sum(layer.runs if isinstance(layer, Intervals) else layer.different.runs for layer in layers)
    if kept * RUNS_A_KEPT_RUN >= runs:
        return ()
    told = fewer([layer if isinstance(layer, Repeated) else Repeated.among(layer) or layer for layer in layers])
    return tuple(told) if len(told) <= MOST_LAYERS else ()
