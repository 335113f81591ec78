"""The design screen by its keys and messages."""

from __future__ import annotations

import threading
import time

import pytest
from compilemask_app.actions import ACTIONS
from compilemask_app.drawing.viewport import Viewport
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.keys import readable_keys
from compilemask_app.messages import MaskBroken, PictureReady
from compilemask_app.picture import Picture
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.help_screen import NARROW_KEYS, HelpScreen
from compilemask_app.widgets.cell_panel import CellPanel
from compilemask_app.widgets.diagnostics_panel import DiagnosticsPanel
from compilemask_app.widgets.map_input import HEADER
from compilemask_app.widgets.map_pair import MapMode, MapPair
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView
from compilemask_app.widgets.tile_map_view import TileMapView
from compilemask_app.widgets.title_bar import TitleBar
from textual.pilot import Pilot
from textual.widgets import Static

from tests.app.conftest import TEXT, MakeApp
from tests.app.fakes import compile_fake
from tests.scenes import design, until

SIZE = (120, 40)


async def shown(pilot: Pilot[None], revision: int = 0) -> DesignScreen:
    """The design screen, once it shows a revision."""
    for _ in range(200):
        await pilot.pause(0.01)
        screen = pilot.app.screen
        if isinstance(screen, DesignScreen) and screen.picture and screen.picture.revision >= revision:
            return screen
    raise AssertionError("no picture came")


async def test_it_opens_with_the_mask_drawn_and_the_map_focused(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        assert isinstance(screen.focused, MaskView)
        assert screen.query_one(MaskView).picture is screen.query_one(TileMapView).picture is screen.picture
        assert (screen.view.query_length, screen.view.key_length) == (300, 300)
        assert screen.view.shows_whole(screen.query_one(MaskView).extent)


async def test_both_maps_have_the_same_room_and_the_same_view(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.press("plus", "down", "right")
        mask, tiles = screen.query_one(MaskView), screen.query_one(TileMapView)
        assert mask.extent == tiles.extent
        assert mask.view == tiles.view == screen.query_one(CellPanel).view
        assert mask.view.query_cursor > 0


async def test_editing_redraws_and_an_error_keeps_the_old_picture(make_app: MakeApp) -> None:
    seen: list[object] = []
    async with make_app().run_test(size=SIZE, message_hook=seen.append) as pilot:
        screen = await shown(pilot)
        editor = screen.query_one(MaskEditor)
        editor.text = editor.text.replace("300", "200")
        screen = await shown(pilot, 1)
        assert screen.picture is not None
        assert screen.picture.query_length == 200

        editor.text = editor.text.replace("causal", "wrong")
        await pilot.pause(0.5)
        assert screen.query_one(TitleBar).broken
        assert screen.picture.query_length == 200
        assert screen.query_one(MaskView).stale
        assert screen.query_one(DiagnosticsPanel).has_class("some")
        assert any(isinstance(message, MaskBroken) for message in seen)

        editor.text = editor.text.replace("wrong", "causal")
        await shown(pilot, 3)
        assert not screen.query_one(TitleBar).broken
        assert not screen.query_one(DiagnosticsPanel).has_class("some")


async def test_an_older_picture_never_covers_a_newer_one(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        new = compile_fake(CompileRequest(9, "fake", "length = 90"))
        old = compile_fake(CompileRequest(8, "fake", "length = 80"))
        screen.post_message(PictureReady(new))
        await pilot.pause()
        screen.post_message(PictureReady(old))
        await pilot.pause()
        assert screen.picture is new


async def test_keys_work_while_a_slow_mask_compiles(make_app: MakeApp) -> None:
    gate = threading.Event()

    def slow(request: CompileRequest) -> Picture:
        if request.revision > 0:
            gate.wait(5)
        return compile_fake(request)

    async with make_app(compile_=slow).run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        screen.query_one(MaskEditor).text = "length = 77"
        started = time.monotonic()
        await pilot.press("down")
        assert time.monotonic() - started < 2
        assert screen.view.query_cursor > 0
        assert screen.picture is not None
        assert screen.picture.revision == 0
        gate.set()
        await shown(pilot, 1)
        assert screen.picture.query_length == 77


async def test_enter_goes_to_single_cells_and_zero_back_to_the_whole(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.press("enter")
        assert screen.view.key_zoom == -1
        await pilot.press("0")
        assert screen.view.shows_whole(screen.query_one(MaskView).extent)


async def test_a_click_puts_the_cursor_there_and_the_wheel_pans(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.click(MaskView, offset=(11 + 4, 3 + 5))
        zoom = screen.view.key_zoom
        assert (screen.view.query_cursor, screen.view.key_cursor) == (10 * zoom, 4 * zoom)


async def test_partial_tiles_are_found_one_after_another(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        assert screen.picture is not None
        seen = []
        for _ in range(3):
            await pilot.press("p")
            seen.append(screen.picture.tile_of(screen.view.query_cursor, screen.view.key_cursor))
        assert seen == [(1, 1), (2, 2), (0, 0)]


async def test_narrow_terminals_show_one_map_and_m_swaps_it(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(58, 20)) as pilot:
        screen = await shown(pilot)
        pair = screen.query_one(MapPair)
        modes = [pair.mode]
        await pilot.press("m")
        modes.append(pair.mode)
        assert modes == [MapMode.MASK, MapMode.TILES]
        assert isinstance(screen.focused, TileMapView)
        await pilot.press("e")
        assert isinstance(screen.focused, MaskEditor)
        await pilot.press("escape")
        assert isinstance(screen.focused, TileMapView)


async def test_a_tiny_terminal_says_so_and_recovers(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.press("enter", "end")
        before = screen.view
        for size in ((39, 9), (7, 3), (1, 1)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert screen.has_class("-tiny")
        await pilot.resize_terminal(*SIZE)
        await pilot.pause(0.1)
        assert not screen.has_class("-tiny")
        assert (screen.view.query_cursor, screen.view.key_cursor) == (before.query_cursor, before.key_cursor)
        assert screen.view.key_zoom == before.key_zoom


async def test_a_position_on_the_map_is_the_cell_below_it_or_nothing(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        view = (await shown(pilot)).query_one(MaskView)
        view.view = Viewport(64, 64, query_zoom=-1, key_zoom=-1, query_start=10, key_start=20)
        left, top = view.label_room, HEADER
        assert view.cell_under(left, top) == view.cell_under(left + 1, top) == (10, 20)
        assert view.cell_under(left + 2, top) == (10, 21)
        assert view.cell_under(left - 1, top) is None
        assert view.cell_under(left + 4, top - 1) is None
        assert view.cell_under(left, top + 53) == (63, 20)
        assert view.cell_under(left, top + 54) is None
        assert view.cell_under(left + 87, top) == (10, 63)
        assert view.cell_under(left + 88, top) is None
        # a terminal that reports pixels gives fractions of a cell; here of 8 x 16 pixels
        assert view.cell_under((8 * (left + 2) + 1) / 8, (16 * top + 15) / 16) == (10, 21)
        assert view.cell_under((8 * left - 1) / 8, (16 * top) / 16) is None


async def test_help_lists_every_key_of_the_table(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        await shown(pilot)
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, DesignScreen)


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24)])
async def test_help_says_what_each_key_does_in_narrow_terminals(make_app: MakeApp, size: tuple[int, int]) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        await shown(pilot)
        await pilot.press("f1")
        await pilot.resize_terminal(*size)
        await pilot.pause(0.1)
        sections = pilot.app.screen.query_one("#keys").query(Static)
        rows = (section.render_line(row).text for section in sections for row in range(section.size.height))
        words = "".join("".join(rows).split())
        for action in ACTIONS:
            if len(readable_keys(action.keys)) <= NARROW_KEYS:
                told = f"{readable_keys(action.keys)} {action.title}: {action.help} ({action.id})"
                assert "".join(told.split()) in words


async def test_keys_can_be_given_to_other_actions(make_app: MakeApp) -> None:
    app = make_app()
    app.settings = type(app.settings)(look="colour", keys=(("cells", "y"),))
    async with app.run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.press("y")
        assert screen.view.key_zoom == -1


async def test_the_rule_behind_a_cell_is_one_key_away(make_app: MakeApp) -> None:
    async with make_app().run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        await pilot.press("l")
        editor = screen.query_one(MaskEditor)
        assert screen.focused is editor
        assert editor.cursor_location[0] == 5


async def test_a_hidden_cell_says_what_its_rule_lacks_and_leads_to_it(make_app: MakeApp) -> None:
    async with make_app(compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await shown(pilot)
        screen.query_one(MaskView).focus()
        await pilot.press("right")
        panel = screen.query_one(CellPanel)
        key = panel.view.key_cursor
        assert key > panel.view.query_cursor == 0
        assert f"□ hidden  line 8: query's pos 0 is before key's pos {key}" in panel.words().plain
        await pilot.press("l")
        assert screen.query_one(MaskEditor).cursor_location[0] == 7


@pytest.mark.parametrize("size", [(100, 30), (120, 40)])
async def test_a_long_header_is_skipped_in_whatever_room_the_text_has(make_app: MakeApp, size: tuple[int, int]) -> None:
    text = "# a line of the header\n" * 40 + TEXT
    async with make_app(text, compile_=Pictures()).run_test(size=size) as pilot:
        screen = await design(pilot)
        editor = screen.query_one(MaskEditor)
        await until(pilot, lambda: editor.scroll_offset.y == min(40, editor.max_scroll_y) > 0)
        assert editor.scroll_offset.y + editor.size.height >= 40 + len(TEXT.splitlines())
