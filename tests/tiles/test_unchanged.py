"""Tiles like their left neighbour are left out of the comparison, and the map is that of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask.intervals import Intervals
from compilemask.tiles import build_tile_map, patterns, unchanged
from compilemask.tiles.build import Group, Judged
from tests.strategies import DenseMask, dense_masks
from tests.tiles.test_tile_map import check_tile_map


@pytest.fixture(autouse=True, scope="module")
def _short_runs_too() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unchanged, "PIECES_PER_RUN", -1)
        yield


@given(dense_masks(), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_maps_are_those_of_their_cells(mask: DenseMask, m: int, n: int, merged: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if merged:
            patch.setattr("compilemask.tiles.build.COUNTED_TILES_PER_RUN", -(10**9))
        check_tile_map(build_tile_map(Intervals.from_dense(mask), m, n), mask)


@given(dense_masks(), st.sampled_from([1, 3, 8]), st.sampled_from([1, 2, 5]))
def test_maps_of_moved_columns_are_those_of_their_cells(mask: DenseMask, m: int, n: int) -> None:
    order = np.random.default_rng(mask.size).permutation(mask.shape[1])

    check_tile_map(build_tile_map(Intervals.from_dense(mask), m, n, order), mask[:, order])


@pytest.mark.parametrize(("columns", "compared"), [(96, 2), (93, 3), (97, 3)])
def test_a_long_run_is_compared_where_it_begins_and_once_more(
    columns: int, compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = np.zeros((4, columns), np.bool_)
    mask[1, 5:] = True
    seen = []
    number = patterns.PatternTable._number

    def noted(table: patterns.PatternTable, group: Group, judged: Judged, base: NDArray[np.integer]) -> Any:
        seen.append(judged.partial.size)
        return number(table, group, judged, base)

    monkeypatch.setattr(patterns.PatternTable, "_number", noted)

    check_tile_map(build_tile_map(Intervals.from_dense(mask), 4, 8), mask)
    assert seen == [compared]
