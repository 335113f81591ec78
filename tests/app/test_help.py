"""The help: a key is found by what one knows of it, and those of the screen below stand first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compilemask_app.actions import ACTIONS, Scope
from compilemask_app.keys import readable_keys
from compilemask_app.screens.help_screen import HelpScreen, matching
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.screens.times_screen import TimesScreen
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from compilemask.worker_protocol import Job
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, dialog
from tests.app.test_results import lines_of
from tests.scenes import design, replay, until

KEYS = {action.id: readable_keys(action.keys) for action in ACTIONS}


def found(typed: str) -> list[str]:
    return [action.id for action in matching(typed, KEYS)]


async def help_of(pilot: Pilot[None]) -> HelpScreen:
    await pilot.press("f1")
    await dialog(pilot, HelpScreen)
    shown = pilot.app.screen
    assert isinstance(shown, HelpScreen)
    return shown


def sections(shown: HelpScreen) -> list[str]:
    """The places that are shown, in their order."""
    return [section.id or "" for section in shown.query_one("#keys").query(Static) if section.display]


def test_a_key_a_word_and_a_place_are_found() -> None:
    assert found("f8") == ["format"]
    assert set(found("n")) == {"next_empty", "found"}
    assert found("N") == ["last_empty", "found_before"]
    assert "zoom_in" in found("closer cursor")
    assert set(found("compile reader")) >= {action.id for action in ACTIONS if action.scope is Scope.READER}
    assert found("esc")[0] == next(action.id for action in ACTIONS if action.keys.startswith("escape"))
    assert found("") == [action.id for action in ACTIONS]
    assert found("no such thing") == []


async def test_what_is_typed_leaves_only_what_matches(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        await design(pilot)
        shown = await help_of(pilot)
        await pilot.press(*"overlay")
        await until(pilot, lambda: sections(shown) == ["keys-MAP"])
        words = "\n".join(lines_of(shown))
        assert "Overlay: none, tile borders" in words
        assert f"1 of {len(ACTIONS)}" in words
        await pilot.press(*"zz")
        await until(pilot, lambda: "none does that" in "\n".join(lines_of(shown)))


@pytest.mark.parametrize(("keys", "first"), [((), Scope.MAP), (("e",), Scope.EDITOR), (("r",), Scope.MATRIX)])
async def test_the_place_that_has_the_keys_stands_first(make_app: MakeApp, keys: tuple[str, ...], first: Scope) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        await design(pilot)
        await pilot.press(*keys)
        await pilot.pause(0.1)
        shown = await help_of(pilot)
        assert sections(shown)[:3] == [f"keys-{scope.name}" for scope in (first, Scope.DESIGN, Scope.EVERYWHERE)]
        assert len(sections(shown)) == len(Scope)


@pytest.mark.parametrize(("key", "kind", "first"), [("V", ProofScreen, Scope.PROOF), ("h", TimesScreen, Scope.TIMES)])
async def test_other_screens_have_their_own_keys_first(
    make_app: MakeApp, key: str, kind: type[object], first: Scope
) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        replay(screen, Job.VALIDATE, "validate_green")
        await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).report is not None)
        await pilot.press(key)
        await dialog(pilot, kind)
        shown = await help_of(pilot)
        assert sections(shown)[0] == f"keys-{first.name}"
        await pilot.press("escape")
        await dialog(pilot, kind)


async def test_tab_and_the_list_go_from_place_to_place(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(120, 30)) as pilot:
        await design(pilot)
        shown = await help_of(pilot)
        scroll, places = shown.query_one("#keys", VerticalScroll), shown.query_one("#places", OptionList)
        await pilot.press("tab")
        await until(pilot, lambda: scroll.scroll_offset.y == shown.query_one("#keys-DESIGN").virtual_region.y)
        assert places.highlighted == 1
        await pilot.press("shift+tab")
        await until(pilot, lambda: scroll.scroll_offset.y == 0)
        await pilot.press("down")
        await until(pilot, lambda: scroll.scroll_offset.y == 1)
        await pilot.click(places, offset=(3, shown.places.index(Scope.READER)))
        reader = shown.query_one("#keys-READER")
        await until(pilot, lambda: scroll.region.contains_region(reader.region) and scroll.scroll_offset.y > 1)
        assert isinstance(shown.focused, Input)


async def test_a_key_that_was_given_to_an_action_is_the_one_that_is_shown_and_found(make_app: MakeApp) -> None:
    app = make_app()
    app.settings = replace(app.settings, keys=(("cells", "y"),))
    async with app.run_test(size=SIZE) as pilot:
        await design(pilot)
        shown = await help_of(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "Down to single cells" in "\n".join(lines_of(shown)))
