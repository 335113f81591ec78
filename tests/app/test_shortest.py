"""A relation for a cell that wider rules speak of: one line where it says the same, else two."""

from __future__ import annotations

import pytest
from compilemask_app.composing import cell_rules, region_matrix
from compilemask_app.composing.text_edits import applied
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.equal_texts import shortest
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.relation_screen import RelationScreen

from compilemask.language.parser import parse_tolerant
from compilemask.pipeline import compile_text
from compilemask.source import Source
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, burst, dialog, text_of
from tests.scenes import design, until

WIDE = """\
param n = 24
layout
    a : n
    b : n
rules
    everything sees everything : causal
"""
RESET = "    b cannot see b : all\n"


def chosen(text: str, row: int, column: int, how: str) -> str:
    matrix = region_matrix.matrix_of(parse_tolerant(Source("test", text)).file)
    ways = cell_rules.ways_to_set(matrix, row, column, how)
    changed = applied(text, list(shortest(CompileRequest(0, "test", text), ways)))
    sure = applied(text, list(ways[-1]))
    for size in (1, 24, 63, 111):
        assert (
            compile_text(changed, params={"n": size}).dense() == compile_text(sure, params={"n": size}).dense()
        ).all()
    return changed


@pytest.mark.parametrize(
    ("row", "how", "lines"),
    [
        (1, "all", "    b sees b : all\n"),
        (1, "before", RESET + "    b sees b : before\n"),
        (1, "window(behind=64, ahead=0)", RESET + "    b sees b : window(behind=64, ahead=0)\n"),
        (0, "all", "    a sees b : all\n"),
    ],
)
def test_one_line_is_written_where_it_says_the_same_at_larger_sizes_too(row: int, how: str, lines: str) -> None:
    assert chosen(WIDE, row, 1, how) == WIDE + lines


def test_lines_of_the_cell_itself_go_when_one_says_the_same() -> None:
    narrow = chosen(WIDE, 1, 1, "before")
    assert chosen(narrow, 1, 1, "all") == WIDE + "    b sees b : all\n"
    assert chosen(narrow, 1, 1, "self") == WIDE + RESET + "    b sees b : self\n"
    assert chosen(WIDE + RESET, 1, 1, "all") == WIDE + "    b sees b : all\n"
    kept = narrow.replace("b : all\n", "b : all   # why\n")
    assert chosen(kept, 1, 1, "all") == kept.replace("before", "all"), "a comment stays"


def test_two_lines_take_the_place_of_the_cells_own() -> None:
    wider = chosen(WIDE, 1, 1, "all")
    assert chosen(wider, 1, 1, "before") == WIDE + RESET + "    b sees b : before\n"
    last = WIDE + "    b sees b : all\n    a sees a : self\n"
    assert chosen(last, 1, 1, "before") == WIDE + "    a sees a : self\n" + RESET + "    b sees b : before\n"


def test_rules_that_hold_at_times_only_are_no_lines_of_the_cell() -> None:
    text = WIDE + "rules when n > 50\n    b cannot see b : all\n"
    matrix = region_matrix.matrix_of(parse_tolerant(Source("test", text)).file)
    ways = cell_rules.ways_to_set(matrix, 1, 1, "all")
    assert all("rules when n > 50\n    b cannot see b : all\n" in applied(text, list(edits)) for edits in ways)


async def test_the_matrix_writes_one_line(make_app: MakeApp) -> None:
    async with make_app(WIDE + RESET, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("r", "down", "right", "enter")
        await dialog(pilot, RelationScreen)
        burst(pilot, "'all", "enter")
        await until(pilot, lambda: text_of(screen) == WIDE + "    b sees b : all\n")
