"""Pixel counts against sums over the dense mask."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compilemask.intervals import Coverage, Intervals
from compilemask.intervals.coverage import coverage
from tests.strategies import DenseMask, dense_masks


def dense_counts(mask: DenseMask, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The visible cells between edges, one rectangle after the other."""
    return np.array([[mask[a:b, c:d].sum() for c, d in pairwise(columns)] for a, b in pairwise(rows)]).reshape(
        rows.size - 1, columns.size - 1
    )


@given(dense_masks(), st.data())
def test_counts_agree_with_dense(mask: DenseMask, data: st.DataObject) -> None:
    rows = np.array(sorted(data.draw(st.lists(st.integers(0, mask.shape[0]), min_size=2, max_size=6))))
    columns = np.array(sorted(data.draw(st.lists(st.integers(0, mask.shape[1]), min_size=2, max_size=6))))

    found = Coverage(Intervals.from_dense(mask)).between(rows, columns)
    turned = Coverage(Intervals.from_dense(mask.T), transposed=True).between(rows, columns)

    np.testing.assert_array_equal(found, dense_counts(mask, rows, columns))
    np.testing.assert_array_equal(turned, found)


@given(st.integers(1, 60), st.integers(-40, 40), st.integers(-40, 40), st.integers(1, 9), st.integers(1, 9))
def test_bands_agree_with_dense(length: int, behind: int, ahead: int, height: int, width: int) -> None:
    row = np.arange(length)
    intervals = Intervals.from_bounds(length, row - behind, row + ahead + 1)
    edges = np.arange(height + 1) * length // height, np.arange(width + 1) * length // width

    found = coverage(intervals, 0, length, 0, length, height, width)

    np.testing.assert_array_equal(found, dense_counts(intervals.to_dense(), *edges))


def test_a_single_cell_of_a_million_tokens_is_seen() -> None:
    length = 1 << 20
    one = np.array([777_777])
    counts = coverage(Intervals.from_runs(length, length, one, one, one + 1), 0, length, 0, length, 60, 200)

    assert counts.sum() == 1
    assert counts[777_777 * 60 // length, 777_777 * 200 // length] == 1
