"""Counting visible cells per bin from runs equals counting them in the dense mask."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask.intervals import Intervals
from compilemask.measure.coverage import areas, bin_bounds, visible_cells


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (63, 111), (1000, 37), (5, 1000)])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.5, 0.98, 1.0])
def test_counts_equal_those_of_the_dense_mask(rows: int, columns: int, density: float) -> None:
    dense = np.random.default_rng(rows + columns).random((rows, columns)) < density
    runs = Intervals.from_dense(dense)
    bands, bins = bin_bounds(rows, 14), bin_bounds(columns, 33)

    counts = visible_cells(runs.run_rows(), runs.starts, runs.ends, bands, bins)

    expected = np.add.reduceat(np.add.reduceat(dense.astype(np.int64), bands[:-1], axis=0), bins[:-1], axis=1)
    assert np.array_equal(counts, expected)
    assert areas(bands, bins).sum() == rows * columns


def test_there_are_never_more_bins_than_tokens() -> None:
    assert bin_bounds(3, 10).tolist() == [0, 1, 2, 3]
    assert bin_bounds(10, 3).tolist() == [0, 3, 6, 10]


def test_a_million_rows_are_counted_exactly() -> None:
    length = 2**20
    every = np.arange(length, dtype=np.int64)
    bounds = bin_bounds(length, 4)

    counts = visible_cells(every, np.zeros(length, np.int64), every + 1, bounds, bounds)

    quarter = length // 4
    triangle = quarter * (quarter + 1) // 2
    assert counts.tolist() == [
        [triangle if column == row else quarter**2 if column < row else 0 for column in range(4)] for row in range(4)
    ]
