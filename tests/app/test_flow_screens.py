"""The other screens, the palette and what is looked at, from key to effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from compilemask_app import document as files
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.messages import ViewChanged
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.times_screen import TimesScreen
from compilemask_app.widgets.code_view import CodeView
from compilemask_app.widgets.job_bar import Phase
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from textual.widgets import DataTable, Input, Static

from compilemask.worker_protocol import Job
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, TWO, answered, command, compared, dialog
from tests.app.test_jobs import worker
from tests.scenes import design, until


class TestOtherScreens:
    """Compare, read, times, go to, export."""

    async def test_token_orders_are_compared_under_one_viewport(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            screen = await compared(pilot, sizes=False)
            assert screen.comparison.left.rows.visible == screen.comparison.right.rows.visible
            await pilot.press("m", "d", "plus")
            assert len({pane.view for pane in screen.panes}) == 1
            found = screen.comparison
            query, key = screen.view.query_cursor, screen.view.key_cursor
            assert found.left.rows.contains(query, key) != found.right.rows.contains(query, key)
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)

    async def test_an_edit_is_compared_with_the_text_as_saved(self, make_app: MakeApp, tmp_path: Path) -> None:
        saved = files.write(files.new_document(), TWO, tmp_path / "mine.mask")
        async with make_app(document=saved, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TWO.replace("sees prompt : causal", "sees prompt : before")
            await design(pilot)
            shown = await compared(pilot, "down")
            assert shown.comparison.only_left.visible == 40
            assert shown.comparison.only_right.visible == 0

    async def test_a_text_with_errors_is_not_compared(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TWO + "zzz\n"
            await until(pilot, lambda: bool(screen.findings))
            await pilot.press("k")
            await pilot.pause()
            assert pilot.app.screen is screen

    async def test_the_list_of_masks_to_compare_with_says_what_it_is_for(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            await design(pilot)
            await pilot.press("k")
            await dialog(pilot, OpenScreen)
            assert str(pilot.app.screen.query_one(".title", Static).content) == "Compare this mask, 300 × 300, with"

    async def test_compiled_code_is_searched(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("c")
            await until(pilot, lambda: screen.results.board.entry(Job.COMPILE).state.phase is Phase.GOOD)
            await pilot.press("i")
            await dialog(pilot, ReaderScreen)
            view = pilot.app.screen.query_one(CodeView)
            await until(pilot, lambda: len(view.lines) == 100)
            await pilot.press("slash")
            await answered(pilot, "MMA.SYNC")
            await until(pilot, lambda: view.current == 0)
            assert view.matches == tuple(range(0, 100, 10))
            await pilot.press("n", "n", "N")
            assert view.matches[view.current] == 10

    async def test_times_are_kept_and_exported(self, make_app: MakeApp, tmp_path: Path) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("t")
            await until(pilot, lambda: screen.results.board.entry(Job.TIME).state.phase is Phase.GOOD)
            await pilot.press("h")
            await dialog(pilot, TimesScreen)
            assert pilot.app.screen.query_one(DataTable).row_count == 2
            await pilot.press("e")
            await answered(pilot, str(tmp_path / "out.csv"))
            await until(pilot, (tmp_path / "out.csv").exists)
            assert "FlexAttention,3.0" in (tmp_path / "out.csv").read_text(encoding="utf-8")

    async def test_a_cell_is_reached_by_its_numbers(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("g")
            await answered(pilot, "999, 1")
            assert isinstance(pilot.app.screen, Prompt)
            pilot.app.screen.query_one(Input).value = "prompt+1, answer[0]+3"
            await pilot.press("enter")
            await pilot.pause()
            assert isinstance(pilot.app.screen, Prompt)
            pilot.app.screen.query_one(Input).value = "123 45"
            await pilot.press("enter")
            await until(pilot, lambda: screen.view.query_cursor == 123)
            assert screen.view.key_cursor == 45

    async def test_a_second_enter_on_its_way_closes_nothing_more(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE) as pilot:
            await design(pilot)
            await pilot.press("g")
            await dialog(pilot, Prompt)
            prompt = pilot.app.screen
            assert isinstance(prompt, Prompt)
            prompt.answer("1, 1")
            prompt.answer("1, 1")
            await pilot.pause()
            assert isinstance(pilot.app.screen, DesignScreen)

    async def test_the_dense_mask_is_exported(self, make_app: MakeApp, tmp_path: Path) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("f3")
            await answered(pilot, str(tmp_path / "out.npy"))
            await until(pilot, (tmp_path / "out.npy").exists)
            await pilot.pause(0.1)
            assert screen.picture is not None
            assert (np.load(tmp_path / "out.npy") == screen.picture.rows.to_dense()).all()

    async def test_a_snippet_waits_until_the_mask_is_saved(self, make_app: MakeApp, tmp_path: Path) -> None:
        document = files.write(files.new_document(), TWO, tmp_path / "two.mask")
        async with make_app(document=replace(document, begun=TWO + "# more\n"), compile_=Pictures()).run_test(
            size=SIZE
        ) as pilot:
            screen = await design(pilot)
            for written in (False, True):
                await pilot.press("f3")
                await answered(pilot, str(tmp_path / "out.py"))
                await pilot.pause(0.3)
                assert (tmp_path / "out.py").exists() is written
                await pilot.press("escape")
                await design(pilot)
                screen.query_one(MaskEditor).text = TWO
                await until(pilot, lambda: not screen.files.unsaved)
                await design(pilot)

    async def test_export_and_save_as_begin_beside_the_mask(self, make_app: MakeApp, tmp_path: Path) -> None:
        (tmp_path / "masks").mkdir()
        document = files.write(files.new_document(), TWO, tmp_path / "masks" / "two.mask")
        async with make_app(document=document, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            for key, name in (("f3", "two.npy"), ("f2", "two.mask"), ("f10", "")):
                await pilot.press(key)
                await dialog(pilot, Prompt)
                assert pilot.app.screen.query_one(Input).value == f"{tmp_path / 'masks'}/{name}"
                await pilot.press("escape")
                await dialog(pilot, DesignScreen)


class TestPalette:
    """Everything by words."""

    async def test_an_action_a_mask_and_a_setting_are_run_by_their_words(self, make_app: MakeApp) -> None:
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await command(pilot, "tile size")
            await until(pilot, lambda: screen.choice.block_n == 64)
            await command(pilot, "palette cividis")
            await until(pilot, lambda: screen.query_one(MaskView).palette == "cividis")
            assert screen.app.settings.palette == "cividis"
            await command(pilot, "open swin_shifted")
            await until(pilot, lambda: screen.files.document.name == "swin_shifted")


class TestLooking:
    """Samples, heads, tile sizes, order."""

    async def test_the_next_head_and_sample_are_shown_and_named(self, make_app: MakeApp) -> None:
        from compilemask import library

        path = library.locate("local_global_heads")
        async with make_app(path.read_text(encoding="utf-8"), compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            assert screen.picture is not None
            first = screen.picture
            await pilot.press("d")
            await until(pilot, lambda: screen.picture is not first)
            assert screen.picture.choice.head == 1
            assert f"head 1 of {first.heads}" in str(screen.query_one("TitleBar").render())

    async def test_another_tile_size_needs_no_compilation(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            first = screen.picture
            assert first is not None
            await pilot.press("T")
            await until(pilot, lambda: screen.picture is not first)
            assert screen.picture is not None
            assert (screen.picture.tiles.block_m, screen.picture.tiles.block_n) == (128, 64)
            assert screen.picture.rows is first.rows

    async def test_the_cursor_of_the_tile_map_counts_slots_of_the_kernel(self, make_app: MakeApp) -> None:
        text = TWO.replace("stored by at", "stored by -at")
        async with make_app(text, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            assert screen.picture is not None
            screen.go_to_cell(60, 45)
            await pilot.pause()
            tiles = next(pane for pane in screen.panes if pane.in_slots)
            assert (tiles.view.query_cursor, tiles.view.key_cursor) == screen.picture.slots_of(60, 45)
            tiles.post_message(ViewChanged(tiles.view, True))
            await pilot.pause()
            assert (screen.view.query_cursor, screen.view.key_cursor) == (60, 45)
