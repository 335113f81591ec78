"""A mouse alone is enough: every action of the table can be clicked, and the palette runs it where it belongs."""

from __future__ import annotations

import pytest
from compilemask_app.actions import ACTIONS, Action, Scope, commands
from compilemask_app.commands import ActionCommands
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.design import DesignScreen
from compilemask_app.widgets.mask_view import MaskView, Overlay
from textual.command import CommandPalette
from textual.widgets import Input, OptionList
from textual.widgets._footer import FooterKey

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, dialog, text_of
from tests.scenes import design, until

BY_POINTING = {"up", "down", "left", "right", "up_far", "down_far", "left_far", "right_far", "next_part"}
"""What a click on a cell, a drag and the wheel do."""


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_can_be_clicked(action: Action) -> None:
    offered = {found.id for scope in Scope for found in commands(scope)}
    assert action.footer or action.id in offered or action.id in BY_POINTING


def palette_key(screen: DesignScreen) -> FooterKey | None:
    """The words at the right end of the footer, once it is drawn."""
    return next((key for key in screen.query(FooterKey) if key.description == "palette"), None)


class TestPalette:
    """Opened by a click, with actions of the parts of the screen."""

    async def test_a_click_opens_it_and_a_part_does_its_own(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await until(pilot, lambda: palette_key(screen) is not None)
            await pilot.pause()
            key = palette_key(screen)
            assert key is not None
            await pilot.click(key)
            await dialog(pilot, CommandPalette)
            pilot.app.screen.query_one(Input).value = "repeat"
            await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
            await pilot.pause(0.2)
            await pilot.click(OptionList, offset=(5, 1))
            await answered(pilot, "2")
            await until(pilot, lambda: "prompt : [prompt] * 2" in text_of(screen))

    @pytest.mark.parametrize("id_", ["borders", "double", "add_region", "text_end", "next_head"])
    async def test_actions_find_their_place(self, make_app: MakeApp, id_: str) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            action = next(found for found in ACTIONS if found.id == id_)
            pilot.app.call_next(ActionCommands(screen)._run, action)
            match id_:
                case "borders":
                    await until(pilot, lambda: screen.query_one(MaskView).overlay is Overlay.BORDERS)
                case "double":
                    await until(pilot, lambda: "prompt = 80" in text_of(screen))
                case "add_region":
                    await answered(pilot, "draft : 3")
                    await until(pilot, lambda: "draft : 3" in text_of(screen))
                case _:
                    await pilot.pause()

    async def test_the_overlays_end_in_the_token_order(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("o", "o", "o", "o")
            view = screen.query_one(MaskView)
            await until(pilot, lambda: view.overlay is Overlay.ORDER)
            assert "token order: slot 0, 0" in view.headings()[0]
            shares = view.bars(view.extent)
            assert shares is not None
            assert shares.max() <= 1
