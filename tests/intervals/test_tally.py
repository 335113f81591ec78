"""Pixel counts and single queries of masks kept in any form and order, against the dense mask."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask.intervals import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.one_query import runs_of_query
from compilemask.intervals.order import TokenOrder
from compilemask.intervals.solve import Form
from compilemask.intervals.tally import Tally
from tests.intervals.test_coverage import dense_counts
from tests.strategies import DenseMask, dense_masks


def drawn_order(data: st.DataObject, length: int) -> NDArray[np.int32] | None:
    """Any order of so many tokens, or none."""
    if data.draw(st.booleans()):
        return None
    return np.array(data.draw(st.permutations(range(length))), dtype=np.int32)


def drawn_lowered(data: st.DataObject, mask: DenseMask) -> Lowered:
    """The mask kept in one of the forms, in an order of its own."""
    order = TokenOrder(drawn_order(data, mask.shape[0]), drawn_order(data, mask.shape[1]))
    moved = order.move(Intervals.from_dense(mask))
    if data.draw(st.booleans()):
        return Lowered(Form.COLUMN, moved.transpose(), order)
    return Lowered(Form.ROW, moved, order)


@given(dense_masks(), st.data())
def test_counts_agree_with_dense(mask: DenseMask, data: st.DataObject) -> None:
    rows, columns = (
        np.array(sorted(data.draw(st.lists(st.integers(0, length), min_size=2, max_size=6)))) for length in mask.shape
    )
    kept = drawn_lowered(data, mask)
    turned = kept.form is Form.COLUMN
    order = kept.order.turned() if turned else kept.order

    found = Tally(kept.intervals, order.queries, order.keys, transposed=turned).between(rows, columns)

    np.testing.assert_array_equal(found, dense_counts(mask, rows, columns))


def test_pixels_of_more_rows_than_sixteen_bits_count() -> None:
    length = 70_000
    one = np.zeros(length, np.int64)
    mask = Intervals.from_runs(length, 3, np.arange(length), one + 1, one + 2)

    assert Tally(mask).between(np.array([0, length]), np.array([0, 1, 2, 3])).tolist() == [[0, length, 0]]


@given(dense_masks(), st.data())
def test_the_keys_of_a_query_are_those_of_its_row(mask: DenseMask, data: st.DataObject) -> None:
    kept = drawn_lowered(data, mask)
    rows = Intervals.from_dense(mask)

    for query in range(mask.shape[0]):
        assert runs_of_query(kept, query) == rows.row(query)
