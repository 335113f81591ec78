"""Tile rows that repeat earlier ones give the same map as tile rows judged one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask.intervals import Intervals
from compilemask.tiles import TileMap, build_tile_map, repeats
from compilemask.tiles.repeats import find_repeats


@pytest.fixture(autouse=True, scope="module")
def _masks_of_few_runs_too() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "RUNS_A_ROW", 0)
        yield


def windows(text: int, height: int, width: int, reach: int, tail: int) -> NDArray[np.bool_]:
    """Text sees and is seen by all, as are `tail` keys at the end; image tokens see those up to `reach` away."""
    size = height * width
    y, x = np.arange(size) // width, np.arange(size) % width
    near = (np.abs(y[:, None] - y) <= reach) & (np.abs(x[:, None] - x) <= reach)
    mask = np.ones((text + size, text + size + tail), np.bool_)
    mask[text:, text : text + size] = near
    return mask


def patches(text: int, height: int, width: int, tail: int, side: int) -> NDArray[np.int64]:
    """Image tokens patch by patch; text and tail where they are."""
    slot = np.arange(height * width)
    y, x = slot // width, slot % width
    image = np.lexsort((slot, x // side, y // side))
    last = text + height * width
    return np.concatenate((np.arange(text), text + image, np.arange(last, last + tail)))


def same(map_: TileMap, mask: NDArray[np.bool_], block_m: int, block_n: int) -> bool:
    """Whether the map is the one of tile rows judged one by one, array for array."""
    rows = Intervals.from_dense(mask)
    parts = [
        build_tile_map(rows.rows_between(a, min(a + block_m, rows.rows)), block_m, block_n)
        for a in range(0, rows.rows, block_m)
    ]
    full = np.concatenate([part.full_runs for part in parts])
    partial = np.concatenate([part.partial_tiles for part in parts])
    return (
        np.array_equal(map_.full_runs, full)
        and np.array_equal(map_.partial_tiles, partial)
        and np.array_equal(map_.to_dense(), mask)
    )


@given(
    st.integers(0, 9), st.integers(6, 14), st.integers(4, 14), st.integers(3, 4), st.integers(0, 5),
    st.sampled_from((4, 6, 8, 12)), st.sampled_from((2, 4, 8)), st.booleans(),
)  # fmt: skip
def test_maps_of_windows_are_those_of_their_cells(
    text: int, height: int, width: int, reach: int, tail: int, block_m: int, block_n: int, moved: bool
) -> None:
    mask = windows(text, height, width, reach, tail)
    rows = Intervals.from_dense(mask)
    if not moved:
        assert same(build_tile_map(rows, block_m, block_n), mask, block_m, block_n)
        return
    keys, queries = patches(text, height, width, tail, 2), patches(text, height, width, 0, 2)
    map_ = build_tile_map(rows.permute_rows(queries), block_m, block_n, keys)
    assert same(map_, mask[queries][:, keys], block_m, block_n)


@pytest.mark.parametrize(("text", "tail"), [(0, 0), (8, 0), (8, 8), (3, 0)])
def test_windows_in_patches_repeat(text: int, tail: int) -> None:
    height, width, side = 32, 48, 4
    mask = windows(text, height, width, 4, tail)
    queries, keys = patches(text, height, width, 0, side), patches(text, height, width, tail, side)
    rows = Intervals.from_dense(mask).permute_rows(queries)
    found = find_repeats(rows, 8, 8, keys)
    assert found is not None
    assert 3 * found.models.size < found.model.size
    assert same(build_tile_map(rows, 8, 8, keys), mask[queries][:, keys], 8, 8)


def test_the_last_ragged_tile_is_judged_by_itself() -> None:
    mask = windows(0, 27, 12, 4, 0)
    rows = Intervals.from_dense(mask)
    found = find_repeats(rows, 12, 8, None)
    assert found is not None
    assert found.models[-1] >= 24
    assert same(build_tile_map(rows, 12, 8), mask, 12, 8)


def test_masks_without_repeats_are_judged_whole() -> None:
    mask = np.random.default_rng(1).random((63, 111)) < 0.5
    assert find_repeats(Intervals.from_dense(mask), 8, 8, None) is None
    assert find_repeats(Intervals.empty(64, 64), 8, 8, None) is not None
    assert build_tile_map(Intervals.empty(64, 64), 8, 8).visited == 0
    assert same(build_tile_map(Intervals.from_dense(mask), 8, 8), mask, 8, 8)
