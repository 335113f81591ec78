"""What a mask can be compared with: what the question and the list offer."""

from __future__ import annotations

from pathlib import Path

from compilemask_app.application import Workbench
from compilemask_app.composing.sizes import set_by
from compilemask_app.document import document_of, new_document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.compare_picker import ComparePicker
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.sizes_screen import SizesScreen
from compilemask_app.widgets.mask_editor import MaskEditor
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

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
        await dialog(pilot, OpenScreen)
        found = pilot.app.screen.query_one("#found", OptionList)
        assert _words(found, 0) == "text in the library"
        assert library.names()[0] in _words(found, 1)
        await pilot.press("enter")
        await dialog(pilot, SizesScreen)
        await pilot.press("enter")
        await dialog(pilot, CompareScreen)
        assert "equal masks" in str(pilot.app.screen.query_one("#head", Static).content)


async def test_the_last_mask_and_its_sizes_stand_first(make_app: MakeApp) -> None:
    async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        await pilot.press("k")
        await dialog(pilot, ComparePicker)
        pilot.app.screen.query_one(Input).value = "sliding_window"
        await pilot.pause(0.2)
        await pilot.press("enter")
        await dialog(pilot, SizesScreen)
        window = next(field for field in pilot.app.screen.query(Input).results(Input) if field.name == "size")
        window.value = "9"
        await pilot.press("enter")
        await dialog(pilot, CompareScreen)
        head = str(pilot.app.screen.query_one("#head", Static).content)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert (await _offered(pilot))[0].startswith("again: sliding_window, length 300, size 9")
        await pilot.press("enter")
        await dialog(pilot, CompareScreen)
        assert str(pilot.app.screen.query_one("#head", Static).content) == head
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await screen.files.open_named("causal")
        assert not (await _offered(pilot))[0].startswith("again"), "it belongs to the other file"


def test_the_lines_that_set_the_size_are_named() -> None:
    assert set_by(FIXED.format(640)) == "`token : 640` (line 2) sets the size"
    nested = "layout\n    document repeat 2\n        a : 3  # why\nrules\n    everything sees everything : all\n"
    assert set_by(nested) == "`document repeat 2` (line 2), `a : 3` (line 3) set the size"


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
        fixed = "640 × 640, and no sizes to set: `token : 640` (line 2) sets the size"
        await until(pilot, lambda: fixed in str(app.screen.query_one("#about", Static).content))
        await pilot.press("enter")
        await until(pilot, lambda: any("no sizes to set" in one.message for one in app._notifications))
        assert isinstance(app.screen, ComparePicker), "another one can be chosen"
        await pilot.press("down", "enter")
        await dialog(pilot, CompareScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


def _words(found: OptionList, place: int) -> str:
    return str(found.get_option_at_index(place).prompt)
