"""What stands around and over a map: rulers, titles, overlays, minimap, and the plot of times."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.minimap import draw_minimap, minimap_of
from compilemask_app.drawing.overlays import runs_per_row, tile_borders, work_per_row
from compilemask_app.drawing.plot import Point, Series, plot
from compilemask_app.drawing.regions import in_slots
from compilemask_app.drawing.rulers import left_labels, shorten, top_labels
from compilemask_app.drawing.sampling import sampled
from compilemask_app.drawing.titles import FORMS, fitting_title
from compilemask_app.drawing.viewport import Extent, Viewport

from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form
from compilemask.tiles.build import build_tile_map
from tests.app.fakes import causal, equal_regions


class TestRulers:
    """Names and numbers along the edges."""

    def test_labels_never_overlap(self) -> None:
        regions = equal_regions(1000, tuple(f"answer[{number}]" for number in range(40)))
        for columns in (10, 37, 80, 200):
            view = Viewport(1000, 1000).fitted(Extent(columns, columns // 2))
            for labels in top_labels(regions, view, columns):
                ends = [(label.place, label.place + len(label.text)) for label in labels]
                assert all(b[0] >= a[1] for a, b in itertools.pairwise(ends))
                assert all(end <= columns for _, end in ends)

    def test_region_starts_carry_exact_numbers(self) -> None:
        regions = equal_regions(32_768, ("prompt", "answer"))
        view = Viewport(32_768, 32_768).fitted(Extent(64, 32))
        _, numbers = top_labels(regions, view, 64)
        assert "╵16,384" in [label.text for label in numbers]
        down = left_labels(regions, view, 32)
        assert down[16].text == "answer"
        assert down[17].text == "16,384"

    def test_names_of_regions_that_have_no_room_for_their_numbers_give_way_to_those_around(self) -> None:
        inner = equal_regions(400, tuple(f"answer[{number}]" for number in range(20)))
        regions = replace(inner, outer=equal_regions(400, ("left", "right")))
        view = Viewport(400, 400, query_zoom=8, key_zoom=8)
        down = left_labels(regions, view, 60)  # of which 25 hold the mask
        assert [label.text for label in down.values() if label.strong] == ["left", "right"]
        assert "200" in [label.text for label in down.values()]
        close = left_labels(regions, replace(view, query_zoom=4, key_zoom=4), 60)
        assert len([label for label in close.values() if label.strong]) == 20

    def test_a_place_names_its_region(self) -> None:
        regions = equal_regions(100, ("prompt", "answer"))
        assert regions.place(73) == "answer+23"


class TestTitles:
    """The line above a map."""

    @pytest.mark.parametrize("width", range(0, 120))
    def test_a_legend_is_whole_or_not_there_and_comes_before_the_details_of_a_heading(self, width: int) -> None:
        headings, names = ("MASK  1,058 tokens a pixel", "MASK  1,058 a pixel", "MASK"), ("some", "many", "all")
        form, heading = fitting_title(headings, names, width)
        needed = 0 if form is None else 1 + form.columns(names)
        assert len(heading) + needed <= width or (form, heading) == (None, "MASK")
        assert (form is not None) == (width >= len("MASK") + 1 + FORMS[-1].columns(names))
        if width >= 50:
            assert heading == headings[0]

    def test_a_name_without_room_leaves_its_number(self) -> None:
        assert [shorten("document[3]", width) for width in (11, 7, 4, 3, 2)] == [
            "document[3]",
            "doc…[3]",
            "[3]",
            "[3]",
            "d…",
        ]


class TestOverlays:
    """Bars and borders."""

    def test_borders_stand_where_tiles_begin(self) -> None:
        steps = np.arange(0, 65, dtype=np.int64)
        borders = tile_borders(steps, steps, 16, 32)
        assert np.flatnonzero(borders.all(axis=1)).tolist() == [0, 16, 32, 48]
        assert np.flatnonzero(borders.all(axis=0)).tolist() == [0, 32]

    def test_borders_vanish_where_tiles_are_too_small(self) -> None:
        steps = np.arange(0, 65, 8, dtype=np.int64)
        assert not tile_borders(steps, steps, 16, 16).any()

    def test_work_and_runs_are_shares_of_the_most(self) -> None:
        mask = np.tril(np.ones((64, 64), dtype=np.bool_))
        mask[63, ::2] = False
        rows = Intervals.from_dense(mask)
        tiles = build_tile_map(rows, 16, 16)
        steps = np.arange(0, 65, 16, dtype=np.int64)
        assert work_per_row(tiles, steps).tolist() == [0.25, 0.5, 0.75, 1.0]
        assert runs_per_row(Lowered(Form.ROW, rows), steps).tolist() == [1 / 32, 1 / 32, 1 / 32, 1.0]


class TestPlot:
    """Points over a length."""

    def test_every_series_is_seen_where_points_meet(self) -> None:
        series = tuple(
            Series(name, mark, (Point(1024, 500, 490, 510), Point(4096, 600, 600, 600)))
            for name, mark in (("ours", "a"), ("peer", "b"), ("other", "c"))
        )
        drawn = plot(series, 60, 14)
        text = "\n".join(drawn.lines)
        assert [text.count(mark) for mark in "abc"] == [2, 2, 2]
        assert "1K" in drawn.lines[-1]
        assert "4K" in drawn.lines[-1]
        assert all(len(line) == 60 for line in drawn.lines[:-1])

    def test_nothing_to_plot_is_said(self) -> None:
        assert plot((), 60, 14).lines == ("nothing to plot yet",)

    def test_values_stand_at_their_height(self) -> None:
        drawn = plot((Series("a", "x", (Point(1024, 1000, 1000, 1000), Point(2048, 0, 0, 0))),), 60, 14)
        rows = [row for row, line in enumerate(drawn.lines) if "x" in line]
        assert rows == [0, 11]


class TestMinimap:
    """The whole in a corner."""

    def test_there_is_none_while_the_whole_is_shown(self) -> None:
        extent = Extent(80, 30)
        assert minimap_of(Viewport(1000, 1000).fitted(extent), extent) is None
        assert minimap_of(Viewport(1000, 1000).to_cells(extent), Extent(20, 30)) is None

    def test_its_cells_are_those_of_the_mask_and_the_window_is_marked(self) -> None:
        extent = Extent(80, 30)
        view = Viewport(1000, 1000).fitted(extent).at(extent, 900, 100).to_cells(extent)
        found = minimap_of(view, extent)
        assert found is not None
        cell = found.cell_at(found.left + 2, found.top + 5)
        assert cell is not None
        assert abs(cell[0] - 840) <= 168
        assert found.cell_at(found.left - 1, found.top) is None
        inks = np.full((60, 80), Ink.EMPTY, dtype=np.uint8)
        draw_minimap(inks, found, sampled(causal(1000)), view, extent)
        rows, columns = np.nonzero(inks == Ink.CURSOR_FULL)
        shown = found.whole.cell_at(int(columns[0]) - found.left, int(rows[0]) // 2 - found.top)
        assert shown is not None
        assert abs(shown[0] - view.query_start) <= 168
        assert abs(shown[1] - view.key_start) <= 84


class TestRegionsOfSlots:
    """The rulers of a map in the kernel's order name only what is true of its slots."""

    def test_an_order_within_the_regions_keeps_their_names(self) -> None:
        regions = equal_regions(100, ("prompt", "answer"))
        order = np.concatenate((np.arange(50)[::-1], np.arange(50, 100))).astype(np.int32)
        assert in_slots(regions, order).place(73) == "answer+23"
        assert in_slots(regions, None) is regions

    def test_an_order_that_mixes_the_regions_takes_their_names(self) -> None:
        regions = equal_regions(100, ("prompt", "answer"))
        order = np.arange(100, dtype=np.int32)
        order[[3, 70]] = order[[70, 3]]
        assert in_slots(regions, order).place(73) == "73"

    def test_the_regions_around_keep_their_names_where_those_within_are_mixed(self) -> None:
        outer = equal_regions(100, ("left", "right"))
        inner = replace(equal_regions(100, ("a", "b", "c", "d")), outer=outer)
        order = np.arange(100, dtype=np.int32)
        order[[3, 30]] = order[[30, 3]]
        assert in_slots(inner, order).place(73) == "right+23"
