"""Orders that gather far tokens: the mask is planned anew in the order instead of being cut into single tokens."""

from __future__ import annotations

import pytest

from compilemask import pipeline
from compilemask.intervals.lowering import RUNS_A_REQUEST, in_order

SERIES = """
param series = 32, length = 1024
layout
    series : [length] * series
rules
    everything sees everything : causal by at
"""


@pytest.mark.parametrize("order", ["order everything stored by at", "order best"])
def test_series_in_the_order_of_time_are_causal_by_blocks(order: str) -> None:
    compiled = pipeline.compile_text(SERIES + order + "\n", name="series.mask")
    tiles = compiled.tiles(128, 128)
    assert tiles.partial_tiles.size == 256
    assert compiled.rows.runs == 32 * 32 * 1024 - 31 * 32


def test_a_mask_that_its_order_cuts_little_is_not_planned_anew() -> None:
    compiled = pipeline.compile("clear", params={"text": 64, "height": 24, "width": 32, "radius": 5})
    (kept,) = compiled.kept
    assert kept.asked >= compiled.query_length  # every query asks at least once
    assert kept.pieces_in(compiled.order) <= RUNS_A_REQUEST * kept.asked
    assert in_order(kept, compiled.program.variants[0], compiled.order) is kept


def test_a_reversed_order_of_many_tokens_cuts_nothing() -> None:
    text = "layout\n    token : 262000\nrules\n    token sees token : causal\norder token stored by -pos\n"
    compiled = pipeline.compile_text(text)

    tiles = compiled.tiles(128, 128)

    assert (tiles.partial, tiles.full) == (2047, 2047 * 2046 // 2)
    assert compiled.rows.row(77) == ((0, 78),)
