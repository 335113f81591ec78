"""Queries and keys with layouts of their own: regions of either side are changed from the matrix."""

from __future__ import annotations

import pytest
from compilemask_app.composing import HEADS, region_matrix, region_shapes
from compilemask_app.composing.text_edits import applied
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from textual.pilot import Pilot
from textual.widgets import Static

from compilemask.language.parser import parse_tolerant
from compilemask.pipeline import compile_text
from compilemask.source import Source
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, command, dialog, said, text_of
from tests.scenes import design, until

SIDES = """\
param text = 40, images = 3, patch = 16
queries
    prompt : text
    answer : [24] * 3
keys
    image  : [patch] * images   # pictures
    prompt : text
rules
    everything sees image : all
    prompt sees prompt : causal by at
    answer sees prompt : all
"""


async def title(pilot: Pilot[None]) -> str:
    await dialog(pilot, Prompt)
    return str(pilot.app.screen.query_one(".title", Static).content)


async def test_regions_of_the_keys_are_changed_from_the_heads(make_app: MakeApp) -> None:
    async with make_app(SIDES, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("r", "up", "s")
        assert await title(pilot) == "Size of image of the keys"
        await answered(pilot, "[8] * images")
        await until(pilot, lambda: "    image  : [8] * images   # pictures" in text_of(screen))
        await pilot.press("plus")
        await answered(pilot, "prompt : patch")
        await dialog(pilot, Prompt)
        assert "already" in said(pilot), "on this side"
        await answered(pilot, "answer : patch")
        await until(pilot, lambda: "# pictures\n    answer : patch\n" in text_of(screen))
        view = screen.query_one(RegionMatrixView)
        assert (view.row, view.column) == (HEADS, 1), "on the new head"
        await pilot.press("f4")
        await answered(pilot, "sink")
        await until(pilot, lambda: "    sink : patch\n" in text_of(screen))
        assert "    sink : [24] * 3\n" in text_of(screen), "everywhere, so that `same sink` stays what it was"
        await pilot.press("asterisk")
        await answered(pilot, "2")
        await until(pilot, lambda: "    sink : [patch] * 2\n" in text_of(screen))
        await pilot.press("minus")
        await until(pilot, lambda: "sink : [patch]" not in text_of(screen))
        for _ in range(5):
            screen.query_one(MaskEditor).undo()
        await until(pilot, lambda: text_of(screen) == SIDES)


async def test_below_the_heads_keys_are_about_the_row(make_app: MakeApp) -> None:
    async with make_app(SIDES, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        view = screen.query_one(RegionMatrixView)
        await pilot.press("r", "right")
        assert "↑ keys" in view.words().plain
        await pilot.press("s")
        assert await title(pilot) == "Size of prompt of the queries"
        await pilot.press("escape", "up")
        assert "region prompt of the keys   line 7\n  size text" in view.words().plain
        await pilot.press("l")
        await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
        assert screen.query_one(MaskEditor).cursor_location[0] == 6, "the line of the region"


async def test_the_mouse_chooses_a_head(make_app: MakeApp) -> None:
    async with make_app(SIDES, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        view = screen.query_one(RegionMatrixView)
        await pilot.click(view, offset=(13, 0))
        assert (view.row, view.column) == (HEADS, 0)
        await command(pilot, "change the size of this region", Prompt)
        await answered(pilot, "patch")
        await until(pilot, lambda: "    image  : patch   # pictures" in text_of(screen))
        await pilot.click(view, offset=(2, 0))
        await answered(pilot, "more : 4")
        await until(pilot, lambda: "# pictures\n    more : 4\n" in text_of(screen))
        await pilot.click(view, offset=(13, 0), times=2)
        await answered(pilot, "picture")
        await until(pilot, lambda: "everything sees picture : all" in text_of(screen))
        await pilot.click(view, offset=(2, 1))
        assert view.row == 0


async def test_a_head_hides_nothing_and_enter_renames_its_region(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("r", "right", "up", "delete")
        await pilot.pause()
        assert text_of(screen) == TWO
        await pilot.press("enter")
        assert await title(pilot) == "Rename answer"
        await answered(pilot, "reply")
        await until(pilot, lambda: "    reply : answers\n" in text_of(screen))
        assert "reply sees reply : causal within reply" in text_of(screen)


@pytest.mark.parametrize("side", ["queries", "keys"])
def test_a_split_leaves_the_region_of_the_other_side_alone(side: str) -> None:
    text = "param a = 9\nqueries\n    a : a\n    b : 2\nkeys\n    a : a\n    c : 3\nrules\n    a sees a : all\n"
    matrix = region_matrix.matrix_of(parse_tolerant(Source("test", text)).file)
    region = matrix.region(0 if side == "queries" else HEADS, 0)
    changed = applied(text, list(region_shapes.split_region(matrix.file, region, "u", "2", "w")[2]))
    assert ("u, w sees a : all" if side == "queries" else "a sees u, w : all") in changed
    assert (compile_text(changed).dense() == compile_text(text).dense()).all()
