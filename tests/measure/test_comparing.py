"""Two masks compared by intervals: the counts and the first cell are those of the dense matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from compilemask import UsageError, compile_text
from compilemask.errors import TooLargeError
from compilemask.imports import Form, masks_of
from compilemask.intervals.solve import Form as Kept
from compilemask.measure.comparing import DifferingCell, array_side, compare, compiled_side
from compilemask.pipeline import CompiledMask
from tests.mask_texts import BATCHED

LAYOUT = "layout\n    a : 111\nrules\n    a sees a : "
TEXTS = {
    "causal": LAYOUT + "causal\n",
    "causal in another order": LAYOUT + "causal\norder a stored by -pos\n",
    "window": LAYOUT + "window(behind=9, ahead=4)\n",
    "columns": LAYOUT + "causal and k.pos % 2 == 0\n",
    "other columns": LAYOUT + "causal and k.pos % 2 == 0 and q.pos != 77 and k.pos != 4\n",
    "strided": LAYOUT + "same (pos % 8)\n    limit : causal\norder a stored by pos % 8\n",
    "strided without its last cell": LAYOUT
    + "same (pos % 8)\n    limit : q.pos < 110\n    limit : causal\norder a stored by pos % 8\n",
    "strided as written": LAYOUT + "same (pos % 8)\n    limit : causal\n",
    "nothing": LAYOUT + "none\n",
    "all": LAYOUT + "all\n",
}


def dense_first(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> DifferingCell | None:
    """The first differing cell of two [batch, head, query, key] masks of one shape."""
    places = np.argwhere(a != b)
    if not len(places):
        return None
    batch, head, query, key = places[0].tolist()
    return DifferingCell(batch, head, query, key, bool(a[tuple(places[0])]))


def dense(compiled: CompiledMask) -> NDArray[np.bool_]:
    """[batch, heads, queries, keys]"""
    return np.array([[compiled.dense(b, h) for h in range(compiled.heads)] for b in range(compiled.batch)])


@pytest.mark.parametrize(("one", "other"), list(product(TEXTS, TEXTS)))
def test_a_comparison_is_that_of_the_cells(one: str, other: str) -> None:
    a, b = compile_text(TEXTS[one]), compile_text(TEXTS[other])
    cells, others = dense(a), dense(b)
    array = array_side(masks_of(others, Form.DENSE), "array")

    for found in (compare(compiled_side(a, "a"), compiled_side(b, "b")), compare(compiled_side(a, "a"), array)):
        assert found.first == dense_first(cells, others)
        assert (found.only_first, found.only_second) == ((cells & ~others).sum(), (others & ~cells).sum())
        assert found.equal == bool((cells == others).all())
        assert found.cells == 111 * 111


def test_masks_are_kept_in_the_ways_that_are_compared() -> None:
    kept = {name: compile_text(text, params={}).kept[0] for name, text in TEXTS.items()}

    assert {one.form for one in kept.values()} == {Kept.ROW, Kept.COLUMN}
    large = compile_text(TEXTS["strided"].replace("111", "1000").replace("110", "999"))
    assert large.kept[0].order.moves
    other = compile_text(TEXTS["strided without its last cell"].replace("111", "1000").replace("110", "999"))
    found = compare(compiled_side(large, "a"), compiled_side(other, "b"))
    assert found.first == dense_first(dense(large), dense(other)) == DifferingCell(0, 0, 999, 7, True)
    assert found.only_first == 125
    assert compare(compiled_side(large, "a"), compiled_side(large, "b")).equal


STRIDED = "layout\n    a : 1000\nrules\n    a sees a : same (pos % 8)\n{}    limit : causal\norder a stored by {}\n"


@pytest.mark.parametrize("order", ["pos % 8", "-(pos % 8)"])
def test_many_differences_of_masks_in_the_kernels_order_are_those_of_the_cells(order: str) -> None:
    """The first of them for the caller is not the first in the kernel's order, where 0, 8, 16, ... come first."""
    a = compile_text(STRIDED.format("", "pos % 8"))
    b = compile_text(STRIDED.format("    limit : q.pos % 7 != 3 or k.pos % 5 != 1\n", order))
    assert a.kept[0].order.moves
    assert b.kept[0].order.moves

    found = compare(compiled_side(a, "a"), compiled_side(b, "b"))

    assert found.first == dense_first(dense(a), dense(b)) == DifferingCell(0, 0, 17, 1, True)
    assert (found.only_first, found.only_second) == ((dense(a) & ~dense(b)).sum(), 0)


def test_masks_of_too_many_runs_in_rows_are_compared_by_columns() -> None:
    text = "layout\n    a : 12000\nrules\n    a sees a : {}\n"
    a, b = (compile_text(text.format(how)) for how in ("all", "k.pos % 2 == 0"))
    assert (a.kept[0].form, b.kept[0].form) == (Kept.ROW, Kept.COLUMN)
    with pytest.raises(TooLargeError):
        assert b.rows.rows

    found = compare(compiled_side(a, "a"), compiled_side(b, "b"))

    assert (found.only_first, found.only_second) == (12_000 * 6_000, 0)
    assert found.first == DifferingCell(0, 0, 0, 1, True)


HEADS = "heads 4\nlayout\n    a : 9\nrules\n    a sees a : window(behind=head % 2 + 1, ahead=0)\n"


def test_pairs_of_distinct_masks_that_occur_often_count_as_often() -> None:
    heads, causal = compile_text(HEADS), array_side(masks_of(np.tri(9, dtype=np.bool_), Form.DENSE), "causal")
    assert heads.variant.tolist() == [[0, 1, 0, 1]]

    found = compare(compiled_side(heads, "heads"), causal)

    assert (found.only_first, found.only_second) == (0, (np.tri(9, dtype=np.bool_) & ~dense(heads)).sum())


def test_the_first_cell_is_that_of_the_call_not_of_the_distinct_masks() -> None:
    heads = compile_text(HEADS)
    cells = np.repeat(dense(heads), 2, axis=0)
    cells[0, 1, 4, 4] = cells[1, 0, 2, 2] = False  # of the distinct mask 1 in sample 0, and of 0 in sample 1

    found = compare(compiled_side(heads, "heads"), array_side(masks_of(cells, Form.DENSE), "array"))

    assert (found.first, found.only_first) == (DifferingCell(0, 1, 4, 4, True), 2)


def test_batch_entries_and_heads_are_compared_each_with_its_own() -> None:
    batched = compile_text(BATCHED)
    cells = dense(batched)
    causal = np.tri(9, dtype=np.bool_)
    mask, array = compiled_side(batched, "a"), array_side(masks_of(causal, Form.DENSE), "b")

    found = compare(mask, array)
    assert found.cells == 4 * 81
    assert (found.only_first, found.only_second) == (0, (np.broadcast_to(causal, cells.shape) & ~cells).sum())
    assert found.first == DifferingCell(0, 0, 3, 0, False)
    assert compare(mask, array, batch=1).equal
    assert compare(mask, array, head=1).equal
    assert compare(mask, array, batch=0, head=0).first == DifferingCell(0, 0, 3, 0, False)
    assert compare(mask, array_side(masks_of(cells, Form.DENSE), "all")).equal


def test_what_has_no_cells_in_common_is_refused() -> None:
    three = array_side(masks_of(np.ones((3, 1, 9, 9), np.bool_), Form.DENSE), "three")
    two = array_side(masks_of(np.ones((2, 1, 9, 9), np.bool_), Form.DENSE), "two")
    wide = array_side(masks_of(np.ones((9, 10), np.bool_), Form.DENSE), "wide")

    with pytest.raises(
        UsageError, match="two tells 2 batch entries apart and three 3: choose one of them with --batch"
    ):
        compare(two, three)
    assert compare(two, three, batch=1).equal
    with pytest.raises(UsageError, match="their lengths differ"):
        compare(two, wide)


def test_a_million_tokens_are_compared_by_their_runs() -> None:
    text = "layout\n    a : 1000000\nrules\n    a sees a : window(behind={}, ahead=0)\n"
    a, b = (compiled_side(compile_text(text.format(behind)), name) for behind, name in ((255, "a"), (256, "b")))

    found = compare(a, b)

    assert (found.cells, found.only_first, found.only_second) == (10**12, 0, 10**6 - 256)
    assert found.first == DifferingCell(0, 0, 256, 0, False)
    assert compare(a, a).equal


def test_masks_in_the_same_kernel_order_are_compared_there() -> None:
    """As the text orders the tokens each of them has too many runs to be listed."""
    text = "layout\n    a : 200000\nrules\n    a sees a : same (pos % 512)\n{}order a stored by pos % 512\n"
    rules = ("", "    a cannot see a : q.pos == 199999 and k.pos == 319\n")
    a, b = (compile_text(text.format(rule)) for rule in rules)
    with pytest.raises(TooLargeError):
        assert a.rows.rows

    found = compare(compiled_side(a, "a"), compiled_side(b, "b"))

    assert found.first == DifferingCell(0, 0, 199_999, 319, True)
    assert (found.only_first, found.only_second) == (1, 0)
