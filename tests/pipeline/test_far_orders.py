"""Orders that gather far tokens: the mask is planned anew in the order instead of being cut into single tokens."""

from __future__ import annotations

import pytest

from compilemask import pipeline

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
