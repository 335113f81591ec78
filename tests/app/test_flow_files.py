"""Open, save, guard, autosave and changes outside, from key to effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app.document import Document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Question
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.title_bar import TitleBar
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from tests.app.conftest import TEXT, MakeApp
from tests.app.flows import SIZE, answered, app_ended, dialog, text_of
from tests.scenes import design, until


class TestFiles:
    """Open, save, guard, autosave, changes outside."""

    async def test_save_as_writes_and_the_title_follows(self, make_app: MakeApp, tmp_path: Path) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# more\n"
            await pilot.press("ctrl+s")
            await answered(pilot, str(tmp_path / "mine.mask"))
            await until(pilot, lambda: not screen.files.unsaved)
            assert (tmp_path / "mine.mask").read_text(encoding="utf-8") == TEXT + "# more\n"
            assert screen.app.settings.recent == (str(tmp_path / "mine.mask"),)
            assert screen.files.document.name == "mine"

    async def test_quitting_with_unsaved_text_asks(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# more\n"
            await pilot.press("ctrl+q")
            await dialog(pilot, Question)
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)
            assert text_of(screen) == TEXT + "# more\n"
            await pilot.press("ctrl+q")
            await dialog(pilot, Question)
            await pilot.press("tab", "enter")
            await pilot.pause()
        assert app_ended(pilot)

    async def test_quitting_by_the_palette_asks_too(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# more\n"
            await pilot.press("ctrl+p")
            await dialog(pilot, CommandPalette)
            pilot.app.screen.query_one(Input).value = "quit"
            await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
            await pilot.pause(0.2)
            await pilot.press("enter")
            await dialog(pilot, Question)

    async def test_a_killed_session_gives_its_text_back(self, make_app: MakeApp, tmp_path: Path) -> None:
        document = files.write(Document("mine", TEXT), TEXT, tmp_path / "mine.mask")
        async with make_app(document=document).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# typed before the kill\n"
            await pilot.pause()
            screen.files.keep()
        async with make_app(document=document).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            assert text_of(screen) == TEXT + "# typed before the kill\n"
            assert screen.files.unsaved

    async def test_a_change_by_another_program_is_shown_or_told(self, make_app: MakeApp, tmp_path: Path) -> None:
        path = tmp_path / "mine.mask"
        document = files.write(Document("mine", TEXT), TEXT, path)
        async with make_app(document=document).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            path.write_text(TEXT + "# from outside\n", encoding="utf-8")
            await until(pilot, lambda: text_of(screen) == TEXT + "# from outside\n")
            screen.query_one(MaskEditor).text = TEXT + "# mine\n"
            path.write_text(TEXT + "# from outside again\n", encoding="utf-8")
            await pilot.pause(2.2)
            assert text_of(screen) == TEXT + "# mine\n"

    @pytest.mark.parametrize(("keys", "kept"), [((), ""), (("w",), "# mine\n"), (("t",), "# outside\n")])
    async def test_saving_over_a_file_that_another_program_changed_asks(
        self, make_app: MakeApp, tmp_path: Path, keys: tuple[str, ...], kept: str
    ) -> None:
        path = tmp_path / "mine.mask"
        document = files.write(Document("mine", TEXT), TEXT, path)
        async with make_app(document=document).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# mine\n"
            path.write_text(TEXT + "# outside\n", encoding="utf-8")
            screen.files._look_outside()
            assert "changed on disk" in str(screen.query_one(TitleBar).render())
            await pilot.press("ctrl+s")
            await dialog(pilot, Question)
            assert path.read_text(encoding="utf-8") == TEXT + "# outside\n", "not before the answer"
            await pilot.press(*keys, "enter")
            await dialog(pilot, DesignScreen)
            screen.files._look_outside()
            assert ("changed on disk" in str(screen.query_one(TitleBar).render())) is (not keys)
            assert text_of(screen) == TEXT + (kept or "# mine\n")
            assert path.read_text(encoding="utf-8") == TEXT + (kept or "# outside\n")

    async def test_a_file_that_is_only_touched_is_saved_without_a_question(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        path = tmp_path / "mine.mask"
        document = files.write(Document("mine", TEXT), TEXT, path)
        async with make_app(document=document).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TEXT + "# mine\n"
            path.write_text(TEXT, encoding="utf-8")
            await pilot.press("ctrl+s")
            await until(pilot, lambda: path.read_text(encoding="utf-8") == TEXT + "# mine\n")

    async def test_a_library_mask_is_found_by_a_part_of_its_name(self, make_app: MakeApp) -> None:
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("ctrl+o")
            await dialog(pilot, OpenScreen)
            pilot.app.screen.query_one(Input).value = "diffusion"
            await pilot.pause()
            await pilot.press("enter")
            await until(pilot, lambda: screen.files.document.name == "block_diffusion")
            await design(pilot)
            assert screen.files.document.library
            assert screen.picture is not None
            assert screen.picture.name == "block_diffusion"

    async def test_a_mask_that_is_not_there_is_told(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE, notifications=True) as pilot:
            screen = await design(pilot)
            screen.open_named("no_such_mask_at_all")
            await until(pilot, lambda: len(pilot.app._notifications) > 0)
            assert screen.files.document.name == "fake"
