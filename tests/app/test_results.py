"""Results say in every width what they do not prove, and wherever they are shown whether they are of an older text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from compilemask_app.application import Workbench
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.times_screen import TimesScreen
from compilemask_app.widgets.job_bar import MEANT, JobBar, JobState, Phase
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen

from compilemask.measure.timing import NO_GPU
from compilemask.worker_protocol import Job
from tests.app.conftest import TEXT, MakeApp
from tests.app.flows import SIZE, dialog
from tests.app.test_jobs import worker
from tests.scenes import design, replay, until

WIDTHS = (40, 60, 80, 100, 120, 200)
CAVEAT = "proved on samples, pieces"


def lines_of(screen: Screen[Any]) -> list[str]:
    """What stands on the screen, line by line."""
    return [line.text for line in screen._compositor.render_strips()]


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_verdict_says_first_what_it_is_proved_on(make_app: MakeApp, width: int) -> None:
    async with make_app().run_test(size=(width, 24)) as pilot:
        screen = await design(pilot)
        replay(screen, Job.VALIDATE, "validate_green")
        await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).report is not None)
        bar = screen.query_one(JobBar)
        line = str(bar.render()).split("\n")[0][: bar.content_size.width]
        wide = f"{CAVEAT}: does what the text says"
        assert (wide if width in (80, 200) else "as written: samples, pieces") in line
        screen.query_one(MaskEditor).text = TEXT + "#"
        await design(pilot)
        assert f"~ old: {CAVEAT}" in str(bar.render()).split("\n")[0][: bar.content_size.width]
        await pilot.press("V")
        await dialog(pilot, ProofScreen)
        head = " ".join(" ".join(lines_of(pilot.app.screen)[:6]).split())
        assert f"{CAVEAT}: does what the text says" in head
        assert "~ old" in head
        proof = pilot.app.screen
        assert isinstance(proof, ProofScreen)
        assert MEANT in [str(cell) for cell in proof._words(None).columns[1].cells]
        assert MEANT in str(screen.looks._job_words(Job.VALIDATE)), "on the screen of figures"
        assert "3.6 s" in head


@pytest.mark.parametrize("width", WIDTHS)
async def test_why_there_are_no_times_is_one_key_away_in_full(make_app: MakeApp, width: int) -> None:
    async with make_app().run_test(size=(width, 24)) as pilot:
        screen = await design(pilot)
        board = screen.results.board.asked(Job.TIME, screen.results.fingerprint)
        entry = replace(board.entry(Job.TIME), state=JobState(Phase.UNABLE, NO_GPU))
        screen.results.board = board._with(Job.TIME, entry)
        screen.results.show()
        line = str(screen.query_one(JobBar).render()).split("\n")[2]
        assert "no CUDA GPU" in line
        assert line.rstrip().endswith("h says why" if width >= 60 else "h")
        await pilot.press("h")
        await dialog(pilot, TimesScreen)
        told = " ".join(" ".join(lines_of(pilot.app.screen)[:12]).split())
        assert NO_GPU in told
        assert "c compiles for each target without a GPU" in told
        assert 'compilemask open --worker "ssh HOST compilemask worker"' in told


async def _proved_and_compiled(pilot: Pilot[None], *keys: str) -> DesignScreen:
    screen = await design(pilot)
    await pilot.press(*keys)
    wanted = [job for job in Job if job.value[0] in keys]

    def done() -> bool:
        board = screen.results.board
        return not board.busy() and all(board.entry(job).report is not None for job in wanted)

    await until(pilot, done)
    return screen


async def test_code_and_times_of_an_older_text_say_so(make_app: MakeApp) -> None:
    async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
        screen = await _proved_and_compiled(pilot, "c", "t")
        for old in (False, True):
            if old:
                screen.query_one(MaskEditor).text = TEXT + "#"
                await design(pilot)
            for key, kind in (("i", ReaderScreen), ("h", TimesScreen)):
                await pilot.press(key)
                await dialog(pilot, kind)
                await pilot.pause()
                assert ("~ old" in "\n".join(lines_of(pilot.app.screen))) is old
                await pilot.press("escape")
                await dialog(pilot, DesignScreen)


async def test_a_report_stays_that_of_its_text_when_the_next_run_is_cancelled(make_app: MakeApp) -> None:
    async with make_app(worker=worker("good")).run_test(size=SIZE) as pilot:
        screen = await _proved_and_compiled(pilot, "c")
        screen.query_one(MaskEditor).text = TEXT + "#"
        await design(pilot)
        results = screen.results
        results.board = results.board.asked(Job.COMPILE, results.fingerprint).lost("it is gone")
        await pilot.press("i")
        await dialog(pilot, ReaderScreen)
        assert "~ old" in lines_of(pilot.app.screen)[0]


async def test_a_wrong_cell_of_an_older_text_is_not_marked_in_the_newer_picture(make_app: MakeApp) -> None:
    async with make_app(TEXT + "# red\n", worker=worker("good")).run_test(size=SIZE) as pilot:
        app = pilot.app
        assert isinstance(app, Workbench)
        screen = await _proved_and_compiled(pilot, "v")
        assert screen.query_one(MaskView).wrong == (9, 3)
        screen.query_one(MaskEditor).text = TEXT
        await design(pilot)
        await pilot.press("V")
        await dialog(pilot, ProofScreen)
        await pilot.press("enter")
        await dialog(pilot, DesignScreen)
        assert (screen.view.query_cursor, screen.view.key_cursor) == (9, 3)
        assert screen.query_one(MaskView).wrong is None


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60), (300, 100)])
@pytest.mark.parametrize("look", ["colour", "ascii"])
async def test_both_maps_name_their_shades_in_every_size(make_app: MakeApp, size: tuple[int, int], look: str) -> None:
    app = make_app(TEXT.replace("300", "30000"))
    app.settings = replace(app.settings, look=look)
    async with app.run_test(size=size) as pilot:
        screen = await design(pilot)
        for pane, names in zip(screen.panes, (("some", "many", "all"), ("partial", "full")), strict=True):
            title = pane.render_line(0).text
            assert all(name in title for name in names), title


async def test_a_cursor_key_draws_no_title_again(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with make_app().run_test(size=(120, 40)) as pilot:
        pane = (await design(pilot)).query_one(MaskView)
        drawn: list[Region] = []

        def refresh(*regions: Region, **_: bool) -> MaskView:
            drawn.extend(regions)
            return pane

        monkeypatch.setattr(pane, "refresh", refresh)
        await pilot.press("down")
        await until(pilot, lambda: bool(drawn))
        assert all(region.y > 0 for region in drawn)
        drawn.clear()
        pane.stale = True
        await until(pilot, lambda: any(region.y == 0 for region in drawn))
