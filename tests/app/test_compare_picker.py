"""What a mask can be compared with: what the question and the list offer."""

from __future__ import annotations

from pathlib import Path

from compilemask_app.application import Workbench
from compilemask_app.document import document_of, new_document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.dialogs import Question
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.widgets.answer_button import AnswerButton
from compilemask_app.widgets.mask_editor import MaskEditor
from textual.pilot import Pilot
from textual.widgets import OptionList

from compilemask import library
from tests.app.conftest import TEXT, MakeApp
from tests.app.flows import SIZE, dialog
from tests.scenes import design, until


async def test_a_mask_is_not_compared_with_itself(make_app: MakeApp, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.mask", tmp_path / "other.mask"
    for path in (mine, other):
        path.write_text(TEXT, encoding="utf-8")
    async with make_app(document=document_of(str(mine)), compile_=Pictures()).run_test(size=SIZE) as pilot:
        assert isinstance(pilot.app, Workbench)
        pilot.app.remember_opened(other)
        pilot.app.remember_opened(mine)
        assert await _offered(pilot) == ["other.mask  recent", *library.names()]
        screen = await design(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await screen.files.open_named("causal")
        assert await _offered(pilot) == [
            "mine.mask  recent",
            "other.mask  recent",
            *(name for name in library.names() if name != "causal"),
        ]


async def test_only_a_text_that_was_saved_is_compared_as_saved(make_app: MakeApp) -> None:
    async with make_app(document=new_document(), compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        screen.query_one(MaskEditor).insert("# changed\n")
        await design(pilot)
        await pilot.press("k")
        await dialog(pilot, OpenScreen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        screen.query_one(MaskEditor).undo()
        await screen.files.open_named("causal")
        screen.query_one(MaskEditor).insert("# changed\n")
        await design(pilot)
        await pilot.press("k")
        await dialog(pilot, Question)
        labels = [button.answer for button in pilot.app.screen.query(AnswerButton)]
        assert labels == ["Text in the library", "Another mask"]


async def _offered(pilot: Pilot[None]) -> list[str]:
    """What the list of masks to compare with holds."""
    await design(pilot)
    await pilot.press("k")
    await dialog(pilot, OpenScreen)
    found = pilot.app.screen.query_one("#found", OptionList)
    return [str(found.get_option_at_index(place).prompt) for place in range(found.option_count)]
