"""Painter's order: rules one over the other, and what each of them did.

A rule changes nothing where later rules decide about all its cells. Three cells of a rule, its first, its last and one
between, show of nearly all rules that they are not such; only where later rules hold all three, intervals are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask.language import effort
from compilemask.language.program import Rule

RULES_NAMED = 16  # so many later rules are tried one by one, for the message


class Effect(Enum):
    """What became of a rule."""

    USED = "used"
    UNUSED = "unused"  # it selects no query or no key
    NEVER = "never"  # no selected pair matches, limits counted in
    HIDDEN = "hidden"  # later rules hide all that it shows
    SHOWN = "shown"  # later rules show all that it hides
    REPAINTED = "repainted"  # later rules decide about all its cells, some this way and some that
    NOTHING_TO_HIDE = "nothing to hide"


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What became of one rule; `by` is the later rule that alone took its effect, where one did."""

    rule: Rule
    effect: Effect
    by: Rule | None = None


@dataclass(slots=True)
class _Stroke:
    """A rule and its cells."""

    rule: Rule
    mask: Intervals
    effect: Effect = Effect.USED


class Painting:
    """The mask painted so far, and the strokes it is made of."""

    def __init__(self, rows: int, columns: int) -> None:
        self.result = Intervals.empty(rows, columns)
        self._strokes: list[_Stroke] = []

    def paint(self, rule: Rule, mask: Intervals, selects: bool) -> None:
        """Show or hide the cells of a rule; `selects`: it selects a query and a key."""
        stroke = _Stroke(rule, mask)
        self._strokes.append(stroke)
        effort.spend(mask.rows + effort.A_NODE, rule.span)
        if not mask.runs:
            stroke.effect = Effect.NEVER if selects else Effect.UNUSED
        elif rule.shows:
            self.result = self.result.union(mask)
        else:
            before = self.result.visible
            self.result = self.result.difference(mask)
            if self.result.visible == before:
                stroke.effect = Effect.NOTHING_TO_HIDE

    def effects(self) -> tuple[RuleEffect, ...]:
        """What became of every rule, in their order."""
        found: list[RuleEffect] = []
        suspects = self._suspects()
        cover = _Cover(self.result)
        for place in reversed(range(len(self._strokes))):
            stroke = self._strokes[place]
            effect, by = stroke.effect, None
            if effect is Effect.USED and suspects[place] and cover.holds(stroke.mask):
                effect, by = self._taken(stroke), self._taken_by(place)
            found.append(RuleEffect(stroke.rule, effect, by))
            cover.add(stroke.mask)
        return tuple(reversed(found))

    def _suspects(self) -> NDArray[np.bool_]:
        """[rules] whether later rules hold the three cells of a rule."""
        cells = [_three_cells(stroke.mask) for stroke in self._strokes]
        rows, columns = (np.array([cell[side] for cell in cells], np.int64).reshape(-1, 3) for side in (0, 1))
        held = np.zeros(rows.shape, np.bool_)
        for place, stroke in enumerate(self._strokes):
            if place and stroke.mask.runs:
                held[:place] |= stroke.mask.holds(rows[:place], columns[:place])
        return np.asarray(held.all(axis=1))

    def _taken(self, stroke: _Stroke) -> Effect:
        if stroke.rule.shows:
            return Effect.REPAINTED if stroke.mask.intersection(self.result).runs else Effect.HIDDEN
        return Effect.REPAINTED if stroke.mask.difference(self.result).runs else Effect.SHOWN

    def _taken_by(self, place: int) -> Rule | None:
        """The last of the later rules that decides about all cells of a rule."""
        stroke = self._strokes[place]
        for later in reversed(self._strokes[place + 1 :][-RULES_NAMED:]):
            if not stroke.mask.difference(later.mask).runs:
                return later.rule
        return None


class _Cover:
    """The union of the masks added so far, made only when it is asked for."""

    def __init__(self, shape_of: Intervals) -> None:
        self._union = Intervals.empty(shape_of.rows, shape_of.columns)
        self._waiting: list[Intervals] = []

    def add(self, mask: Intervals) -> None:
        """Cover the cells of a mask, too."""
        self._waiting.append(mask)

    def holds(self, mask: Intervals) -> bool:
        """Whether every cell of a mask is covered."""
        for waiting in self._waiting:
            self._union = self._union.union(waiting)
        self._waiting.clear()
        return not mask.difference(self._union).runs


def _three_cells(mask: Intervals) -> tuple[list[int], list[int]]:
    """Rows and columns of the first, a middle and the last visible cell; cell 0, 0 where there is none."""
    if not mask.runs:
        return [0, 0, 0], [0, 0, 0]
    runs = [0, mask.runs // 2, mask.runs - 1]
    rows = np.searchsorted(mask.offsets, runs, side="right") - 1
    return rows.tolist(), [int(mask.starts[0]), int(mask.starts[runs[1]]), int(mask.ends[-1]) - 1]
