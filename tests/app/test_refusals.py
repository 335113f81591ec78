"""A dialog that refuses an answer stays open with what was typed, under the reason; letters never become commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.relation_screen import RelationScreen
from textual.widgets import Input, Static

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, burst, dialog, said, text_of
from tests.scenes import design, until


@pytest.mark.parametrize(
    ("key", "typed", "reason"),
    [
        ("f3", "out.xyz", "the ending says the form"),
        ("f3", "no_such_folder/out.npy", "the folder no_such_folder does not exist"),
        ("f10", "no_such_file.npy", "no_such_file.npy"),
        ("g", "4, 99999", "keys to 111"),
    ],
)
async def test_a_refused_answer_stays_in_its_line(make_app: MakeApp, key: str, typed: str, reason: str) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press(key)
        await dialog(pilot, Prompt)
        burst(pilot, f"'{typed}", "enter")
        await until(pilot, lambda: reason in said(pilot))
        await pilot.press("c", "e")
        assert isinstance(pilot.app.screen, Prompt)
        assert pilot.app.screen.query_one(Input).value == f"{typed}ce"
        assert text_of(screen) == TWO


async def test_a_refused_export_is_written_once_its_name_is_right(make_app: MakeApp, tmp_path: Path) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        await design(pilot)
        await pilot.press("f3")
        await dialog(pilot, Prompt)
        burst(pilot, f"'{tmp_path / 'out'}", "enter")
        await until(pilot, lambda: "the ending says the form" in said(pilot))
        burst(pilot, "'.npy", "enter")
        await until(pilot, (tmp_path / "out.npy").exists)
        await design(pilot)


async def test_a_mask_that_is_not_there_is_refused_in_the_list(make_app: MakeApp) -> None:
    async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("ctrl+o")
        await dialog(pilot, OpenScreen)
        await pilot.press(*"nowhere", "enter")
        about = pilot.app.screen.query_one("#about", Static)
        await until(pilot, lambda: "enter opens" not in str(about.content))
        assert "nowhere" in str(about.content)
        await pilot.press("c")
        assert isinstance(pilot.app.screen, OpenScreen)
        assert pilot.app.screen.query_one(Input).value == "nowherec"
        assert screen.files.document.name == "fake"


class TestUnknownNames:
    """One policy for relations, sizes and repeats: refused in the compiler's words, a parameter offered for a name."""

    async def test_a_relation_with_an_error_is_refused(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            burst(pilot, "'window(behind=-,ahead=0)", "enter")
            await until(pilot, lambda: bool(said(pilot)))
            assert isinstance(pilot.app.screen, RelationScreen)
            assert "enter again" not in said(pilot)
            assert text_of(screen) == TWO
            await pilot.press("x")
            assert not said(pilot), "another answer"

    async def test_a_relation_takes_the_parameter_that_it_needs_at_once(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            burst(pilot, "'window(behind=reach,ahead=0)", "enter")
            await until(pilot, lambda: "`reach` is not known" in said(pilot))
            assert "enter again adds  param reach = 64" in said(pilot)
            assert text_of(screen) == TWO
            await pilot.press("enter")
            await until(pilot, lambda: "param reach = 64" in text_of(screen))
            assert "prompt sees prompt : window(behind=reach,ahead=0)" in text_of(screen)
            await design(pilot)
            await pilot.press("ctrl+z")
            assert text_of(screen) == TWO

    @pytest.mark.parametrize(
        ("key", "typed", "line"),
        [
            ("plus", "extra : more * 2", "    extra : more * 2"),
            ("s", "more", "    prompt : more"),
            ("asterisk", "more", "    prompt : [prompt] * more"),
        ],
    )
    async def test_a_size_takes_the_parameter_that_it_needs(
        self, make_app: MakeApp, key: str, typed: str, line: str
    ) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", key)
            await dialog(pilot, Prompt)
            burst(pilot, f"'{typed}", "enter")
            await until(pilot, lambda: "enter again adds  param more = 64" in said(pilot))
            assert text_of(screen) == TWO
            await pilot.press("enter")
            await until(pilot, lambda: "param more = 64" in text_of(screen))
            assert line in text_of(screen).splitlines()
            assert not [one for one in screen.findings if one.severity.value == "error"]
