"""Rules that a change of the matrix made idle go with it, and nothing else."""

from __future__ import annotations

import pytest
from compilemask_app.composing import cell_rules, region_matrix
from compilemask_app.composing.text_edits import applied
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.equal_texts import shortest
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.jobs.tidying import Asked, tidied
from compilemask_app.screens.relation_screen import RelationScreen

from compilemask.language.parser import parse_tolerant
from compilemask.pipeline import compile_text
from compilemask.source import Source
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, burst, dialog, text_of
from tests.scenes import design, until

STARTER = """\
param n = 24
layout
    a : n
    b : n
rules
    everything sees everything : causal
"""
CELLS = [(0, 0, "before"), (0, 1, "same (at // 8)"), (1, 0, "all"), (1, 1, "self")]


def chosen(text: str, row: int, column: int, how: str) -> str:
    """The text after a choice; its mask is that of the change alone, at other sizes too."""
    matrix = region_matrix.matrix_of(parse_tolerant(Source("test", text)).file)
    hidden = cell_rules.hide(matrix, row, column)
    ways = cell_rules.ways_to_set(matrix, row, column, how) if how else ((hidden,) if hidden else (),)
    request = CompileRequest(0, "test", text)
    changed = applied(text, list(tidied(request, shortest(request, ways), Asked("ab"[row], "ab"[column], bool(how)))))
    alone = applied(text, list(ways[-1]))
    for size in (1, 24, 111):
        assert (
            compile_text(changed, params={"n": size}).dense() == compile_text(alone, params={"n": size}).dense()
        ).all()
    return changed


def test_four_chosen_cells_leave_four_rules_and_no_warning() -> None:
    text = STARTER
    for row, column, how in CELLS:
        text = chosen(text, row, column, how)
    rules = text.partition("rules\n")[2].splitlines()
    assert sorted(line.strip() for line in rules) == sorted(f"{'ab'[i]} sees {'ab'[j]} : {how}" for i, j, how in CELLS)
    assert not [found for found in compile_text(text).diagnostics if found.code.startswith("rule-")]


def test_hidden_cells_take_the_line_of_everything_with_them() -> None:
    text = STARTER
    for row, column in ((0, 0), (1, 0)):
        text = chosen(text, row, column, "")
    assert "everything sees everything" in text, "b still sees b by it"
    text = chosen(text, 1, 1, "before")
    assert text.partition("rules\n")[2] == "    b sees b : before\n"


@pytest.mark.parametrize("line", ["everything sees everything : causal   # kept", "(a, b) sees (a, b) : causal"])
def test_lines_with_a_comment_or_of_another_kind_stay(line: str) -> None:
    text = STARTER.replace("everything sees everything : causal", line)
    for row, column, how in CELLS:
        text = chosen(text, row, column, how)
    assert line in text


def test_what_was_idle_before_stays() -> None:
    text = STARTER.replace("everything sees everything", "a cannot see b : before\n    b sees a")
    assert "a cannot see b : before" in chosen(text, 1, 1, "self")


async def test_the_matrix_takes_out_what_it_made_idle_in_one_step(make_app: MakeApp) -> None:
    three = STARTER + "    a cannot see a : all\n    a sees b : all\n    b sees a : all\n"
    async with make_app(three, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("r", "down", "right", "enter")
        await dialog(pilot, RelationScreen)
        burst(pilot, "'before", "enter")
        lines = "    a sees b : all\n    b sees a : all\n    b sees b : before\n"
        await until(pilot, lambda: text_of(screen).endswith("rules\n" + lines))
        await pilot.press("ctrl+z")
        assert text_of(screen) == three


async def test_cells_hidden_at_once_are_all_hidden(make_app: MakeApp) -> None:
    async with make_app(STARTER, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("r")
        await pilot.pause()
        burst(pilot, "delete", "right", "delete", "down", "delete")
        await until(pilot, lambda: "b cannot see b" in text_of(screen))
        lines = [line.strip() for line in text_of(screen).partition("rules\n")[2].splitlines()]
        hides = [f"{look} cannot see {seen} : all" for look, seen in ("aa", "ab", "bb")]
        assert lines == ["everything sees everything : causal", *hides]
