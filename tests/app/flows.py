"""Steps that the tests of flows share: wait for a dialog, answer it, run a command by its words."""

from __future__ import annotations

from compilemask_app.screens.compare_picker import ComparePicker
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.sizes_screen import SizesScreen
from compilemask_app.widgets.mask_editor import MaskEditor
from textual import events
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from tests.scenes import until

SIZE = (110, 36)
TWO = """\
# kept
param prompt = 40, answers = [24] * 3
layout
    prompt : prompt
    answer : answers
rules
    prompt sees prompt : causal   # kept too
    answer sees prompt : all
    answer sees answer : causal within answer
order answer stored by at
"""


def text_of(screen: DesignScreen) -> str:
    """What the editor holds."""
    return screen.query_one(MaskEditor).text


async def dialog(pilot: Pilot[None], kind: type[object]) -> None:
    """Wait for a screen of a kind."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    await pilot.pause()


async def answered(pilot: Pilot[None], text: str) -> None:
    """Type a whole answer into the prompt on the screen."""
    await dialog(pilot, Prompt)
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")


def said(pilot: Pilot[None]) -> str:
    """What stands below the line of the prompt on the screen."""
    return str(pilot.app.screen.query_one(".note", Static).content)


async def compared(pilot: Pilot[None], *keys: str, sizes: bool = True) -> CompareScreen:
    """Compare with what `keys` choose in the list, at the sizes that it offers where `sizes` are asked for."""
    await pilot.press("k")
    await dialog(pilot, ComparePicker)
    await pilot.press(*keys, "enter")
    if sizes:
        await dialog(pilot, SizesScreen)
        await pilot.press("enter")
    await dialog(pilot, CompareScreen)
    assert isinstance(pilot.app.screen, CompareScreen)
    return pilot.app.screen


def app_ended(pilot: Pilot[None]) -> bool:
    """Whether the program has been left."""
    return not pilot.app.is_running


async def command(pilot: Pilot[None], words: str, then: type[object] = DesignScreen) -> None:
    """Run a command of the palette by its words, and wait for the screen that it leads to."""
    await pilot.press("ctrl+p")
    await dialog(pilot, CommandPalette)
    pilot.app.screen.query_one(Input).value = words
    await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
    await pilot.pause(0.2)
    await pilot.press("enter")
    await dialog(pilot, then)


def burst(pilot: Pilot[None], *keys: str) -> None:
    """Keys as a terminal sends them at once: nothing is handled between them. A word is typed letter by letter."""
    names = {" ": "space", ",": "comma", "/": "slash", ":": "colon", "[": "left_square_bracket"}
    for key in keys:
        if key.startswith("'"):
            for letter in key[1:]:
                pilot.app.post_message(events.Key(names.get(letter, letter), letter))
        else:
            pilot.app.post_message(
                events.Key(key, {"plus": "+", "slash": "/"}.get(key, key if len(key) == 1 else None))
            )
