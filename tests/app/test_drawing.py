"""The pure drawing layer against dense matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from compilemask_app.drawing.ink import ASCII_GLYPHS, BORDER, UNICODE_GLYPHS, Ink
from compilemask_app.drawing.palette import PALETTES
from compilemask_app.drawing.sampling import difference_inks, mask_inks, sampled, sampled_tiles, tile_inks
from compilemask_app.drawing.strips import glyph_rows, half_block_row, half_block_rows
from compilemask_app.drawing.viewport import Extent, Viewport
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals
from compilemask.tiles.build import build_tile_map
from tests.app.fakes import causal


def random_mask(rows: int, columns: int, seed: int, density: float) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((rows, columns)) < density


VIEWS = [
    Viewport(111, 111, query_zoom=1, key_zoom=1),
    Viewport(111, 111, query_zoom=3, key_zoom=3),
    Viewport(111, 63, query_zoom=7, key_zoom=7),
    Viewport(111, 111, query_zoom=-1, key_zoom=-1, query_start=40, key_start=33),
    Viewport(111, 111, query_zoom=-2, key_zoom=-2, query_start=104, key_start=105),
    Viewport(1, 1000, query_zoom=-2, key_zoom=16),
]


@pytest.mark.parametrize("view", VIEWS)
def test_every_pixel_of_the_mask_says_what_its_cells_are(view: Viewport) -> None:
    mask = random_mask(view.query_length, view.key_length, 7, 0.3)
    mask[:, :20] = True
    extent = Extent(29, 9)

    inks = mask_inks(sampled(Intervals.from_dense(mask)), view.query_edges(extent.rows), view.key_edges(extent.columns))

    for row in range(2 * extent.rows):
        for column in range(extent.columns):
            cells = cells_of(view, mask, row, column)
            assert ink_kind(inks[row, column]) == expected_kind(cells), (row, column)


@pytest.mark.parametrize("step", range(2, 9))
@pytest.mark.parametrize("zoom", [64, 65, 66, 67, 89, 128, 129])
def test_a_regular_mask_is_one_even_grey(step: int, zoom: int) -> None:
    """However many of its stripes a pixel happens to hold, where every pixel holds some."""
    places = np.arange(0, 2000, step, dtype=np.int64)
    rows = Intervals.from_dense(np.broadcast_to(np.isin(np.arange(2000), places), (2000, 2000)))
    edges = np.arange(0, 2000, zoom)
    assert len(np.unique(mask_inks(sampled(rows), edges, edges))) == 1


def cells_of(view: Viewport, mask: NDArray[np.bool_], half_row: int, column: int) -> NDArray[np.bool_]:
    def span(start: int, place: int, zoom: int, length: int) -> slice:
        if zoom > 0:
            return slice(min(length, start + place * zoom), min(length, start + (place + 1) * zoom))
        token = start + place // (-2 * zoom)
        return slice(min(length, token), min(length, token + 1))

    return mask[
        span(view.query_start, half_row, view.query_zoom, view.query_length),
        span(view.key_start, column, view.key_zoom, view.key_length),
    ]


def expected_kind(cells: NDArray[np.bool_]) -> str:
    if cells.size == 0:
        return "outside"
    return "full" if cells.all() else "part" if cells.any() else "empty"


def ink_kind(ink: int) -> str:
    return {Ink.OUTSIDE: "outside", Ink.EMPTY: "empty", Ink.FULL: "full"}.get(Ink(int(ink)), "part")


def test_one_visible_cell_in_a_million_tokens_is_drawn() -> None:
    length = 1_000_000
    offsets = np.zeros(length + 1, dtype=np.int64)
    offsets[777_778:] = 1
    lonely = Intervals(length, length, offsets, np.array([123_456], np.int32), np.array([123_457], np.int32))
    extent = Extent(100, 50)
    view = Viewport(length, length).fitted(extent)

    inks = mask_inks(sampled(lonely), view.query_edges(extent.rows), view.key_edges(extent.columns))

    assert (inks == Ink.SHADE_1).sum() == 1
    assert inks[777_777 // view.query_zoom, 123_456 // view.key_zoom] == Ink.SHADE_1


@pytest.mark.parametrize("zoom", [1, 2, 5, 16, 40, -1, -2])
def test_the_tile_map_agrees_with_the_dense_tiles(zoom: int) -> None:
    mask = random_mask(111, 97, 3, 0.02)
    mask[:48, :32] = True
    tiles = build_tile_map(Intervals.from_dense(mask), 16, 8)
    view = Viewport(111, 97, query_zoom=zoom, key_zoom=zoom)
    extent = Extent(31, 7)
    down, across = view.query_edges(extent.rows), view.key_edges(extent.columns)

    inks = tile_inks(sampled_tiles(tiles), down, across)

    for row in range(2 * extent.rows):
        for column in range(extent.columns):
            if down[row] >= 111 or across[column] >= 97:
                assert inks[row, column] == Ink.OUTSIDE
            elif abs(zoom) <= 2 or zoom == 16:
                kind = tile_kind(mask, int(down[row]) // 16, int(across[column]) // 8)
                if zoom < 16:
                    assert inks[row, column] == kind
    assert set(np.unique(inks)) <= {Ink.OUTSIDE, Ink.EMPTY, Ink.PARTIAL, Ink.FULL, Ink.MIXED_LOW, Ink.MIXED_HIGH}


def tile_kind(mask: NDArray[np.bool_], row: int, column: int) -> Ink:
    cells = mask[row * 16 : row * 16 + 16, column * 8 : column * 8 + 8]
    return Ink.FULL if cells.all() else Ink.PARTIAL if cells.any() else Ink.EMPTY


def test_differences_name_the_side() -> None:
    left, right = np.zeros((8, 8), dtype=np.bool_), np.zeros((8, 8), dtype=np.bool_)
    left[0, 0], right[7, 7], left[4, 4], right[5, 5] = True, True, True, True
    steps = np.arange(0, 9, 2, dtype=np.int64)

    inks = difference_inks(sampled(Intervals.from_dense(left)), sampled(Intervals.from_dense(right)), steps, steps)

    assert inks[0, 0] == Ink.LEFT_ONLY
    assert inks[3, 3] == Ink.RIGHT_ONLY
    assert inks[2, 2] == Ink.DIFFERS
    assert (inks == Ink.EMPTY).sum() == 13


class TestViewport:
    """Zoom, pan and cursor keep to the mask."""

    @given(st.integers(0, 5000), st.integers(0, 5000), st.lists(st.integers(0, 8), max_size=30), st.integers(0, 120))
    @settings(max_examples=120, deadline=None)
    def test_no_sequence_of_moves_leaves_the_mask(self, queries: int, keys: int, moves: list[int], width: int) -> None:
        extent = Extent(width, width // 3)
        view = Viewport(queries, keys).fitted(extent)
        for move in moves:
            view = self._move(view, extent, move)
            assert 0 <= view.query_start <= max(0, queries - 1)
            assert 0 <= view.key_start <= max(0, keys - 1)
            assert 0 <= view.query_cursor <= max(0, queries - 1)
            assert 0 <= view.key_cursor <= max(0, keys - 1)

    @staticmethod
    def _move(view: Viewport, extent: Extent, move: int) -> Viewport:
        match move:
            case 0:
                return view.zoomed(extent, closer=True)
            case 1:
                return view.zoomed(extent, closer=False)
            case 2:
                return view.to_cells(extent)
            case 3:
                return view.fitted(extent)
            case 4:
                return view.panned(extent, 5, -7)
            case 5:
                return view.panned(extent, -5, 11)
            case _:
                return view.moved(extent, *((-3, 9) if move == 6 else (40, -2) if move == 7 else (0, 1)))

    @given(st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 200), st.integers(1, 80))
    @settings(max_examples=100, deadline=None)
    def test_fitting_shows_the_whole_mask(self, queries: int, keys: int, columns: int, rows: int) -> None:
        extent = Extent(columns, rows)

        view = Viewport(queries, keys).fitted(extent)

        assert view.shows_whole(extent)
        assert view.column_of(keys - 1) < columns
        assert view.row_of(queries - 1) < rows

    @pytest.mark.parametrize("zoom", [1, 4, 333, -1, -3])
    def test_a_place_on_the_screen_and_its_cell_agree(self, zoom: int) -> None:
        view = Viewport(32_768, 32_768, query_zoom=zoom, key_zoom=zoom, query_start=100, key_start=64)
        for row, column in ((0, 0), (3, 8), (7, 25)):
            cell = view.cell_at(column, row)
            assert cell is not None
            assert view.row_of(cell[0]) == row - row % max(1, -zoom)
            assert view.column_of(cell[1]) == column - column % max(1, -2 * zoom)

    def test_places_on_the_rulers_and_past_the_end_are_no_cells(self) -> None:
        view = Viewport(64, 64, query_zoom=-1, key_zoom=-1, query_start=10, key_start=20)
        assert view.cell_at(0, 0) == (10, 20) == view.cell_at(1, 0)
        assert view.cell_at(2, 0) == (10, 21)
        assert view.cell_at(-1, 0) is None
        assert view.cell_at(0, -1) is None
        assert view.cell_at(0, 53) == (63, 20)
        assert view.cell_at(0, 54) is None
        assert view.cell_at(87, 0) == (10, 63)
        assert view.cell_at(88, 0) is None

    def test_the_cursor_stays_where_it_is_while_zooming(self) -> None:
        extent = Extent(100, 30)
        view = Viewport(32_768, 32_768).fitted(extent).at(extent, 20_000, 9_000)
        closer = view.zoomed(extent, closer=True).zoomed(extent, closer=True)
        assert (closer.query_cursor, closer.key_cursor) == (20_000, 9_000)
        assert abs(closer.row_of(20_000) - view.row_of(20_000)) <= 1
        assert abs(closer.column_of(9_000) - view.column_of(9_000)) <= 1


class TestLooks:
    """What reaches the terminal."""

    def test_runs_of_one_look_are_one_segment_and_even_cells_are_spaces(self) -> None:
        upper = np.array([1, 1, 1, 6, 6, 1], dtype=np.uint8)
        lower = np.array([1, 1, 1, 6, 1, 1], dtype=np.uint8)
        segments = half_block_row(upper, lower, "dusk")
        assert [segment.text for segment in segments] == ["   ", " ", "▀", " "]

    def test_every_segment_has_a_ground_of_its_own(self) -> None:
        inks = mask_inks(sampled(causal(64)), np.arange(65), np.arange(65))
        for segments in half_block_rows(inks, "paper"):
            assert sum(len(segment.text) for segment in segments) == 64
            assert all(segment.style is not None and segment.style.bgcolor is not None for segment in segments)

    @pytest.mark.parametrize("glyphs", [UNICODE_GLYPHS, ASCII_GLYPHS], ids=["unicode", "ascii"])
    def test_states_differ_without_colour(self, glyphs: dict[Ink, str]) -> None:
        states = [Ink.EMPTY, Ink.PARTIAL, Ink.FULL, Ink.LEFT_ONLY, Ink.RIGHT_ONLY, Ink.WRONG]
        cursors = [Ink.CURSOR_EMPTY, Ink.CURSOR_PART, Ink.CURSOR_FULL, Ink.CURSOR_WRONG]
        shown = [glyphs[ink] for ink in states + cursors]
        assert len(set(shown)) == len(shown)
        assert all(len(glyph) == 1 for glyph in glyphs.values())
        assert set(glyphs) == set(Ink)

    def test_the_ascii_set_is_ascii(self) -> None:
        assert "".join(ASCII_GLYPHS.values()).isascii()

    def test_text_rows_show_the_diagonal_as_a_part(self) -> None:
        inks = mask_inks(sampled(causal(4)), np.arange(5), np.arange(5))
        rows = glyph_rows(inks, None, ascii_only=True)
        assert ["".join(segment.text for segment in row) for row in rows] == ["#*..", "###*"]

    @pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
    def test_lightness_tells_empty_shades_and_full_apart(self, palette: object) -> None:
        from compilemask_app.drawing.palette import Palette

        assert isinstance(palette, Palette)
        steps = [palette.empty, *palette.shades, palette.full]
        light = [luminance(colour) for colour in steps]
        ascending = light if light[-1] > light[0] else light[::-1]
        assert all(b > a for a, b in itertools.pairwise(ascending))
        assert abs(luminance(palette.left) - luminance(palette.right)) > 0.08
        assert abs(luminance(palette.partial) - luminance(palette.full)) > 0.08
        assert abs(luminance(palette.partial) - luminance(palette.empty)) > 0.08

    def test_border_inks_keep_their_meaning(self) -> None:
        palette = PALETTES["dusk"]
        assert palette.colour(Ink.FULL + BORDER) != palette.colour(Ink.FULL)
        assert palette.colour(Ink.FULL + BORDER) != palette.colour(Ink.EMPTY + BORDER)


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance, WCAG 2.1."""

    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(part) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
