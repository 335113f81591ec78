"""Input that comes faster than it is drawn: one dialog at a time, no size but the newest, nothing closed twice."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from compilemask_app.framework import Palette
from compilemask_app.jobs.compile_job import CompileRequest, CompileThread, Outcome
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.messages import ViewChanged
from compilemask_app.picture import MaskPicture, Picture
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.widgets.code_view import CodeView
from compilemask_app.widgets.mask_editor import MaskEditor
from textual import events
from textual.command import CommandList
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Tabs

from compilemask.measure.report import CompileReport
from tests.app.conftest import TEXT, MakeApp
from tests.scenes import design, recorded, until


async def test_a_key_pressed_twice_asks_once(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        screen.action_goto()
        screen.action_goto()
        screen.action_save_as()
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))
        await pilot.pause(0.1)
        assert sum(isinstance(one, Prompt) for one in pilot.app.screen_stack) == 1
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        screen.action_goto()
        await until(pilot, lambda: isinstance(pilot.app.screen, Prompt))


async def test_a_dialog_that_is_closed_twice_closes_nothing_else(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        dialog = Prompt("A")
        await pilot.app.push_screen(dialog)
        dialog.answer("a")
        dialog.answer("b")
        dialog.action_give_up()
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_dialog_closed_while_it_opens_goes_without_a_word(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        for _ in range(5):
            pilot.app.push_screen(dialog := OpenScreen(()))
            dialog.action_give_up()
            dialog.action_give_up()
            await until(pilot, lambda: pilot.app.screen is screen)


async def test_moves_on_a_mask_of_other_lengths_mean_nothing(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        view = screen.view
        screen.post_message(ViewChanged(replace(view, query_length=900, key_length=900, query_cursor=800)))
        await pilot.pause(0.1)
        assert screen.view == view
        screen.post_message(ViewChanged(replace(view, query_cursor=200)))
        await until(pilot, lambda: screen.view.query_cursor == 200)


async def test_what_is_asked_of_a_region_that_is_gone_is_not_done(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        before = screen.text
        await screen.composing.wanted("delete", 3, 3)
        await screen.composing.type_parameter(7)
        assert screen.text == before
        assert pilot.app.screen is screen


async def test_sizes_of_the_past_are_not_laid_out(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Size] = []
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        lay_out = Screen._screen_resized

        def listen(self: Screen[object], size: Size) -> None:
            told.append(size)
            lay_out(self, size)

        monkeypatch.setattr(Screen, "_screen_resized", listen)
        for size in (Size(60, 20), Size(200, 60), Size(100, 30)):
            screen.post_message(events.Resize(size, size))
            screen.call_later(lambda: None)  # which keeps the framework from joining sizes that follow each other
        await pilot.pause(0.2)
        assert set(told) == {Size(100, 30)}
        assert screen.size == Size(100, 30)


async def test_page_keys_in_a_palette_without_room_do_nothing(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        await design(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
        commands = pilot.app.screen.query_one(CommandList)
        await until(pilot, lambda: commands.option_count > 0)
        commands._index_to_line.clear()
        await pilot.press("pagedown", "pageup")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, DesignScreen))


@pytest.mark.parametrize("width", [5, 4, 3, 2, 1])
async def test_a_palette_in_a_terminal_of_few_columns_stays_usable(make_app: MakeApp, width: int) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        await design(pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Palette))
        commands = pilot.app.screen.query_one(CommandList)
        await until(pilot, lambda: commands.option_count > 0)
        await pilot.resize_terminal(width, 24)
        await until(pilot, lambda: pilot.app.screen.size == Size(width, 24))
        await pilot.pause(0.1)
        await pilot.press("down")
        await pilot.resize_terminal(100, 30)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, DesignScreen))


async def test_the_reader_offers_the_listings_of_each_target(make_app: MakeApp) -> None:
    report = recorded("compile").report
    assert isinstance(report, CompileReport)
    first, second = report.targets[0], report.targets[1]
    bare = replace(second, listings=second.listings[:1])
    none = replace(second, listings=())
    async with make_app().run_test(size=(100, 30)) as pilot:
        await design(pilot)
        reader = ReaderScreen(replace(report, targets=(first, bare, none)), outdated=False)
        await pilot.app.push_screen(reader)
        tabs, code = reader.query_one(Tabs), reader.query_one(CodeView)

        def shown() -> list[str]:
            return [str(tab.label) for tab in tabs.query("#tabs-list > Tab").results() if tab.display]  # type: ignore[attr-defined]

        await until(pilot, lambda: shown() == [listing.language for listing in first.listings])
        assert code.lines == tuple(first.listings[0].text.splitlines())
        await pilot.press("down")
        await until(pilot, lambda: shown() == [bare.listings[0].language])
        assert code.lines == tuple(bare.listings[0].text.splitlines())
        await pilot.press("down")
        await until(pilot, lambda: code.lines == ("no listing",))
        assert shown() == []
        await pilot.press("escape")


def request(revision: int, length: int = 64) -> CompileRequest:
    """A small mask."""
    return CompileRequest(revision, "m", TEXT.replace("300", str(length)))


def test_the_mask_comes_before_its_tiles() -> None:
    found: list[Outcome] = []
    done = threading.Event()

    def deliver(outcome: Outcome) -> None:
        found.append(outcome)
        if isinstance(outcome, Picture):
            done.set()

    thread = CompileThread(Pictures(), deliver)
    thread.submit(request(0))
    assert done.wait(20)
    thread.stop()
    mask, picture = found
    assert isinstance(mask, MaskPicture)
    assert not isinstance(mask, Picture)
    assert isinstance(picture, Picture)
    assert picture.mask_pixels is mask.mask_pixels


def test_the_tiles_of_a_text_that_is_overtaken_are_not_made() -> None:
    found: list[Outcome] = []
    done = threading.Event()

    def deliver(outcome: Outcome) -> None:
        found.append(outcome)
        if outcome.revision == 0:
            thread.submit(request(1, 65))
        if isinstance(outcome, Picture):
            done.set()

    thread = CompileThread(Pictures(), deliver)
    thread.submit(request(0))
    assert done.wait(20)
    thread.stop()
    assert [(outcome.revision, isinstance(outcome, Picture)) for outcome in found] == [
        (0, False),
        (1, False),
        (1, True),
    ]


def burst(editor: MaskEditor, *keys: str) -> None:
    """Keys as a terminal sends them at once: nothing is handled between them."""
    for key in keys:
        editor.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("home", "X"), "Xparam length = 300"),
        (("left", "left", "left", "Y"), "param length = Y300"),
        (("ctrl+left", "backspace", "Z"), "param length =Z300"),
        (("home", "delete", "end", "4", "shift+home", "Q"), "Q"),
    ],
)
async def test_keys_of_one_burst_are_done_in_their_order(make_app: MakeApp, keys: tuple[str, ...], line: str) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        editor = (await design(pilot)).query_one(MaskEditor)
        editor.focus()
        editor.go_to(2, 100)
        await pilot.pause()
        burst(editor, *keys)
        await until(pilot, lambda: editor.text.splitlines()[1] == line, seconds=3)


async def test_a_line_is_split_where_the_keys_before_put_the_cursor(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(100, 30)) as pilot:
        editor = (await design(pilot)).query_one(MaskEditor)
        editor.focus()
        editor.go_to(2, 6)
        await pilot.pause()
        burst(editor, "end", "enter", "#")
        await until(pilot, lambda: editor.text.splitlines()[1:3] == ["param length = 300", "#"], seconds=3)
