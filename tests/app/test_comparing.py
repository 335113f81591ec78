"""Two masks side by side: the other one is given sizes, rulers name what is there, cursors stand on one cell."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilemask_app import document as files
from compilemask_app.composing.sizes import taken_over, with_sizes
from compilemask_app.drawing.regions import shared
from compilemask_app.jobs.comparing import LengthsDiffer, compare, compare_orders
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.picture import MaskPicture, Picture
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.sizes_screen import SizesScreen
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.tile_map_view import TileMapView
from compilemask_app.widgets.title_bar import TitleBar
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.app.conftest import MakeApp
from tests.app.fakes import causal, equal_regions, picture_from
from tests.app.flows import SIZE, compared, dialog
from tests.scenes import design, until

MINE = """\
param length = 96, size = 8
layout
    token : length
rules
    token sees token : window(behind=size - 1, ahead=0)
"""
MIXED = """\
layout
    a : 8
    b : 8
rules
    everything sees everything : causal
order everything stored by -at
"""


def picture_of(text: str) -> Picture:
    outcome = Pictures()(CompileRequest(0, "m", text))
    assert isinstance(outcome, MaskPicture)
    return outcome.whole()


async def choose(pilot: Pilot[None], name: str) -> SizesScreen:
    """Compare with a library mask, up to the question for its sizes."""
    await pilot.press("k")
    await dialog(pilot, OpenScreen)
    opening = pilot.app.screen
    assert isinstance(opening, OpenScreen)
    opening.query_one(Input).value = name
    await until(pilot, lambda: opening._shown[:1] == [name])
    await pilot.press("enter")
    await dialog(pilot, SizesScreen)
    assert isinstance(pilot.app.screen, SizesScreen)
    return pilot.app.screen


def said(screen: SizesScreen) -> str:
    return str(screen.query_one("#found", Static).content)


class TestSizes:
    """The other mask's parameters."""

    async def test_a_library_mask_takes_this_masks_sizes_and_both_are_equal(self, make_app: MakeApp) -> None:
        async with make_app(MINE, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            asked = await choose(pilot, "sliding_window")
            values = {field.name: field.value for field in asked.query(Input).results(Input)}
            assert (values["length"], values["size"]) == ("96", "8")
            await until(pilot, lambda: "the same number of tokens" in said(asked))
            await pilot.press("enter")
            await dialog(pilot, CompareScreen)
            assert "equal masks" in str(pilot.app.screen.query_one("#head", Static).content)

    async def test_lengths_that_differ_are_told_both_and_can_be_set_until_they_agree(self, make_app: MakeApp) -> None:
        async with make_app(MINE.replace("length", "tokens"), compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            asked = await choose(pilot, "document_causal")
            await until(pilot, lambda: "96 × 96" in said(asked) and "2,048 × 2,048" in said(asked))
            await pilot.press("enter")
            await pilot.pause(0.2)
            assert pilot.app.screen is asked
            asked.query_one(Input).value = "[60, 36"
            await until(pilot, lambda: "2,048" not in said(asked))
            asked.query_one(Input).value = "[60, 36]"
            await pilot.press("enter")
            await dialog(pilot, CompareScreen)
            shown = pilot.app.screen
            assert isinstance(shown, CompareScreen)
            assert shown.comparison.right.query_length == screen.view.query_length == 96

    async def test_sizes_are_changed_from_the_comparison(self, make_app: MakeApp) -> None:
        async with make_app(MINE, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            await choose(pilot, "sliding_window")
            await pilot.press("enter")
            await dialog(pilot, CompareScreen)
            await pilot.press("s")
            await dialog(pilot, SizesScreen)
            asked = pilot.app.screen
            window = next(field for field in asked.query(Input).results(Input) if field.name == "size")
            assert window.value == "8"
            window.value = "9"
            await pilot.press("enter")
            await dialog(pilot, CompareScreen)
            await pilot.pause()
            shown = pilot.app.screen
            assert isinstance(shown, CompareScreen)
            assert shown.comparison.only_right.visible == 96 - 8
            assert "only right 88" in str(shown.query_one("#head", Static).content)

    async def test_a_text_saved_at_other_lengths_is_given_the_present_ones(
        self, make_app: MakeApp, tmp_path: Path
    ) -> None:
        saved = files.write(files.new_document(), MINE, tmp_path / "mine.mask")
        async with make_app(document=saved, compile_=Pictures()).run_test(size=SIZE) as pilot:
            screen = await design(pilot)
            screen.query_one(MaskEditor).text = MINE.replace("96", "64").replace("ahead=0", "ahead=1")
            await design(pilot)
            shown = await compared(pilot)
            assert (shown.comparison.left_name, shown.comparison.only_right.visible) == ("as saved", 63)

    async def test_escape_goes_back_to_the_mask(self, make_app: MakeApp) -> None:
        async with make_app(MINE, compile_=Pictures()).run_test(size=SIZE) as pilot:
            await design(pilot)
            await choose(pilot, "sliding_window")
            await pilot.press("escape")
            await dialog(pilot, DesignScreen)

    def test_only_values_of_one_kind_are_taken_over(self) -> None:
        other = "param documents = [3, 4], length = sum(documents), window = any, deep = 2\n"
        mine = "param documents = 4, window = 7, deep = length\n"
        assert taken_over(mine, other, (9, 9)) == {
            "documents": "[3, 4]", "length": "sum(documents)", "window": "7", "deep": "2",
        }  # fmt: skip
        assert taken_over("param n = 5\n", "param length = 3\n", (9, 9)) == {"length": "9"}
        assert taken_over("param n = 5\n", "param length = 3\n", (9, 8)) == {"length": "3"}
        assert with_sizes("param a = 1, b = [2]  # why\n", {"b": "[7] * 2"}) == "param a = 1, b = [7] * 2  # why\n"

    def test_the_message_says_both_lengths(self) -> None:
        with pytest.raises(LengthsDiffer, match="mine has 8 × 8 cells, other 9 × 9"):
            compare(picture_from(causal(8)), picture_from(causal(9)), "mine", "other")


class TestRulers:
    """Names stand where they belong, or nowhere."""

    def test_an_order_that_mixes_regions_has_none_of_their_names_on_either_axis(self) -> None:
        found = compare_orders(picture_of(MIXED))
        names = [[regions.name(0) for regions in (side.queries, side.keys)] for side in (found.left, found.right)]
        assert names == [["a", "a"], ["", ""]]
        assert [regions.name(0) for regions in found.regions] == ["", ""]

    def test_axes_share_names_only_where_places_and_names_agree(self) -> None:
        one = equal_regions(8, ("a", "b"))
        assert shared(one, equal_regions(8, ("a", "b"))) is one
        for other in (equal_regions(8, ("a", "c")), equal_regions(8, ("a", "b", "c"))):
            assert shared(one, other).name(0) == ""

    async def test_rows_of_another_name_have_a_ruler_of_their_own(self, make_app: MakeApp) -> None:
        async with make_app(MIXED, compile_=Pictures()).run_test(size=(120, 40)) as pilot:
            await design(pilot)
            shown = await compared(pilot, sizes=False)
            await pilot.press("m")
            await pilot.pause()
            left, right, difference = [pane for pane in shown.panes if pane.display]
            rows = [[view.render_line(y).text[: view.label_room] for y in range(3, 20)] for view in (left, right)]
            assert any(line.strip(" ▸") == "a" for line in rows[0])
            assert not any(line.strip(" ▸") in ("a", "b") for line in rows[1])
            assert any(line.strip(" ▸0123456789") != line.strip() for line in rows[1])
            assert difference.label_room < right.label_room


async def test_the_cursor_of_each_tile_map_stands_on_the_slots_of_its_own_order(
    make_app: MakeApp, tmp_path: Path
) -> None:
    saved = files.write(files.new_document(), MIXED, tmp_path / "mine.mask")
    async with make_app(document=saved, compile_=Pictures()).run_test(size=SIZE) as pilot:
        screen = await design(pilot)
        screen.query_one(MaskEditor).text = MIXED.replace("order everything stored by -at\n", "")
        await design(pilot)
        shown = await compared(pilot, sizes=False)
        await pilot.press("m")
        await pilot.pause()
        left, right = shown.query(TileMapView).results(TileMapView)
        await pilot.press("end")
        await pilot.pause()
        mask = shown.comparison.left
        assert (shown.view.query_cursor, shown.view.key_cursor) == mask.tokens_in(15, 15)
        assert (left.view.query_cursor, left.view.key_cursor) == (15, 15)
        assert (right.view.query_cursor, right.view.key_cursor) == mask.tokens_in(15, 15) != (15, 15)
        right.focus()
        await pilot.press("end")
        await pilot.pause()
        assert (shown.view.query_cursor, right.view.query_cursor) == (15, 15)
        assert (left.view.query_cursor, left.view.key_cursor) == mask.slots_of(15, 15)


async def test_heads_are_numbered_as_the_language_does(make_app: MakeApp) -> None:
    document = files.document_of("local_global_heads")
    async with make_app(document=document, compile_=Pictures()).run_test(size=(160, 40)) as pilot:
        screen = await design(pilot)
        title = screen.query_one(TitleBar)
        assert screen.picture is not None
        heads, pairs = screen.picture.heads, screen.picture.same_as
        assert f"head 0 of {heads} (same as head {pairs[0][1]})" in str(title.render())
        await pilot.press("d")
        await until(pilot, lambda: f"head 1 of {heads}" in str(title.render()))
        await design(pilot)
        await choose(pilot, "sliding_window")
        await pilot.press("enter")
        await dialog(pilot, CompareScreen)
        await pilot.pause()
        head = str(pilot.app.screen.query_one("#head", Static).content)
        assert head.startswith(f"COMPARE   local_global_heads, head 1 of {heads} | sliding_window   ")
