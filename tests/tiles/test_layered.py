"""Maps of layers, united tile by tile, are the maps of the united masks."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilemask.intervals import Intervals
from compilemask.intervals.layers import Repeated, united
from compilemask.tiles import TileMap, build_tile_map
from compilemask.tiles.layered import layered_tile_map
from compilemask.tiles.union import union
from tests.strategies import DenseMask, dense_masks, mask_pairs


def check_equal(found: TileMap, expected: TileMap) -> None:
    """Field for field."""
    for one in fields(TileMap):
        left, right = getattr(found, one.name), getattr(expected, one.name)
        np.testing.assert_array_equal(left, right, err_msg=one.name)
        assert getattr(left, "dtype", None) == getattr(right, "dtype", None), one.name


@given(mask_pairs(), st.integers(1, 9), st.integers(1, 9))
def test_the_union_of_maps_is_the_map_of_the_union(pair: tuple[DenseMask, DenseMask], m: int, n: int) -> None:
    a, b = (build_tile_map(Intervals.from_dense(mask), m, n) for mask in pair)

    check_equal(union(a, b), build_tile_map(Intervals.from_dense(pair[0] | pair[1]), m, n))


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (7, 8), (8, 5), (5, 7), (16, 16), (15, 13)])
def test_tiles_become_full_where_the_parts_fill_what_is_in_range(rows: int, columns: int) -> None:
    left = np.zeros((rows, columns), np.bool_)
    left[:, : columns // 2] = True
    left[0, -1] = True
    a, b = (build_tile_map(Intervals.from_dense(mask), 8, 8) for mask in (left, ~left))
    whole = union(a, b)

    assert (whole.full, whole.partial, whole.distinct_partial) == (whole.query_tiles * whole.key_tiles, 0, 0)


@given(dense_masks(largest=6), dense_masks(largest=12), st.integers(1, 60), st.integers(0, 9), st.data())
def test_layers_of_repeated_rows_give_the_map_of_all_rows(
    first: DenseMask, second: DenseMask, rows: int, period: int, data: st.DataObject
) -> None:
    columns = min(first.shape[1], second.shape[1])
    layers, dense = [], np.zeros((rows, columns), np.bool_)
    for mask in (first, second):
        if not mask.shape[0]:
            continue
        kind = np.arange(rows) // (period + 1) % mask.shape[0] if period < 5 else np.arange(rows) % mask.shape[0]
        layers.append(Repeated(Intervals.from_dense(mask[:, :columns]), kind.astype(np.int32)))
        dense |= mask[kind, :columns]
    if not layers:
        return
    m, n = data.draw(st.sampled_from([1, 3, 4, 8])), data.draw(st.sampled_from([1, 4, 5]))
    generator = np.random.default_rng(rows)
    row_order, order = generator.permutation(rows), generator.permutation(columns)

    assert united(layers) == Intervals.from_dense(dense)
    check_equal(layered_tile_map(layers, m, n), build_tile_map(Intervals.from_dense(dense), m, n))
    moved = [layer.permute_rows(row_order) for layer in layers]
    expected = build_tile_map(Intervals.from_dense(dense[row_order][:, order]), m, n)
    check_equal(layered_tile_map(moved, m, n, order), expected)
