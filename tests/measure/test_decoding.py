"""Reading a descriptor back gives the dense mask that it was built from."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.measure.decoding import columns_by_key, listed_cells, rows_by_query

SIZES = [(1, 1), (63, 111), (128, 128), (200, 65), (65, 300)]
BLOCKS = [(64, 64), (128, 64), (64, 128)]


def masks(queries: int, keys: int) -> np.ndarray:
    random = np.random.default_rng(queries * keys)
    some = random.random((2, queries, keys)) < 0.3
    some[0, : queries // 2, : keys // 2] = True
    some[1, queries // 3 :, :] = False
    return some[None]


@pytest.mark.parametrize(("block_m", "block_n"), BLOCKS)
@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_rows_columns_and_counts_are_those_of_the_mask(queries: int, keys: int, block_m: int, block_n: int) -> None:
    dense = masks(queries, keys)
    descriptor = descriptor_from_dense(dense, block_m, block_n)

    for head in range(2):
        variant = int(descriptor.variant[0, head])
        rows = rows_by_query(descriptor, variant, np.arange(queries))
        columns = columns_by_key(descriptor, variant, np.arange(keys))
        visible = int(dense[0, head].sum())
        assert np.array_equal(rows[:, :keys], dense[0, head])
        assert not rows[:, keys:].any()
        assert np.array_equal(columns[:, :queries].T, dense[0, head])
        assert listed_cells(descriptor, descriptor.by_query, variant, walks_queries=True) == visible
        assert listed_cells(descriptor, descriptor.by_key, variant, walks_queries=False) == visible
