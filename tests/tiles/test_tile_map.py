"""Tile maps against a dense computation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilemask.intervals import Intervals
from compilemask.tiles import TileKind, TileMap, build_tile_map, patterns, visited_tiles
from tests.strategies import DenseMask, dense_masks


def dense_kinds(mask: DenseMask, m: int, n: int) -> list[list[TileKind]]:
    """The kind of every tile, cell by cell."""
    kinds = []
    for top in range(0, mask.shape[0], m):
        row = []
        for left in range(0, mask.shape[1], n):
            tile = mask[top : top + m, left : left + n]
            row.append(TileKind.FULL if tile.all() else TileKind.PARTIAL if tile.any() else TileKind.EMPTY)
        kinds.append(row)
    return kinds


def check_tile_map(tiles: TileMap, mask: DenseMask) -> None:
    """Every claim of a tile map against the dense mask."""
    m, n = tiles.block_m, tiles.block_n
    expected = np.array(dense_kinds(mask, m, n), np.uint8).reshape(tiles.query_tiles, tiles.key_tiles)
    np.testing.assert_array_equal(tiles.kinds(), expected)
    np.testing.assert_array_equal(tiles.to_dense(), mask)
    assert (tiles.empty, tiles.partial, tiles.full) == tuple((expected == kind).sum() for kind in TileKind)
    np.testing.assert_array_equal(tiles.visited_per_query_tile(), (expected > 0).sum(axis=1))
    used, first = np.unique(tiles.partial_patterns, return_index=True)
    np.testing.assert_array_equal(used, np.arange(tiles.distinct_partial))
    assert (np.diff(first) > 0).all()
    assert len({pattern.tobytes() for pattern in tiles.patterns}) == tiles.distinct_partial


@given(dense_masks(), st.integers(1, 40), st.integers(1, 40))
def test_tiles_agree_with_dense(mask: DenseMask, m: int, n: int) -> None:
    check_tile_map(build_tile_map(Intervals.from_dense(mask), m, n), mask)


@given(dense_masks(), st.sampled_from([1, 3, 8, 33]), st.sampled_from([1, 5, 8, 40]))
def test_tiles_of_the_column_form_turned_are_those_of_the_row_form(mask: DenseMask, m: int, n: int) -> None:
    rows = build_tile_map(Intervals.from_dense(mask), m, n)
    columns = build_tile_map(Intervals.from_dense(mask.T), n, m).transpose()

    for name in ("full_offsets", "full_runs", "partial_offsets", "partial_tiles", "partial_patterns", "patterns"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(columns, name), err_msg=name)


@given(dense_masks(), st.sampled_from([1, 3, 8]), st.sampled_from([2, 5, 16]))
def test_long_masks_are_judged_without_a_counter_per_tile(mask: DenseMask, m: int, n: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compilemask.tiles.build.COUNTED_TILES_PER_RUN", -(10**9))
        check_tile_map(build_tile_map(Intervals.from_dense(mask), m, n), mask)


@pytest.mark.parametrize("pieces", [1, 50])
def test_small_chunks_change_nothing(pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mask = np.random.default_rng(3).random((97, 61)) < np.linspace(0, 1, 61)
    monkeypatch.setattr("compilemask.tiles.build.RUNS_AT_ONCE", pieces)
    monkeypatch.setattr("compilemask.tiles.patterns.PATTERNS_AT_ONCE", 2)

    check_tile_map(build_tile_map(Intervals.from_dense(mask), 8, 8), mask)


def test_equal_hashes_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = np.random.default_rng(5).random((64, 64)) < 0.5
    monkeypatch.setattr(patterns, "weights", lambda m, n: np.zeros(m * (n + 1), np.uint64))

    check_tile_map(build_tile_map(Intervals.from_dense(mask), 8, 8), mask)


@given(dense_masks(), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_a_window_is_a_part_of_the_whole(mask: DenseMask, q0: int, dq: int, k0: int, dk: int) -> None:
    tiles = build_tile_map(Intervals.from_dense(mask), 5, 4)

    np.testing.assert_array_equal(tiles.window(q0, q0 + dq, k0, k0 + dk), tiles.kinds()[q0 : q0 + dq, k0 : k0 + dk])


def test_causal_has_one_pattern_and_one_run_of_full_tiles_a_row() -> None:
    length = 1 << 14
    row = np.arange(length)
    tiles = build_tile_map(Intervals.from_bounds(length, row * 0, row + 1), 128, 128)

    assert tiles.distinct_partial == 1
    assert tiles.partial == 128
    assert tiles.full_runs.shape == (127, 2)


@given(dense_masks(), st.sampled_from([1, 3, 8, 33]), st.sampled_from([1, 5, 8, 40]))
def test_moved_columns_are_judged_without_moving_the_mask(mask: DenseMask, m: int, n: int) -> None:
    order = np.random.default_rng(mask.size).permutation(mask.shape[1])

    check_tile_map(build_tile_map(Intervals.from_dense(mask), m, n, order), mask[:, order])


@given(dense_masks(), st.sampled_from([1, 3, 8]), st.sampled_from([1, 5, 8]))
def test_visited_tiles_are_counted_without_moving_the_mask(mask: DenseMask, m: int, n: int) -> None:
    generator = np.random.default_rng(mask.size)
    rows, columns = generator.permutation(mask.shape[0]), generator.permutation(mask.shape[1])
    intervals = Intervals.from_dense(mask)
    expected = (np.array(dense_kinds(mask[rows][:, columns], m, n)) > 0).sum()

    assert visited_tiles(intervals, m, n, rows, columns) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compilemask.tiles.visited.MOST_COUNTED", 0)
        assert visited_tiles(intervals, m, n, rows, columns) == expected
