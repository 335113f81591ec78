"""Splitting and repeating regions: the mask stays, and the text is what one would write."""

from __future__ import annotations

import pytest
from compilemask_app.composing import region_matrix, region_shapes
from compilemask_app.composing.text_edits import applied
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.dialogs import Prompt, Question
from compilemask_app.screens.shape_flow import GO_AHEAD
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from textual.widgets import Button, Input

from compilemask.language.parser import parse_tolerant
from compilemask.pipeline import compile_text
from compilemask.source import Source
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, dialog, said, text_of
from tests.scenes import design, until

PLAIN = """\
param size = 7
layout
    prompt : 9
    answer : [4, 3] # two
    tail   : size + 1
rules
    everything sees prompt : causal
    answer sees answer : causal within answer
    tail sees first 2 of tail, answer[0] : all
"""


@pytest.mark.parametrize(
    ("row", "way", "lines"),
    [
        (0, 0, ["    prompt", "        u : 2", "        w : 7"]),
        (1, 1, ["    answer repeat len([4, 3])", "        u : 2", "        w : ([4, 3])[answer] - 2 # two"]),
        (0, 2, ["    u : 2", "    w : 7"]),
        (2, 0, ["    tail", "        u : 2", "        w : (size + 1) - 2"]),
    ],
)
def test_a_split_region_is_the_same_mask(row: int, way: int, lines: list[str]) -> None:
    matrix = region_matrix.matrix_of(parse_tolerant(Source("test", PLAIN)).file)
    ways = region_shapes.split_region(matrix.file, matrix.rows[row], "u", "2", "w")
    changed = applied(PLAIN, list(ways[way]))
    assert "\n".join(lines) in changed
    assert compile_text(changed).variants == compile_text(PLAIN).variants
    names = [entry.name for entry in region_matrix.matrix_of(parse_tolerant(Source("test", changed)).file).rows]
    assert names[row : row + 2] == ["u", "w"]


@pytest.mark.parametrize(("row", "way", "size"), [(0, 0, "[9] * 3"), (1, 1, "([4, 3]) * 3"), (2, 0, "[size + 1] * 3")])
def test_a_repeated_region_has_so_many_instances(row: int, way: int, size: str) -> None:
    region = region_matrix.matrix_of(parse_tolerant(Source("test", PLAIN)).file).rows[row]
    changed = applied(PLAIN, list(region_shapes.repeat_region(region, "3")[way]))
    assert f": {size}" in changed
    before, after = compile_text(PLAIN), compile_text(changed)
    assert after.query_length - before.query_length == 2 * (9, 7, 8)[row]


class TestKeys:
    """`/` and `*` in the matrix, `+ region` by mouse."""

    async def test_split_keeps_the_mask_and_is_one_step(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            assert screen.picture is not None
            before = screen.picture.rows
            await pilot.press("r", "slash")
            await answered(pilot, "system : 8, user")
            await until(pilot, lambda: "    system : 8\n    user : prompt - 8\n" in text_of(screen))
            await until(pilot, lambda: screen.picture is not None and screen.picture.revision == screen.revision)
            assert screen.picture.rows == before
            assert "    system, user sees system, user : causal   # kept too" in text_of(screen)
            matrix = screen.query_one(RegionMatrixView).matrix
            assert matrix is not None
            assert [row.name for row in matrix.rows] == ["system", "user", "answer"]
            assert matrix.summary(0, 0) == matrix.summary(1, 1) == "causal"
            screen.query_one(MaskEditor).undo()
            assert text_of(screen) == TWO

    async def test_a_split_at_an_unknown_name_offers_nothing_that_it_would_not_write(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "slash")
            for _ in range(2):
                await answered(pilot, "system : lenght, user")
                await until(pilot, lambda: "lenght" in said(pilot))
                assert "enter again" not in said(pilot)
            assert text_of(screen) == TWO

    async def test_a_split_that_changes_the_mask_asks(self, make_app: MakeApp) -> None:
        text = "layout\n    a : 8\nrules\n    a sees a : causal by at\n"
        async with make_app(text, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            for answer in ("Leave it", GO_AHEAD):
                await pilot.press("r", "slash")
                await answered(pilot, "u : 3, w")
                await dialog(pilot, Question)
                assert text_of(screen) == text
                buttons = {str(button.label): button for button in pilot.app.screen.query(Button)}
                await pilot.click(buttons[answer])
                await until(pilot, lambda: pilot.app.screen is screen)
            await until(pilot, lambda: "u : 3" in text_of(screen))

    @pytest.mark.parametrize(("row", "half"), [(0, "prompt_a : prompt // 2, prompt_b"), (1, "answer_a : 1, answer_b")])
    async def test_half_is_offered_where_it_is_known(self, make_app: MakeApp, row: int, half: str) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            assert screen.picture is not None
            before = screen.picture.rows
            await pilot.press("r", *["down"] * row, "slash")
            await dialog(pilot, Prompt)
            assert pilot.app.screen.query_one(Input).value == half
            await pilot.press("enter")
            await until(pilot, lambda: text_of(screen) != TWO)
            await until(pilot, lambda: screen.picture is not None and screen.picture.revision == screen.revision)
            assert screen.picture.rows == before

    async def test_wrong_answers_are_refused_in_words(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "slash")
            for answer in ("u", "u : 3, u", "head : 3, u", "u : 3, answer"):
                await answered(pilot, answer)
                await pilot.pause()
                assert isinstance(pilot.app.screen, Prompt)
            await answered(pilot, "u : 400, w")
            await until(pilot, lambda: "negative" in said(pilot))
            assert pilot.app.screen.query_one(Input).value == "u : 400, w", "nothing typed is lost"
            await pilot.press("escape", "asterisk")
            await answered(pilot, "promt")
            await until(pilot, lambda: "promt" in said(pilot))
            assert text_of(screen) == TWO

    async def test_repeat(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "asterisk")
            await answered(pilot, "3")
            await until(pilot, lambda: "    prompt : [prompt] * 3" in text_of(screen))

    async def test_a_click_adds_a_region(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.click(RegionMatrixView, offset=(2, 0))
            await answered(pilot, "draft : 16")
            await until(pilot, lambda: "    prompt : prompt\n    draft : 16" in text_of(screen))
