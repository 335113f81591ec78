"""Keys that come faster than what they open: all of a burst reach what they are meant for."""

from __future__ import annotations

import pytest
from compilemask_app import type_ahead
from compilemask_app.application import Workbench
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.relation_screen import RelationScreen
from compilemask_app.widgets.code_view import CodeView
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from textual import events
from textual.widgets import Input

from compilemask.measure.report import CompileReport
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, burst, text_of
from tests.scenes import design, recorded, until


async def test_a_cell_is_reached_by_one_burst(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        burst(pilot, "g", "home", *["delete"] * 6, "'123,45", "enter", "right")
        await until(pilot, lambda: screen.view.query_cursor == 123 and pilot.app.screen is screen)
        await until(pilot, lambda: screen.view.key_cursor > 45)


async def test_letters_after_e_are_text(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        before = text_of(screen)
        burst(pilot, "e", "ctrl+home", "'# mine v c t 0", "enter", "escape", "e", "'qq", "escape", "r", "right")
        await until(pilot, lambda: text_of(screen) == f"# mine v c t 0\nqq{before}")
        assert isinstance(pilot.app, Workbench)
        assert not pilot.app._notifications, "no letter was a command"


async def test_a_search_in_the_reader_takes_all_its_letters(make_app: MakeApp) -> None:
    report = recorded("compile").report
    assert isinstance(report, CompileReport)
    async with make_app().run_test(size=SIZE) as pilot:
        await design(pilot)
        reader = ReaderScreen(report, outdated=False)
        pilot.app.push_screen(reader)
        burst(pilot, "slash", "'mov.n", "enter")
        await until(pilot, lambda: reader.is_mounted and reader.query_one(CodeView).sought == "mov.n")


async def test_a_mask_is_composed_in_one_burst(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        burst(
            pilot,
            "r",
            "enter",
            "'self",
            "enter",
            "down",
            "plus",
            "'draft : 16",
            "enter",
            "up",
            "right",
            "enter",
            "'befo",
            "enter",
        )
        await until(pilot, lambda: "answer sees answer : before" in text_of(screen))
        assert "prompt sees prompt : self" in text_of(screen)
        assert "    answer : answers\n    draft : 16\n" in text_of(screen)


async def test_the_palette_takes_the_letters_after_its_key(make_app: MakeApp) -> None:
    async with make_app(TWO).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        burst(pilot, "ctrl+p", "'sizes")
        await until(
            pilot, lambda: not isinstance(pilot.app.screen, DesignScreen) and bool(pilot.app.screen.query(Input))
        )
        await until(pilot, lambda: pilot.app.screen.query_one(Input).value == "sizes")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(screen.focused, ParameterSteppers))


async def test_a_dialog_that_never_comes_holds_nothing_up_for_good(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        pilot.app.on_key_handled = lambda message: None  # type: ignore[attr-defined]
        burst(pilot, "m", "m", "g", "'1")
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt), seconds=30)
        await until(pilot, lambda: pilot.app.screen.query_one(Input).value.endswith("1"))
        assert screen.view.query_cursor == 0


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
async def test_a_paste_waits_for_the_prompt_too(make_app: MakeApp, size: tuple[int, int]) -> None:
    async with make_app().run_test(size=size) as pilot:
        await design(pilot)
        before = text_of(await design(pilot))
        burst(pilot, "f2")
        pilot.app.post_message(events.Paste("/pasted"))
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
        await until(pilot, lambda: pilot.app.screen.query_one(Input).value.endswith("/pasted"))
        assert isinstance(pilot.app, Workbench)
        assert pilot.app.design is not None
        assert pilot.app.design.query_one(MaskEditor).text == before


async def test_keys_after_the_list_of_relations_belong_to_it(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        screen.action_focus_matrix()
        await pilot.pause(0.1)
        burst(pilot, "enter", "'wi")
        await until(pilot, lambda: isinstance(pilot.app.screen, RelationScreen))
        await until(pilot, lambda: pilot.app.screen.query_one(Input).value == "wi")


async def test_letters_after_a_refusal_are_no_commands(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with make_app(TWO.replace("rules", "rules ("), compile_=Pictures()).run_test(size=SIZE) as pilot:
        app = pilot.app
        assert isinstance(app, Workbench)
        await until(pilot, lambda: app.design is not None and bool(app.design.findings))
        screen = app.design
        assert screen is not None
        view = screen.query_one(RegionMatrixView)
        monkeypatch.setattr(type_ahead, "PAUSE_S", 60.0)
        burst(pilot, "r", "enter", "'self", "enter", "down", "f4", "'vea", "backspace")
        await until(pilot, lambda: view.row == 1)
        await pilot.pause(0.2)
        assert screen.focused is view, "`e` and `a` went nowhere"
        assert [one.message for one in app._notifications] == ["line 6 has an error of form; mend it first"]
        burst(pilot, "escape", "e", "ctrl+home", "'xyz")
        await until(pilot, lambda: text_of(screen).startswith("xyz"))


async def test_keys_are_commands_again_after_a_pause(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with make_app(TWO.replace("rules", "rules ("), compile_=Pictures()).run_test(size=SIZE) as pilot:
        app = pilot.app
        assert isinstance(app, Workbench)
        await until(pilot, lambda: app.design is not None and bool(app.design.findings))
        assert app.design is not None
        screen = app.design
        monkeypatch.setattr(type_ahead, "PAUSE_S", 0.0)
        await pilot.press("r", "enter")
        await until(pilot, lambda: bool(app._notifications))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(screen.focused, ParameterSteppers))
