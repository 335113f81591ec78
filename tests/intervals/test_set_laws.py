"""Set algebra on intervals against dense masks and Python sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilemask.errors import InternalError
from compilemask.intervals import Intervals, in_rows, insertion
from tests.strategies import DenseMask, dense_masks, mask_pairs


def cells(intervals: Intervals) -> set[tuple[int, int]]:
    """The visible cells, one by one."""
    return {(r, c) for r in range(intervals.rows) for a, b in intervals.row(r) for c in range(a, b)}


@given(dense_masks())
def test_dense_there_and_back(mask: DenseMask) -> None:
    intervals = Intervals.from_dense(mask)

    intervals.check()
    np.testing.assert_array_equal(intervals.to_dense(), mask)
    assert intervals.visible == mask.sum()
    np.testing.assert_array_equal(intervals.visible_per_row(), mask.sum(axis=1))
    np.testing.assert_array_equal(intervals.empty_rows(), np.flatnonzero(~mask.any(axis=1)))


@given(dense_masks(largest=12))
def test_every_cell_is_found_where_it_is(mask: DenseMask) -> None:
    intervals = Intervals.from_dense(mask)
    places = np.indices(mask.shape, dtype=np.int64)
    rows, columns = places[0], places[1]
    if intervals.runs:
        np.testing.assert_array_equal(intervals.holds(rows, columns), mask)
    for row, column in zip(rows.flat, columns.flat, strict=True):
        assert intervals.contains(int(row), int(column)) == mask[row, column]


@given(mask_pairs())
def test_algebra_agrees_with_python_sets(pair: tuple[DenseMask, DenseMask]) -> None:
    a, b = (Intervals.from_dense(mask) for mask in pair)
    everything = cells(Intervals.full(a.rows, a.columns))

    for result, expected in (
        (a.union(b), cells(a) | cells(b)),
        (a.intersection(b), cells(a) & cells(b)),
        (a.difference(b), cells(a) - cells(b)),
        (a.complement(), everything - cells(a)),
    ):
        result.check()
        assert cells(result) == expected


@given(mask_pairs(), st.integers(1, 9))
def test_algebra_some_rows_at_a_time_changes_nothing(pair: tuple[DenseMask, DenseMask], runs: int) -> None:
    a, b = (Intervals.from_dense(mask) for mask in pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compilemask.intervals.interval_set.RUNS_AT_ONCE", runs)
        found = a.union(b), a.intersection(b), a.difference(b)

    assert found == (a.union(b), a.intersection(b), a.difference(b))


@given(mask_pairs())
def test_different_ways_to_one_set_give_equal_arrays(pair: tuple[DenseMask, DenseMask]) -> None:
    a, b = (Intervals.from_dense(mask) for mask in pair)

    assert a.union(b) == b.union(a) == a.complement().intersection(b.complement()).complement()
    assert a.difference(b) == a.intersection(b.complement())
    assert a.complement().complement() == a
    assert hash(a.union(b)) == hash(b.union(a))


@given(dense_masks())
def test_transposing_twice_is_the_identity(mask: DenseMask) -> None:
    intervals = Intervals.from_dense(mask)
    turned = intervals.transpose()

    turned.check()
    np.testing.assert_array_equal(turned.to_dense(), mask.T)
    assert turned.transpose() == intervals
    assert intervals.transposed_runs() == turned.runs


@given(dense_masks())
def test_permuting_and_back_is_the_identity(mask: DenseMask) -> None:
    generator = np.random.default_rng(mask.size)
    rows, columns = generator.permutation(mask.shape[0]), generator.permutation(mask.shape[1])
    intervals = Intervals.from_dense(mask)
    moved = intervals.permute_rows(rows).permute_columns(columns)

    np.testing.assert_array_equal(moved.to_dense(), mask[rows][:, columns])
    assert moved.permute_columns(np.argsort(columns)).permute_rows(np.argsort(rows)) == intervals


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_runs_in_any_order_become_canonical(rows: int, columns: int, data: st.DataObject) -> None:
    run = st.tuples(st.integers(0, rows - 1), st.integers(0, columns), st.integers(0, columns))
    runs = data.draw(st.lists(run, max_size=20))
    array = np.array(runs, np.int64).reshape(-1, 3)
    intervals = Intervals.from_runs(rows, columns, array[:, 0], array[:, 1], array[:, 2])

    intervals.check()
    assert cells(intervals) == {(r, c) for r, a, b in runs for c in range(a, b)}
    assert all(intervals.contains(r, c) == ((r, c) in cells(intervals)) for r in range(rows) for c in range(columns))


def test_check_names_a_broken_invariant() -> None:
    touching = Intervals(1, 4, np.array([0, 2]), np.array([0, 2], np.int32), np.array([2, 4], np.int32))

    with pytest.raises(InternalError, match="touch"):
        touching.check()


def test_masks_of_different_shape_do_not_combine() -> None:
    with pytest.raises(InternalError, match="2x3 and 3x2"):
        Intervals.full(2, 3).union(Intervals.full(3, 2))


@given(mask_pairs(), st.sampled_from([0, 10**6]))
def test_few_runs_are_put_into_many_without_sorting_them(pair: tuple[DenseMask, DenseMask], copied: int) -> None:
    a, b = (Intervals.from_dense(mask) for mask in pair)
    expected = Intervals.from_dense(pair[0] | pair[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(insertion, "RUNS_A_COPY", copied)
        if a.runs and b.runs and (runs := insertion.inserted(a, b)) is not None:
            found = Intervals(a.rows, a.columns, *runs)
            found.check()
            assert found == expected
        patch.setattr(insertion, "MANY_PER_FEW", 0)
        assert a.union(b) == expected


@given(dense_masks(largest=20), st.integers(0, 2**32 - 1))
def test_rows_are_clipped_by_searching(mask: DenseMask, seed: int) -> None:
    generator = np.random.default_rng(seed)
    low, high = generator.integers(0, mask.shape[1] + 1, (2, mask.shape[0]))
    bounds = Intervals.from_bounds(mask.shape[1], low, high)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_rows, "RUNS_SEARCHED", 0)
        found = Intervals.from_dense(mask).intersection(bounds)

    found.check()
    assert found == Intervals.from_dense(mask & bounds.to_dense())


def test_runs_of_few_that_meet_one_run_of_many_are_left_to_the_general_way() -> None:
    many, few = (
        Intervals.from_dense(np.array([row], np.bool_)) for row in ([0, 1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 0, 0])
    )

    assert insertion.inserted(many, few) is None
    assert many.union(few).row(0) == ((0, 4), (5, 6))
