"""The compile reader: a search that finds nothing here says where there is something, and its keys are in the help."""

from __future__ import annotations

import pytest
from compilemask_app.screens.help_screen import HelpScreen
from compilemask_app.screens.reader_screen import ReaderScreen, matches_elsewhere
from compilemask_app.widgets.code_view import CodeView
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from compilemask.measure.report import CompileReport, Listing, TargetReport
from tests.app.conftest import MakeApp
from tests.app.flows import SIZE, answered, dialog
from tests.app.test_results import lines_of
from tests.scenes import design, until

OLD, NEW = "mma.sync\nmov\n", "mov\ntcgen05.mma\ntcgen05.ld\n"


def row(target: str, ptx: str, sass: str) -> TargetReport:
    listings = (Listing("ptx", ptx), Listing("sass", sass))
    return TargetReport(target, "forward", 200, 0, 65536, 0, (), 0.5, (), listings)


REPORT = CompileReport("fake", (row("sm_80", OLD, "HMMA\n"), row("sm_100", NEW, "UTCHMMA\n")))


async def reading(pilot: Pilot[None]) -> ReaderScreen:
    """The reader on the report."""
    await design(pilot)
    pilot.app.push_screen(ReaderScreen(REPORT, outdated=False))
    await dialog(pilot, ReaderScreen)
    assert isinstance(pilot.app.screen, ReaderScreen)
    return pilot.app.screen


def head(screen: ReaderScreen) -> str:
    return str(screen.query_one("#head", Static).content)


@pytest.mark.parametrize("size", [SIZE, (40, 20)])
async def test_what_another_row_or_text_holds_is_said_and_one_key_away(
    make_app: MakeApp, size: tuple[int, int]
) -> None:
    async with make_app().run_test(size=size) as pilot:
        screen = await reading(pilot)
        code = screen.query_one(CodeView)
        for sought, told, row_, lines in (
            ("tcgen05", "not in sm_80 forward ptx; sm_100 forward ptx has 2: enter goes there", 1, NEW),
            ("utc", "not in sm_100 forward ptx; sm_100 forward sass has 1: enter goes there", 1, "UTCHMMA\n"),
        ):
            await pilot.press("slash")
            await answered(pilot, sought)
            await dialog(pilot, ReaderScreen)
            assert f"{sought!r}: {told}" in head(screen)
            assert told in " ".join(" ".join(lines_of(screen)[:8]).split())
            await pilot.press("enter")
            await until(pilot, lambda: code.current == 0)
            assert code.lines == tuple(lines.splitlines())
            assert screen.query_one(DataTable).cursor_row == row_
            assert f"{sought!r}: 1 of" in head(screen)
        await pilot.press("slash")
        await answered(pilot, "nowhere")
        await dialog(pilot, ReaderScreen)
        assert "in no listing of any row" in head(screen)


def test_places_of_the_same_language_stand_first() -> None:
    assert matches_elsewhere(REPORT, "MMA", 0, "sass") == [(1, "sass", 1), (0, "ptx", 1), (1, "ptx", 1)]


async def test_rows_kinds_and_parts_have_keys_and_the_help_lists_them(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await reading(pilot)
        code = screen.query_one(CodeView)
        await pilot.press("r")
        await until(pilot, lambda: code.lines == tuple(NEW.splitlines()))
        await pilot.press("k")
        await until(pilot, lambda: code.lines == ("UTCHMMA",))
        await pilot.press("tab", "tab")
        assert screen.focused is code
        await pilot.press("r")
        await until(pilot, lambda: code.lines == ("HMMA",))
        await pilot.press("f1")
        await dialog(pilot, HelpScreen)
        wanted = ("Next row, which is a target", "Next kind of text", "From the table to the kinds")
        await until(pilot, lambda: all(words in "\n".join(lines_of(pilot.app.screen)) for words in wanted))
