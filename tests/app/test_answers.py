"""Keys that have nothing to do say so; overlays say what a full bar stands for."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.help_screen import HelpScreen
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from textual.containers import VerticalScroll
from textual.widgets import Input

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, compared, dialog, said, text_of
from tests.app.test_results import lines_of
from tests.scenes import design, until


async def test_overlays_say_the_largest_value(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        figures = screen.picture.figures if screen.picture else None
        assert figures is not None
        await pilot.press("o", "o")
        await until(pilot, lambda: f"most {figures.heaviest} tile" in lines_of(screen)[1])  # beside the legend
        assert f"work per query tile, most {figures.heaviest} tile" in screen.query_one(MaskView).headings()[0]
        await pilot.press("o")
        assert f"runs per row, most {figures.max_runs_per_row} run" in screen.query_one(MaskView).headings()[0]


@pytest.mark.parametrize(("key", "word"), [("b", "all samples"), ("d", "all heads")])
async def test_one_sample_and_head_is_said(make_app: MakeApp, key: str, word: str) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press(key)
        assert word in "".join(note.message for note in screen.app._notifications)


async def test_a_parameter_is_renamed_everywhere_but_not_its_region(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("a", "f4")
        await answered(pilot, "answers")
        await until(pilot, lambda: "already something called" in said(pilot))
        await answered(pilot, "start")
        await until(pilot, lambda: "param start = 40" in text_of(screen))
        assert text_of(screen) == TWO.replace("param prompt", "param start").replace(": prompt\n", ": start\n")


async def test_a_rule_is_found_from_the_comparison(make_app: MakeApp, tmp_path: Path) -> None:
    saved = files.write(files.new_document(), TWO, tmp_path / "mine.mask")
    async with make_app(document=saved, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        screen.query_one(MaskEditor).text = TWO.replace("sees prompt : causal", "sees prompt : before")
        await design(pilot)
        await compared(pilot, "down")
        await pilot.press("home", "down", "l")
        await design(pilot)
        editor = screen.query_one(MaskEditor)
        await until(pilot, lambda: editor.has_focus)
        assert editor.document[editor.cursor_location[0]].startswith("    prompt sees prompt : before")


async def test_help_scrolls_and_lists_the_mouse(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("e")
        await until(pilot, lambda: screen.query_one(MaskEditor).has_focus)
        await pilot.press("f1")
        await dialog(pilot, HelpScreen)
        shown = pilot.app.screen
        assert isinstance(shown, HelpScreen)
        scroll = shown.query_one("#keys", VerticalScroll)
        await pilot.press("end")
        await until(pilot, lambda: scroll.scroll_offset.y == scroll.max_scroll_y > 0)
        await pilot.press("home")
        await until(pilot, lambda: scroll.scroll_offset.y == 0)
        assert shown._keys_of["validate"] == "f5"
        assert shown._keys_of["matrix"] == "esc r"
        assert shown._keys_of["help"] == "f1"
        await pilot.press(*"mouse")
        await until(pilot, lambda: "wheel" in "\n".join(lines_of(shown)))
        shown.query_one(Input).value = "whole value"
        await until(pilot, lambda: "Type the whole value" in "\n".join(lines_of(shown)))
