"""Validate, compile, time and cancel, from key to effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compilemask_app import document as files
from compilemask_app.document import Document
from compilemask_app.messages import WorkerLost, WorkerReplied
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.widgets.job_bar import JobBar, JobState, Phase
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from textual.screen import Screen
from textual.widgets import DataTable, Static

from compilemask.measure.report import ValidationReport
from compilemask.measure.timing import NO_GPU
from compilemask.worker_protocol import Job
from tests.app.conftest import TEXT, MakeApp
from tests.app.flows import SIZE, answered, dialog, text_of
from tests.app.test_jobs import worker
from tests.scenes import design, replay, until


class TestJobs:
    """v, c, t."""

    async def test_the_three_jobs_end_in_their_lines(self, make_app: MakeApp) -> None:
        seen: list[object] = []
        app = make_app(worker=worker("no gpu"))
        async with app.run_test(size=SIZE, message_hook=seen.append) as pilot:
            screen = await design(pilot)
            await pilot.press("v", "c", "t")
            await until(
                pilot, lambda: not screen.results.board.busy() and screen.results.board.entry(Job.TIME).state.text != ""
            )
            states = screen.results.board.states(screen.results.fingerprint)
            assert [states[job].phase for job in Job] == [Phase.GOOD, Phase.GOOD, Phase.UNABLE]
            assert "there is no GPU" in states[Job.TIME].text
            assert any(isinstance(message, WorkerReplied) for message in seen)
            screen.query_one(MaskEditor).text = TEXT + "\n"
            await design(pilot)
            assert screen.results.board.states(screen.results.fingerprint)[Job.VALIDATE].outdated

    async def test_a_failing_validation_selects_the_first_wrong_cell(self, make_app: MakeApp) -> None:
        async with make_app(TEXT + "# red\n", worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.BAD)
            assert (screen.view.query_cursor, screen.view.key_cursor) == (9, 3)
            assert screen.query_one(MaskView).wrong == (9, 3)
            assert (
                "query 9, key 3: expected visible, found hidden" in screen.results.board.entry(Job.VALIDATE).state.text
            )

    async def test_results_are_kept_for_each_mask(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            first = screen.files.document
            screen.open_named("causal")
            await until(pilot, lambda: screen.files.document.name == "causal")
            assert screen.results.board.entry(Job.VALIDATE).state.phase is Phase.IDLE
            screen.files._show(first)
            await design(pilot)
            state = screen.results.board.states(screen.results.fingerprint)[Job.VALIDATE]
            assert (state.phase, state.outdated) == (Phase.GOOD, False)

    async def test_an_old_result_is_marked_where_no_narrow_line_cuts_it(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("good")).run_test(size=(60, 20)) as pilot:
            screen = await design(pilot)
            await pilot.press("v", "c")
            await until(
                pilot,
                lambda: not screen.results.board.busy() and screen.results.board.entry(Job.COMPILE).report is not None,
            )
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
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            screen.query_one(MaskEditor).text = TEXT + "wrong"
            await until(pilot, lambda: bool(screen.findings))
            assert "~ old: proved" in str(screen.query_one(JobBar).render())
            screen.query_one(MaskEditor).text = TEXT
            await until(pilot, lambda: not screen.findings)
            assert "✓ as written" in str(screen.query_one(JobBar).render())

    async def test_every_new_mask_has_results_of_its_own(self, make_app: MakeApp) -> None:
        document = files.new_document()
        async with make_app(document=document, worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
            await pilot.press("ctrl+n")
            await until(pilot, lambda: screen.files.document is not document)
            assert screen.files.document.name == document.name
            assert screen.results.board.entry(Job.VALIDATE).state.phase is Phase.IDLE

    async def test_results_go_with_the_text_when_it_is_saved_under_a_name(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            await pilot.press("v")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.GOOD)
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
            before = screen.results.fingerprint
            screen.files.document = replace(document, parameters=())
            assert screen.results.fingerprint != before

    async def test_reading_code_while_it_compiles_says_that_it_compiles(self, make_app: MakeApp) -> None:
        async with make_app(worker=worker("slow")).run_test(size=SIZE, notifications=True) as pilot:
            screen = await design(pilot)
            await pilot.press("c")
            await until(pilot, lambda: screen.results.board.entry(Job.COMPILE).state.phase is Phase.RUNNING)
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
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.RUNNING)
            await pilot.press("x")
            await until(pilot, lambda: not screen.results.board.busy())
            assert screen.results.board.entry(Job.VALIDATE).state.text == "cancelled"

    async def test_a_crash_loses_nothing_and_the_next_job_runs(self, make_app: MakeApp) -> None:
        seen: list[object] = []
        async with make_app(worker=worker("crash")).run_test(size=SIZE, message_hook=seen.append) as pilot:
            screen = await design(pilot)
            editor = screen.query_one(MaskEditor)
            editor.text = TEXT + "# mine\n"
            await pilot.press("t")
            await until(pilot, lambda: screen.results.board.entry(Job.TIME).state.phase is Phase.BAD)
            assert "illegal memory access" in screen.results.board.entry(Job.TIME).state.text
            assert sum(isinstance(message, WorkerLost) for message in seen) >= 1
            assert text_of(screen).endswith("# mine\n")
            await pilot.press("v")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).state.phase is Phase.BAD)


def words_below(screen: Screen[Any]) -> str:
    """What stands below the checks."""
    region = screen.query_one("#words").region
    lines = screen._compositor.render_strips()[region.y : region.bottom]
    return "\n".join(line.text for line in lines)


class TestProof:
    """V: what a validation checked."""

    async def test_the_checks_are_listed_with_their_errors_and_precision(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=(160, 45)) as pilot:
            screen = await design(pilot)
            replay(screen, Job.VALIDATE, "validate_green")
            await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).report is not None)
            await pilot.press("V")
            await dialog(pilot, ProofScreen)
            shown = pilot.app.screen
            table = shown.query_one(DataTable)
            lines = ["  ".join(str(cell) for cell in table.get_row_at(row)) for row in range(table.row_count)]
            report = screen.results.board.entry(Job.VALIDATE).report
            assert isinstance(report, ValidationReport)
            assert len(lines) == len(report.checks)
            dq = next(place for place, line in enumerate(lines) if "kernel float32 dq" in line)
            check = report.checks[dq]
            assert (check.of_budget, check.largest_error, check.largest_allowed) != (None, None, None)
            for figure in (f"{check.of_budget:.2f}", f"{check.largest_error:.1e}", f"{check.largest_allowed:.1e}"):
                assert figure in lines[dq]
            table.move_cursor(row=dq)
            await until(pilot, lambda: "never TF32" in words_below(shown))
            assert report.notes[0] in words_below(shown)
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)

    async def test_enter_goes_to_the_wrong_cell_of_a_check(self, make_app: MakeApp) -> None:
        async with make_app(TEXT.replace("300", "30000")).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            replay(screen, Job.VALIDATE, "validate_red")
            await until(pilot, lambda: screen.view.query_cursor > 0)
            report = screen.results.board.entry(Job.VALIDATE).report
            assert isinstance(report, ValidationReport)
            wrong = [check.first_wrong for check in report.checks if check.first_wrong is not None]
            await pilot.press("V")
            await dialog(pilot, ProofScreen)
            assert "wrong" in str(pilot.app.screen.query_one("#head", Static).content)
            await pilot.press("down", "enter")
            await dialog(pilot, DesignScreen)
            assert (screen.view.query_cursor, screen.view.key_cursor) == (wrong[1].query, wrong[1].key)
            assert screen.query_one(MaskView).wrong == (wrong[1].query, wrong[1].key)

    async def test_without_one_it_says_how_to_get_one(self, make_app: MakeApp) -> None:
        async with make_app().run_test(size=SIZE, notifications=True) as pilot:
            await design(pilot)
            await pilot.press("V", "i")
            await until(pilot, lambda: len(pilot.app._notifications) == 2)
            assert [note.message for note in pilot.app._notifications] == [
                "nothing to show yet: v validates",
                "nothing to show yet: c compiles",
            ]

    @pytest.mark.parametrize("width", [60, 100, 160])
    async def test_a_line_that_is_cut_says_which_key_shows_the_rest(self, make_app: MakeApp, width: int) -> None:
        async with make_app().run_test(size=(width, 30)) as pilot:
            screen = await design(pilot)
            bar = screen.query_one(JobBar)
            bar.states = {job: JobState(Phase.GOOD, "words " * 40) for job in Job}
            for line, key in zip(str(bar.render()).split("\n"), "Vih", strict=True):
                assert line.endswith(f"   {key} shows all")
                assert len(line) == bar.content_region.width
