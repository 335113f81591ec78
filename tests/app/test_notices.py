"""What the workbench says in passing."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.app.conftest import MakeApp
from tests.app.flows import SIZE
from tests.scenes import design, until


def told(pilot: Pilot[None]) -> list[str]:
    """What stands on the screen."""
    return [note.message for note in pilot.app._notifications]


async def test_the_same_words_stand_there_once(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE, notifications=True) as pilot:
        screen = await design(pilot)
        for _ in range(5):
            await pilot.press("q")
        await until(pilot, lambda: told(pilot) == ["ctrl+q quits"])
        await until(pilot, lambda: len(screen.query("Toast")) == 1)
        await pilot.press("n", "q")
        await until(pilot, lambda: told(pilot) == ["no empty row in this mask", "ctrl+q quits"])


async def test_of_many_the_oldest_goes_and_escape_clears_them(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE, notifications=True) as pilot:
        screen = await design(pilot)
        for number in range(7):
            screen.notify(f"word {number}")
        await until(pilot, lambda: told(pilot) == ["word 4", "word 5", "word 6"])
        await until(pilot, lambda: len(screen.query("Toast")) == 3)
        await pilot.press("escape")
        await until(pilot, lambda: not told(pilot) and not screen.query("Toast"))


async def test_brackets_are_no_markup(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE, notifications=True) as pilot:
        screen = await design(pilot)
        screen.notify("expected [answers] * 2, not [/]")
        await until(pilot, lambda: bool(screen.query("Toast")))
        assert str(screen.query("Toast").first().render()) == "expected [answers] * 2, not [/]"
