"""The figures in words, and the main path in the smallest terminal that is meant for work."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.figures_screen import MEANINGS, FiguresScreen
from compilemask_app.screens.help_screen import HelpScreen
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.sizes_screen import SizesScreen
from compilemask_app.screens.times_screen import TimesScreen
from compilemask_app.widgets.job_bar import JobBar
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.statistics_panel import pairs_of
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Input

from compilemask.worker_protocol import Job
from tests.app.conftest import MakeApp
from tests.app.flows import dialog
from tests.app.test_jobs import worker
from tests.app.test_results import lines_of
from tests.scenes import design, replay, until

SIZES = [(60, 20), (80, 24), (120, 40), (200, 60), (300, 100)]


async def all_lines(pilot: Pilot[None]) -> str:
    """What the figures say, read by scrolling to the end, with one space between words."""
    scroll = pilot.app.screen.query_one(VerticalScroll)
    found: list[str] = []
    for _ in range(40):
        region = scroll.region
        found += [line for line in lines_of(pilot.app.screen)[region.y : region.bottom] if line not in found[-60:]]
        if scroll.scroll_offset.y >= scroll.max_scroll_y:
            break
        await pilot.press("down")
        await pilot.pause(0.05)
    return " ".join(" ".join(found).split())


@pytest.mark.parametrize("size", SIZES)
async def test_every_figure_and_verdict_can_be_read_in_every_size(make_app: MakeApp, size: tuple[int, int]) -> None:
    document = files.document_of("shared_prompt_rm", {"prompt": 1024})
    async with make_app(document=document, compile_=Pictures()).run_test(size=size) as pilot:
        screen = await design(pilot)
        replay(screen, Job.VALIDATE, "validate_green")
        await until(pilot, lambda: screen.results.board.entry(Job.VALIDATE).report is not None)
        await pilot.press("f")
        await dialog(pilot, FiguresScreen)
        words = await all_lines(pilot)
        assert screen.picture is not None
        for name, figure in pairs_of(screen.picture.figures):
            assert f"{name} {figure} " in words, name
        for words_of_it in ("row sees", "not all cells", "3.6 s", "answers=[1024] * 6", "k, v: [batch"):
            assert words_of_it in words
        await pilot.press("escape")
        await dialog(pilot, DesignScreen)


def test_every_figure_has_its_meaning() -> None:
    from tests.app.fakes import causal, picture_from

    assert {name for name, _ in pairs_of(picture_from(causal(9)).figures)} <= set(MEANINGS)


async def test_the_lines_of_python_are_copied_at_the_sizes_of_now(make_app: MakeApp, tmp_path: Path) -> None:
    mine = files.write(files.new_document(), files.NEW_TEXT, tmp_path / "mine.mask")
    async with make_app(document=mine, compile_=Pictures()).run_test(size=(80, 24)) as pilot:
        screen = await design(pilot)
        screen.query_one(MaskEditor).text = files.NEW_TEXT.replace("64", "96")
        await design(pilot)
        await pilot.press("f")
        await dialog(pilot, FiguresScreen)
        await pilot.press("y")
        await until(pilot, lambda: "length=96" in pilot.app.clipboard)
        assert [type(line) for line in ast.parse(pilot.app.clipboard).body] == [ast.Import, ast.Assign, ast.Assign]
        await pilot.press("f")
        await dialog(pilot, DesignScreen)
        screen.query_one(MaskEditor).text = files.NEW_TEXT.replace("causal", "all")
        await design(pilot)
        await pilot.press("f")
        await dialog(pilot, FiguresScreen)
        assert "save the mask" in await all_lines(pilot)


async def test_a_click_on_a_line_of_the_jobs_is_its_key(make_app: MakeApp) -> None:
    async with make_app(worker=worker("good")).run_test(size=(60, 20)) as pilot:
        screen = await design(pilot)
        for place, job in enumerate(Job):
            await pilot.click(JobBar, offset=(5, place))
            await until(pilot, partial(_is_reported, screen, job))


def _is_reported(screen: DesignScreen, job: Job) -> bool:
    return screen.results.board.entry(job).report is not None


async def test_the_main_path_is_reached_at_60x20(make_app: MakeApp) -> None:
    text = "param length = 2048\nlayout\n    token : length\nrules\n    token sees token : causal\n"
    async with make_app(text, compile_=Pictures(), worker=worker("good")).run_test(size=(60, 20)) as pilot:
        screen = await design(pilot)
        assert all(name in lines_of(screen)[-1] for name in ("Zoom", "Edit", "Tiles", "Figures", "Help"))
        await pilot.press("v", "c", "t")
        await until(pilot, lambda: all(screen.results.board.entry(job).report is not None for job in Job))
        for key, kind in (("V", ProofScreen), ("i", ReaderScreen), ("h", TimesScreen), ("f", FiguresScreen)):
            await pilot.press(key)
            await dialog(pilot, kind)
            assert "Back" in lines_of(pilot.app.screen)[-1]
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)
        await pilot.press("k")
        await dialog(pilot, OpenScreen)
        pilot.app.screen.query_one(Input).value = "sliding_window"
        await pilot.pause(0.2)
        await pilot.press("enter")
        await dialog(pilot, SizesScreen)
        await until(pilot, lambda: "enter compares" in "\n".join(lines_of(pilot.app.screen)))
        await pilot.press("enter")
        await dialog(pilot, CompareScreen)
        assert "Back" in lines_of(pilot.app.screen)[-1]
        await pilot.press("escape")
        await dialog(pilot, DesignScreen)
        await pilot.press("f1")
        await dialog(pilot, HelpScreen)
