"""What a person does on the screens, from key to effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compilemask_app import document as files
from compilemask_app.application import Workbench
from compilemask_app.document import Document
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.messages import ViewChanged, WorkerLost, WorkerReplied
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt, Question
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.relation_screen import RelationScreen
from compilemask_app.screens.times_screen import TimesScreen
from compilemask_app.widgets.code_view import CodeView
from compilemask_app.widgets.completion_list import CompletionList
from compilemask_app.widgets.diagnostics_panel import DiagnosticsPanel
from compilemask_app.widgets.job_bar import JobBar, JobState, Phase
from compilemask_app.widgets.line_note import LineNote
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, OptionList

from compilemask.measure.timing import NO_GPU
from compilemask.worker_protocol import Job
from tests.app.conftest import TEXT, MakeApp
from tests.app.test_jobs import worker
from tests.scenes import design, until

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


class TestJobs:
    """v, c, t."""

    async def test_the_three_jobs_end_in_their_lines(self, make_app: MakeApp) -> None:
        seen: list[object] = []
        app = make_app(worker=worker("no gpu"))
        async with app.run_test(size=SIZE, message_hook=seen.append) as pilot:
            screen = await design(pilot)
            await pilot.press("v", "c", "t")
            await until(pilot, lambda: not screen.board.busy() and screen.board.entry(Job.TIME).state.text != "")
            states = screen.board.states(screen.fingerprint)
            assert [states[job].phase for job in Job] == [Phase.GOOD, Phase.GOOD, Phase.UNABLE]
            assert "there is no GPU" in states[Job.TIME].text
            assert any(isinstance(message, WorkerReplied) for message in seen)
            screen.query_one(MaskEditor).text = TEXT + "\n"
            await design(pilot)
            assert screen.board.states(screen.fingerprint)[Job.VALIDATE].outdated

    async def test_a_failing_validation_selects_the_first_wrong_cell(self, make_app: MakeApp) -> None:
        async with make_app(TEXT + "# red\n", worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.BAD)
            assert (screen.view.query_cursor, screen.view.key_cursor) == (9, 3)
            assert screen.query_one(MaskView).wrong == (9, 3)
            assert "query 9, key 3: expected visible, found hidden" in screen.board.entry(Job.VALIDATE).state.text

    async def test_results_are_kept_for_each_mask(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            first = screen.files.document
            screen.open_named("causal")
            await until(pilot, lambda: screen.files.document.name == "causal")
            assert screen.board.entry(Job.VALIDATE).state.phase is Phase.IDLE
            screen.files._show(first)
            await design(pilot)
            state = screen.board.states(screen.fingerprint)[Job.VALIDATE]
            assert (state.phase, state.outdated) == (Phase.GOOD, False)

    async def test_an_old_result_is_marked_where_no_narrow_line_cuts_it(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=(60, 20)) as pilot:
            screen = await design(pilot)
            await pilot.press("v", "c")
            await until(pilot, lambda: not screen.board.busy() and screen.board.entry(Job.COMPILE).report is not None)
            bar = screen.query_one(JobBar)
            await until(pilot, lambda: "✓ registers" in str(bar.render()))
            assert "old" not in str(bar.render())
            screen.query_one(MaskEditor).text = TEXT + "#"
            await design(pilot)
            for line in str(bar.render()).split("\n")[:2]:
                assert line[11:].startswith("~ old: ")
                assert "✓" not in line

    async def test_a_result_is_old_as_soon_as_the_text_changes_even_to_one_that_is_wrong(
        self, make_app: MakeApp
    ) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            screen.query_one(MaskEditor).text = TEXT + "wrong"
            await until(pilot, lambda: bool(screen.findings))
            assert "~ old: proved" in str(screen.query_one(JobBar).render())
            screen.query_one(MaskEditor).text = TEXT
            await until(pilot, lambda: not screen.findings)
            assert "✓ proved" in str(screen.query_one(JobBar).render())

    async def test_every_new_mask_has_results_of_its_own(self, make_app: MakeApp) -> None:
        document = files.new_document()
        async with make_app(document=document, worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            await pilot.press("ctrl+n")
            await until(pilot, lambda: screen.files.document is not document)
            assert screen.files.document.name == document.name
            assert screen.board.entry(Job.VALIDATE).state.phase is Phase.IDLE

    async def test_results_go_with_the_text_when_it_is_saved_under_a_name(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            await pilot.press("ctrl+s")
            await answered(pilot, str(tmp_path / "mine.mask"))
            await until(pilot, lambda: screen.files.document.name == "mine")
            await pilot.press("e", "z", "z", "ctrl+z")
            await until(pilot, lambda: text_of(screen) == TEXT)
            await design(pilot)
            state = screen.query_one(JobBar).states[Job.VALIDATE]
            assert (state.phase, state.outdated) == (Phase.GOOD, False)

    async def test_a_result_counts_for_the_values_it_was_made_with(self, make_app: MakeApp) -> None:
        document = Document("fake", TEXT, parameters=(("documents", [64, 64]),))
        async with make_app(document=document, worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            before = screen.fingerprint
            screen.files.document = replace(document, parameters=())
            assert screen.fingerprint != before

    async def test_reading_code_while_it_compiles_says_that_it_compiles(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("slow")).run_test(size=SIZE, notifications=True) as pilot:
            screen = await design(pilot)
            await pilot.press("c")
            await until(pilot, lambda: screen.board.entry(Job.COMPILE).state.phase is Phase.RUNNING)
            await pilot.press("i")
            await until(pilot, lambda: bool(pilot.app.screen.query("Toast")))
            toast = pilot.app.screen.query("Toast").first()
            assert "it is compiling" in str(toast.render())
            await until(pilot, lambda: 0 < toast.region.bottom <= screen.query_one(JobBar).region.y)

    @pytest.mark.parametrize("size", [(60, 20), (100, 30), (160, 45)])
    async def test_that_there_is_no_gpu_is_told_within_the_line(self, make_app: MakeApp, size: tuple[int, int]) -> None:
        async with make_app().run_test(size=size) as pilot:
            screen = await design(pilot)
            bar = screen.query_one(JobBar)
            bar.states = {Job.TIME: JobState(Phase.UNABLE, NO_GPU)}
            line = str(bar.render()).split("\n")[2]
            useful = line[: bar.content_region.width]
            assert "no CUDA GPU on this machine" in useful
            assert size[0] < 160 or useful == line

    async def test_x_cancels(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("slow")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.RUNNING)
            await pilot.press("x")
            await until(pilot, lambda: not screen.board.busy())
            assert screen.board.entry(Job.VALIDATE).state.text == "cancelled"

    async def test_a_crash_loses_nothing_and_the_next_job_runs(self, make_app: MakeApp) -> None:
        seen: list[object] = []
        async with make_app(worker=worker("crash")).run_test(size=SIZE, message_hook=seen.append) as pilot:
            screen = await design(pilot)
            editor = screen.query_one(MaskEditor)
            editor.text = TEXT + "# mine\n"
            await pilot.press("t")
            await until(pilot, lambda: screen.board.entry(Job.TIME).state.phase is Phase.BAD)
            assert "illegal memory access" in screen.board.entry(Job.TIME).state.text
            assert sum(isinstance(message, WorkerLost) for message in seen) >= 1
            assert text_of(screen).endswith("# mine\n")
            await pilot.press("v")
            await until(pilot, lambda: screen.board.entry(Job.VALIDATE).state.phase is Phase.BAD)


class TestComposing:
    """Matrix, steppers, relations: all of it is text."""

    async def test_a_relation_is_picked_with_a_preview_and_undone(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "enter")
            await dialog(pilot, RelationScreen)
            found = pilot.app.screen.query_one("#found", OptionList)
            assert found.highlighted == 1
            await pilot.press("down", "enter")
            await design(pilot)
            assert text_of(screen) == TWO.replace("prompt sees prompt : causal ", "prompt sees prompt : before ")
            screen.query_one(MaskEditor).undo()
            await pilot.pause()
            assert text_of(screen) == TWO
            matrix = screen.query_one(RegionMatrixView).matrix
            assert matrix is not None
            assert matrix.summary(0, 0) == "causal"

    async def test_regions_are_added_renamed_resized_and_hidden_from_the_keyboard(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("r", "down", "plus")
            await answered(pilot, "draft : 16")
            await design(pilot)
            await pilot.press("f4")
            await answered(pilot, "reply")
            await design(pilot)
            assert "    reply : answers\n    draft : 16\n" in text_of(screen)
            assert "reply sees reply : causal within reply" in text_of(screen)
            await pilot.press("s")
            await answered(pilot, "[8] * 2")
            await design(pilot)
            assert "    reply : [8] * 2\n" in text_of(screen)
            await pilot.press("delete")
            await design(pilot)
            assert "reply sees prompt" not in text_of(screen)
            assert "# kept too" in text_of(screen)

    async def test_a_text_with_errors_of_form_locks_the_matrix(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TWO.replace("rules", "rules (")
            await pilot.press("r", "delete")
            await pilot.pause()
            assert screen.query_one(RegionMatrixView).locked
            assert text_of(screen) == TWO.replace("rules", "rules (")

    async def test_steppers_redraw_while_they_step(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("a", "right", "down", "down", "right")
            screen = await design(pilot)
            assert "param prompt = 42, answers = [24] * 4" in text_of(screen)
            assert screen.picture is not None
            assert screen.picture.query_length == 42 + 4 * 24
            assert screen.query_one(ParameterSteppers).chosen == 2

    async def test_words_are_completed(self, make_app: MakeApp) -> None:
        async with make_app(TWO).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            editor = screen.query_one(MaskEditor)
            screen.show_line(9, 50)
            await pilot.pause()
            editor.insert("\n    answer sees an")
            await pilot.pause()
            offered = screen.query_one(CompletionList)
            assert offered.is_open
            await pilot.press("enter")
            assert "    answer sees answer" in text_of(screen)
            assert not offered.is_open

    async def test_enter_keeps_the_indentation_and_opens_blocks(self, make_app: MakeApp) -> None:
        async with make_app("layout").run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.show_line(1, 7)
            await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
            await pilot.press("enter", "a", "enter", "b", "enter", "enter", "c")
            assert text_of(screen) == "layout\n    a\n    b\n\nc"
            await pilot.press("left", "enter", "space", "space", "space", "space", "space", "backspace")
            assert text_of(screen) == "layout\n    a\n    b\n\n\n    c"

    async def test_what_is_wrong_stands_under_the_line(self, make_app: MakeApp) -> None:
        async with make_app(TWO.replace("within answer", "within answr"), compile_=Pictures()).run_test(
            size=SIZE
        ) as pilot:
            app = pilot.app
            assert isinstance(app, Workbench)
            await until(pilot, lambda: app.design is not None and bool(app.design.findings))
            assert app.design is not None
            app.design.show_line(9, 30)
            note = app.design.query_one(LineNote)
            await until(pilot, lambda: note.has_class("open"))
            assert "answr" in str(note.content)

    async def test_the_line_being_typed_stays_in_view_when_an_error_takes_its_room(self, make_app: MakeApp) -> None:
        text = "\n".join(
            [*TWO.splitlines()[:8], *["    # a line"] * 6, "    answer sees answer : causal within answer"]
        )
        async with make_app(text, compile_=Pictures()).run_test(size=(60, 20)) as pilot:
            screen = await design(pilot)
            editor, note, panel = (
                screen.query_one(MaskEditor),
                screen.query_one(LineNote),
                screen.query_one(DiagnosticsPanel),
            )
            screen.show_line(15, 100)
            await pilot.pause(0.1)
            assert not panel.display
            await pilot.press("x")
            await until(pilot, lambda: panel.display and note.has_class("open"))
            await pilot.pause(0.1)
            line = editor.cursor_screen_offset.y
            assert editor.region.y <= line < editor.region.bottom
            assert not note.region.y <= line < note.region.bottom
            assert editor.region.contains_region(note.region)

    async def test_f8_formats_and_f8_again_changes_nothing(self, make_app: MakeApp) -> None:
        async with make_app(TWO.replace("answer sees prompt : all", "answer   sees prompt:all")).run_test(
            size=SIZE
        ) as pilot:
            screen = await design(pilot)
            await pilot.press("e")
            await until(pilot, lambda: isinstance(screen.focused, MaskEditor))
            await pilot.press("f8")
            formatted = text_of(screen)
            assert "# kept" in formatted
            assert "sees prompt:all" not in formatted
            await pilot.press("f8")
            assert text_of(screen) == formatted


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


class TestOtherScreens:
    """Compare, read, times, go to, export."""

    async def test_token_orders_are_compared_under_one_viewport(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            await pilot.press("k")
            await dialog(pilot, Question)
            await pilot.press("enter")
            await dialog(pilot, CompareScreen)
            screen = pilot.app.screen
            assert isinstance(screen, CompareScreen)
            assert screen.comparison.left.rows.visible == screen.comparison.right.rows.visible
            await pilot.press("m", "d", "plus")
            assert len({pane.view for pane in screen.panes}) == 1
            found = screen.comparison
            query, key = screen.view.query_cursor, screen.view.key_cursor
            assert found.left.rows.contains(query, key) != found.right.rows.contains(query, key)
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)

    async def test_an_edit_is_compared_with_the_text_as_saved(self, make_app: MakeApp) -> None:
        async with make_app(TWO, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = TWO.replace("sees prompt : causal", "sees prompt : before")
            await design(pilot)
            await pilot.press("k")
            await dialog(pilot, Question)
            await pilot.press("tab", "enter")
            await dialog(pilot, CompareScreen)
            shown = pilot.app.screen
            assert isinstance(shown, CompareScreen)
            assert shown.comparison.only_left.visible == 40
            assert shown.comparison.only_right.visible == 0

    async def test_compiled_code_is_searched(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("c")
            await until(pilot, lambda: screen.board.entry(Job.COMPILE).state.phase is Phase.GOOD)
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
            await until(pilot, lambda: screen.board.entry(Job.TIME).state.phase is Phase.GOOD)
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


class TestPalette:
    """Everything by words."""

    async def test_an_action_a_mask_and_a_setting_are_run_by_their_words(self, make_app: MakeApp) -> None:
        async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await _command(pilot, "tile size")
            await until(pilot, lambda: screen.choice.block_n == 64)
            await _command(pilot, "palette cividis")
            await until(pilot, lambda: screen.query_one(MaskView).palette == "cividis")
            assert screen.app.settings.palette == "cividis"
            await _command(pilot, "open swin_shifted")
            await until(pilot, lambda: screen.files.document.name == "swin_shifted")


async def _command(pilot: Pilot[None], words: str) -> None:
    """Run a command of the palette by its words."""
    await pilot.press("ctrl+p")
    await dialog(pilot, CommandPalette)
    pilot.app.screen.query_one(Input).value = words
    await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
    await pilot.pause(0.2)
    await pilot.press("enter")
    await dialog(pilot, DesignScreen)


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
            assert f"head 2/{first.heads}" in str(screen.query_one("TitleBar").render())

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


def app_ended(pilot: Pilot[None]) -> bool:
    return not pilot.app.is_running
