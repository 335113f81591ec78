"""Counts from runs against sums over the dense mask, and against the other two ways of counting."""

from __future__ import annotations

import numpy as np
from compilemask_app.drawing.run_counts import RunCounts
from hypothesis import given
from hypothesis import strategies as st

from compilemask.intervals import Coverage, Intervals
from tests.intervals.test_coverage import dense_counts
from tests.strategies import DenseMask, dense_masks


@given(dense_masks(), st.data())
def test_counts_agree_with_dense(mask: DenseMask, data: st.DataObject) -> None:
    rows = np.array(sorted(data.draw(st.lists(st.integers(0, mask.shape[0]), min_size=2, max_size=6))))
    columns = np.array(sorted(data.draw(st.lists(st.integers(0, mask.shape[1]), min_size=2, max_size=6))))

    found = RunCounts(Intervals.from_dense(mask)).between(rows, columns)
    turned = RunCounts(Intervals.from_dense(mask.T), transposed=True).between(rows, columns)

    np.testing.assert_array_equal(found, dense_counts(mask, rows, columns))
    np.testing.assert_array_equal(turned, found)


def test_scattered_runs_of_a_long_mask_are_counted_as_a_coverage_counts_them() -> None:
    length, per_row = 1 << 14, 5
    row = np.repeat(np.arange(length), per_row)
    slots = np.random.default_rng(1).permuted(np.tile(np.arange(0, length, 1 << 11), (length, 1)), axis=1)[:, :per_row]
    starts = np.sort(slots, axis=1).ravel() + row % 1000
    scattered = Intervals.from_runs(length, length, row, starts, starts + 1 + row % 700)
    edges = np.arange(121) * length // 120, np.arange(201) * length // 200

    found = RunCounts(scattered).between(*edges)

    np.testing.assert_array_equal(found, Coverage(scattered).between(*edges))
    assert found.sum() == scattered.visible


def test_a_single_cell_of_a_million_tokens_is_seen() -> None:
    length = 1 << 20
    one = np.array([777_777])
    edges = np.arange(61) * length // 60, np.arange(201) * length // 200

    counts = RunCounts(Intervals.from_runs(length, length, one, one, one + 1)).between(*edges)

    assert counts.sum() == 1
    assert counts[777_777 * 60 // length, 777_777 * 200 // length] == 1
