"""Questions with answers on buttons: keys, what shows without colour, and little room."""

from __future__ import annotations

import pytest
from compilemask_app.screens.dialogs import Question
from compilemask_app.widgets.answer_button import AnswerButton
from textual.pilot import Pilot

from tests.app.conftest import MakeApp
from tests.app.flows import dialog
from tests.scenes import design, until

FORMS = ("FlashMask bounds", "Documents", "Documents, causal", "Dense array")
ANSWERS = ("Save", "Discard", "Stay")


async def asked(pilot: Pilot[None], answers: tuple[str, ...] = ANSWERS) -> list[str | None]:
    """Where the answer will stand."""
    given: list[str | None] = []
    await design(pilot)
    pilot.app.push_screen(Question("Unsaved", "There is text.", answers), given.append)
    await dialog(pilot, Question)
    return given


def shown(pilot: Pilot[None]) -> list[str]:
    """The words of the buttons as drawn."""
    return [str(button.render()).strip() for button in pilot.app.screen.query(AnswerButton)]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ((), "Save"),
        (("right",), "Discard"),
        (("down", "down"), "Stay"),
        (("left",), "Stay"),
        (("right", "up"), "Save"),
        (("tab",), "Discard"),
        (("d",), "Discard"),
        (("x", "7"), "Save"),
    ],
)
async def test_keys_go_to_an_answer_and_enter_gives_it(make_app: MakeApp, keys: tuple[str, ...], answer: str) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        given = await asked(pilot)
        await pilot.press(*keys)
        assert shown(pilot) == [f"[{one}]" if one == answer else one for one in ANSWERS]
        assert not given, "only enter answers"
        await pilot.press("enter")
        await until(pilot, lambda: given == [answer])


async def test_escape_gives_no_answer(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        given = await asked(pilot)
        await pilot.press("right", "escape")
        await until(pilot, lambda: given == [None])


@pytest.mark.parametrize(("width", "answers", "rows"), [(60, FORMS, 4), (100, FORMS, 4), (60, ANSWERS, 1)])
async def test_many_answers_stay_in_view(make_app: MakeApp, width: int, answers: tuple[str, ...], rows: int) -> None:
    async with make_app().run_test(size=(width, 20)) as pilot:
        await asked(pilot, answers)
        await pilot.pause()
        screen = pilot.app.screen
        buttons = list(screen.query(AnswerButton))
        assert len({button.region.y for button in buttons}) == rows
        box = screen.query_one("Dialog > Vertical").region
        assert all(box.contains_region(button.region) for button in buttons)
        assert all(button.region.width >= len(button.answer) + 2 for button in buttons)
