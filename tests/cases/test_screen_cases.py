"""Cases about screens: from a place on the screen to a cell, states without colour, screens of any size."""

from __future__ import annotations

import unicodedata

import pytest
from compilemask_app.drawing.ink import ASCII_GLYPHS, UNICODE_GLYPHS, Ink
from compilemask_app.drawing.viewport import Extent, Viewport

STATES = (Ink.EMPTY, Ink.PARTIAL, Ink.FULL, Ink.LEFT_ONLY, Ink.RIGHT_ONLY)
UNDER_CURSOR = (Ink.CURSOR_EMPTY, Ink.CURSOR_PART, Ink.CURSOR_FULL, Ink.CURSOR_WRONG)


@pytest.mark.parametrize(
    ("column", "row", "cell"),
    [
        (0, 0, (10, 20)),
        (1, 0, (10, 20)),
        (2, 0, (10, 21)),
        (-1, 0, None),
        (4, -1, None),
        (0, 53, (63, 20)),
        (0, 54, None),
        (87, 0, (10, 63)),
        (88, 0, None),
    ],
)
def test_a_place_of_the_map_is_a_cell_or_nothing(column: int, row: int, cell: tuple[int, int] | None) -> None:
    view = Viewport(64, 64, query_zoom=-1, key_zoom=-1, query_start=10, key_start=20)
    assert view.cell_at(column, row) == cell


@pytest.mark.parametrize("glyphs", [UNICODE_GLYPHS, ASCII_GLYPHS], ids=["unicode", "ascii"])
def test_states_differ_without_colour(glyphs: dict[Ink, str]) -> None:
    drawn = [glyphs[ink] for ink in (*STATES, *UNDER_CURSOR)]
    assert len(set(drawn)) == len(drawn)
    assert all(len(glyph) == 1 for glyph in drawn)


def test_plain_glyphs_are_one_column_wide_everywhere() -> None:
    assert {unicodedata.east_asian_width(glyph) for glyph in ASCII_GLYPHS.values()} == {"Na"}


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 10), (20, 6), (7, 3), (1, 1), (0, 0)])
def test_a_window_of_any_size_shows_no_less_than_nothing(columns: int, rows: int) -> None:
    view = Viewport(9, 9).fitted(Extent(columns, rows))
    assert view.tokens_across(columns) >= 0
    assert view.tokens_down(rows) >= 0
    assert len(view.key_edges(columns)) == columns + 1
    assert len(view.query_edges(rows)) == 2 * rows + 1
