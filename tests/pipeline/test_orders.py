"""Token orders: the mask stays, its tiles move, and `order best` keeps what visits the fewest."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask import compile_text
from compilemask.language import meaning
from tests.pipeline.texts import codes

GRID = """
param height = 24, width = 40, text = 13
layout
    text  : text
    image : grid(height, width)
rules
    text  sees everything : all
    image sees text       : all
    image sees image      : disc(below=6, edge=cut)
"""


def test_an_order_moves_tiles_and_keeps_the_mask() -> None:
    plain, patched = compile_text(GRID), compile_text(GRID + "order image stored by (y // 8, x // 8)\n")
    order = patched.descriptor(64, 64).query_order

    assert order is not None
    np.testing.assert_array_equal(np.sort(order), np.arange(order.size))
    np.testing.assert_array_equal(patched.dense(), plain.dense())
    np.testing.assert_array_equal(patched.tiles(64, 64).to_dense(), plain.dense()[order][:, order])


def test_best_keeps_what_visits_the_fewest_tiles() -> None:
    compiled = compile_text(GRID + "order best\n")
    visited = {one.name: one.visited for one in compiled.tried_orders}

    assert compiled.tiles().visited == min(count for count in visited.values() if count is not None)
    assert visited["as written"] == compile_text(GRID).tiles().visited
    assert {"8 x 8 patches", "hilbert", "morton"} <= set(visited)
    assert "order-best" in codes(compiled)


def test_best_keeps_the_written_order_where_nothing_is_better() -> None:
    compiled = compile_text("layout\n    token : 300\nrules\n    token sees token : causal\norder best\n")

    assert not compiled.order.moves
    assert "nothing visits fewer tiles than the order as written: 6 tiles" in codes(compiled)["order-best"]


def test_best_sorts_by_a_coordinate_that_the_rules_compare() -> None:
    compiled = compile_text(
        "layout\n    token : 1024\nrules\n    token sees token : causal and same (pos % 8)\norder best\n"
    )

    assert compiled.order.moves
    assert compiled.tiles().visited < (compiled.tried_orders[0].visited or 0)


def test_scattered_masks_are_lowered_in_the_order_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "layout\n    token : 100\nrules\n    token sees token : causal and same (pos % 5)\n"
    text += "order token stored by pos % 5\n"
    monkeypatch.setattr("compilemask.intervals.lowering.RUNS_A_QUERY_MOVED", 0)
    compiled = compile_text(text)
    expected = meaning.dense(compiled.program)
    order = compiled.order.queries

    assert compiled.kept[0].order is compiled.order
    assert compiled.kept[0].intervals.runs == 100
    np.testing.assert_array_equal(compiled.dense(), expected)
    np.testing.assert_array_equal(compiled.rows.to_dense(), expected)
    np.testing.assert_array_equal(compiled.tiles(32, 16).to_dense(), expected[order][:, order])
