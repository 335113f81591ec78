"""What a mask can be compared with: what the question and the list offer."""

from __future__ import annotations

from pathlib import Path

from compilemask_app.application import Workbench
from compilemask_app.document import document_of, new_document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.compare_picker import ComparePicker
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.dialogs import Question
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.widgets.answer_button import AnswerButton
from compilemask_app.widgets.mask_editor import MaskEditor
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

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
        assert await _offered(pilot) == ["other.mask", *library.names()]
        screen = await design(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await screen.files.open_named("causal")
        assert await _offered(pilot) == [
            "mine.mask",
            "other.mask",
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
    return [
        str(found.get_option_at_index(place).prompt).removeprefix("≠ ").split("  ")[0]
        for place in range(found.option_count)
    ]


FIXED = "layout\n    token : {}\nrules\n    token sees token : causal\n"


async def test_masks_of_other_lengths_are_marked_and_never_a_dead_end(make_app: MakeApp, tmp_path: Path) -> None:
    texts = {"same": FIXED.format(300), "long": FIXED.format(640), "broken": "layout\n    token : nothing\n"}
    paths = {name: tmp_path / f"{name}.mask" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text, encoding="utf-8")
    async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
        app = pilot.app
        assert isinstance(app, Workbench)
        for path in paths.values():
            app.remember_opened(path)
        screen = await design(pilot)
        await pilot.press("k")
        await dialog(pilot, ComparePicker)
        found = app.screen.query_one("#found", OptionList)
        await until(pilot, lambda: _words(found, 0).startswith("≠"))
        assert [_words(found, place) for place in range(3)] == [
            "≠ broken.mask  recent  does not compile",
            "≠ long.mask  recent  640 × 640",
            "same.mask  recent",
        ]
        assert "300 × 300" in str(app.screen.query_one(".title", Static).content)
        await pilot.press("down")
        await until(
            pilot, lambda: "640 × 640, and no sizes to set" in str(app.screen.query_one("#about", Static).content)
        )
        await pilot.press("enter")
        await until(pilot, lambda: any("no sizes to set" in one.message for one in app._notifications))
        assert isinstance(app.screen, ComparePicker), "another one can be chosen"
        await pilot.press("down", "enter")
        await dialog(pilot, CompareScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


def _words(found: OptionList, place: int) -> str:
    return str(found.get_option_at_index(place).prompt)
