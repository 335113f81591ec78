"""Painter's order against arrays: what is painted, and which rules change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.painting import Effect, Painting
from compilemask.language import program as ir
from compilemask.pipeline import compile_text
from tests.strategies import DenseMask, dense_masks

Strokes = list[tuple[bool, DenseMask]]


@st.composite
def strokes(draw: st.DrawFn) -> Strokes:
    """Rules that show or hide cells of one small mask; small ones, so that many repaint others wholly."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    masks = draw(st.lists(dense_masks(rows, columns), min_size=1, max_size=7))
    return [(draw(st.booleans()), mask) for mask in masks]


def painted(given_strokes: Strokes) -> tuple[Painting, list[ir.Rule]]:
    painting = Painting(*given_strokes[0][1].shape)
    rules = [
        ir.Rule(None, number, shows, ir.AllTokens(None), ir.AllTokens(None), ir.AllPairs(None))
        for number, (shows, _) in enumerate(given_strokes)
    ]
    for rule, (_, mask) in zip(rules, given_strokes, strict=True):
        painting.paint(rule, Intervals.from_dense(mask), True)
    return painting, rules


@settings(max_examples=300, deadline=None)
@given(strokes())
def test_a_rule_is_idle_exactly_where_it_decides_about_no_cell(given_strokes: Strokes) -> None:
    shape = given_strokes[0][1].shape
    visible, decider = np.zeros(shape, np.bool_), np.full(shape, -1)
    found_nothing = []
    for number, (shows, mask) in enumerate(given_strokes):
        found_nothing.append(not shows and mask.any() and not visible[mask].any())
        visible[mask], decider[mask] = shows, number

    painting, rules = painted(given_strokes)

    np.testing.assert_array_equal(painting.result.to_dense(), visible)
    for number, ((shows, mask), one) in enumerate(zip(given_strokes, painting.effects(), strict=True)):
        if not mask.any():
            assert one.effect is Effect.NEVER
        elif found_nothing[number]:
            assert one.effect is Effect.NOTHING_TO_HIDE
        elif (decider == number).any():
            assert one.effect is Effect.USED
        else:
            taken = Effect.HIDDEN if shows else Effect.SHOWN
            gone = (visible[mask] != shows).all()
            assert one.effect is (taken if gone else Effect.REPAINTED)
            alone = [later for later in range(number + 1, len(rules)) if not (mask & ~given_strokes[later][1]).any()]
            assert one.by is (rules[alone[-1]] if alone else None)


def warnings(text: str, **sizes: int) -> list[str]:
    found = compile_text(text, params=sizes).diagnostics
    return [f"{one.span.line if one.span else 0} {one.code}" for one in found if one.severity.value == "warning"]


@pytest.mark.parametrize("last", ["all", "window(behind=9, ahead=0)", "q.pos >= k.pos"])
def test_a_rule_that_a_later_one_shows_again_is_warned_of(last: str) -> None:
    text = f"layout\n    a : 6\n    b : 3\nrules\n    a sees a : causal\n    b sees a : all\n    a sees a : {last}\n"

    assert warnings(text) == ["5 rule-hidden"]


def test_a_rule_that_several_later_ones_repaint_together_is_warned_of() -> None:
    text = "layout\n    a : 4\n    b : 4\nrules\n    a sees everything : all\n"
    text += "    everything sees a : all\n    a cannot see b : all\n"

    assert warnings(text) == ["5 rule-hidden"]


def test_a_rule_that_keeps_one_cell_is_not_warned_of() -> None:
    text = "param n = 6\nlayout\n    a : n\nrules\n    a sees a : all\n    a sees a : q.pos + k.pos < 10\n"

    assert warnings(text) == []
    assert warnings(text, n=5) == ["5 rule-hidden"]


def test_a_rule_that_one_of_two_heads_needs_is_not_warned_of() -> None:
    text = "heads 2\nlayout\n    a : 6\nrules\n    a sees a : causal\nrules when head == {}\n    a sees a : all\n"

    assert warnings(text.format(1)) == []
    assert warnings(text.format("0 or head == 1")) == ["5 rule-hidden"]


def test_many_rules_are_judged_without_comparing_each_with_each() -> None:
    one = np.zeros((1, 4000), np.bool_)
    many: Strokes = []
    for number in range(2000):
        mask = one.copy()
        mask[0, number : number + 2] = True
        many.append((True, mask))

    painting, _ = painted(many)

    assert {one.effect for one in painting.effects()} == {Effect.USED}
