"""What a newcomer tries first: keys known from elsewhere, small terminals, slow answers."""

from __future__ import annotations

import threading

import pytest
from compilemask_app import document as files
from compilemask_app.actions import ACTIONS
from compilemask_app.jobs.comparing import Comparison, compare_orders
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.picture import Picture
from compilemask_app.screens import compare_flow
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt, Waiting
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.widgets.difference_view import DifferenceView
from compilemask_app.widgets.map_view import Look
from compilemask_app.widgets.mask_editor import MaskEditor
from textual.geometry import Region
from textual.widgets import Input
from textual.widgets._footer import FooterKey
from textual.widgets.text_area import Selection

from tests.app.conftest import TEXT, MakeApp
from tests.scenes import design, until

SIZE = (120, 36)
ORDERED = """\
layout
    token : 40
rules
    token sees token : causal
order token stored by -at
"""


async def test_shift_tab_takes_back_what_tab_gives(make_app: MakeApp) -> None:
    async with make_app("a\n    b\n      c\n\nd").run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        editor = screen.query_one(MaskEditor)
        screen.show_line(2, 6)
        await until(pilot, lambda: screen.focused is editor)
        await pilot.press("shift+tab")
        assert (editor.text, editor.cursor_location) == ("a\nb\n      c\n\nd", (1, 1))
        await pilot.press("shift+tab")
        assert editor.text == "a\nb\n      c\n\nd"
        assert screen.focused is editor
        editor.selection = Selection((4, 0), (0, 1))
        await pilot.press("shift+tab")
        assert editor.text == "a\nb\n  c\n\nd"
        await pilot.press("ctrl+z", "ctrl+z")
        assert editor.text == "a\n    b\n      c\n\nd"


async def test_values_given_at_start_are_no_change_of_a_library_mask(make_app: MakeApp) -> None:
    document = files.document_of("causal", {"length": 96})
    async with make_app(document=document, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        assert screen.text != document.text
        assert not screen.files.unsaved
        screen.query_one(MaskEditor).insert("# touched\n")
        await until(pilot, lambda: screen.files.unsaved)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
async def test_the_key_for_help_is_always_in_sight(make_app: MakeApp, width: int) -> None:
    async with make_app().run_test(size=(width, 24)) as pilot:
        screen = await design(pilot)

        def in_sight() -> bool:
            keys = screen.query(FooterKey).results(FooterKey)
            shown = [key.region for key in keys if key.action.endswith(("help", "command_palette"))]
            whole = all(Region(0, 0, width, 24).contains_region(region) and region.area for region in shown)
            others = [key.region for key in screen.query(FooterKey) if key.visible and key.region not in shown]
            cut = any(other.overlaps(docked) for other in others for docked in shown)
            return len(shown) == 2 and whole and not cut and not shown[0].overlaps(shown[1])

        for focus in (screen.action_focus_map, screen.action_focus_matrix, screen.action_focus_editor):
            focus()
            await pilot.pause(0.1)
            await until(pilot, in_sight, 5.0)


async def test_a_new_mask_is_what_its_words_say(make_app: MakeApp) -> None:
    words = next(action.help for action in ACTIONS if action.id == "new")
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: screen.files.document.name == "new mask")
        assert "causal" in words
        assert "causal" in screen.text


@pytest.mark.parametrize("give_up", [False, True])
async def test_a_slow_comparison_is_announced_at_once_and_takes_the_keys(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, give_up: bool
) -> None:
    go = threading.Event()

    def slow(picture: Picture) -> Comparison:
        go.wait(20)
        return compare_orders(picture)

    monkeypatch.setattr(compare_flow, "compare_orders", slow)
    async with make_app(ORDERED, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("k")
        await until(pilot, lambda: isinstance(pilot.app.screen, OpenScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Waiting))
        before = screen.view
        await pilot.press("down", "e", *(("escape",) if give_up else ()))
        assert screen.view == before
        go.set()
        wanted = DesignScreen if give_up else CompareScreen
        await until(pilot, lambda: isinstance(pilot.app.screen, wanted))
        await pilot.pause(0.3)
        assert isinstance(pilot.app.screen, wanted)
        assert not any(isinstance(below, Waiting) for below in pilot.app.screen_stack)


@pytest.mark.parametrize(("look", "glyphs"), [(Look.TEXT, "<>≠"), (Look.ASCII, "<>!")])
async def test_the_difference_names_all_its_glyphs(make_app: MakeApp, look: Look, glyphs: str) -> None:
    app = make_app(ORDERED, compile_=Pictures())
    app.settings = type(app.settings)(look=look.value)
    async with app.run_test(size=SIZE) as pilot:
        await design(pilot)
        await pilot.press("k")
        await until(pilot, lambda: isinstance(pilot.app.screen, OpenScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await pilot.pause(0.1)
        title = pilot.app.screen.query_one(DifferenceView).render_line(0).text
        assert all(f"{glyph} " in title for glyph in glyphs), title
        assert "both" in title


async def test_a_text_longer_than_its_line_shows_its_end_and_no_scrollbar(make_app: MakeApp) -> None:
    path = "/a folder/" * 20 + "name.mask"
    async with make_app().run_test(size=SIZE) as pilot:
        await design(pilot)
        pilot.app.push_screen(Prompt("Save as", path))
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt) and bool(pilot.app.screen.query(Input)))
        line = pilot.app.screen.query_one(Input)
        await until(pilot, lambda: line.size.width > 0)
        await pilot.pause(0.1)
        assert line.scrollbar_size_horizontal == 0
        assert line.render_line(0).text.rstrip().endswith("name.mask")


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_keys_that_quit_elsewhere_say_which_one_does_here(make_app: MakeApp, key: str) -> None:
    async with make_app(TEXT).run_test(size=SIZE, notifications=True) as pilot:
        await design(pilot)
        await pilot.press(key)
        await until(pilot, lambda: len(pilot.app._notifications) == 1)
        assert [note.message for note in pilot.app._notifications] == ["ctrl+q quits"]
