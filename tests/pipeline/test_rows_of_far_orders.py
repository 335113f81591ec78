"""Masks that are made in the kernel's order and asked for in the caller's."""

from __future__ import annotations

import random

import pytest

from compilemask import pipeline
from compilemask.errors import UsageError
from compilemask.intervals import Intervals
from compilemask.language import meaning

STRIDED = """
param length = 111, step = 8
layout
    token : length
rules
    token sees token : same (pos % step)
    limit : causal
order token stored by pos % step
"""

RANKED = """
param ranks = [0]
layout
    token : len(ranks)
let rank = ranks[pos]
rules
    token sees token : causal by rank
order token stored by rank
"""


def test_rows_are_the_callers_however_the_mask_is_kept() -> None:
    compiled = pipeline.compile_text(STRIDED, name="strided.mask", params={"length": 1000})
    assert compiled.kept[0].order.moves
    small = pipeline.compile_text(STRIDED, name="strided.mask")
    seen = [(q, k) for q in range(111) for k in range(111) if meaning.visible(small.program, q, k)]
    assert [(q, k) for q in range(111) for a, b in small.rows.row(q) for k in range(a, b)] == seen
    expected = [k for k in range(1000) if k <= 777 and k % 8 == 777 % 8]
    assert [k for a, b in compiled.rows.row(777) for k in range(a, b)] == expected
    assert compiled.columns_of() == compiled.rows.transpose()
    assert Intervals.from_dense(compiled.dense()) == compiled.rows


def test_rows_with_too_many_runs_are_refused_at_once() -> None:
    ranks = list(range(32_768))
    random.Random(0).shuffle(ranks)
    compiled = pipeline.compile_text(RANKED, name="ranked.mask", params={"ranks": ranks})
    assert compiled.tiles(128, 128).partial_tiles.size == 256
    for listed in (lambda: compiled.rows, compiled.columns_of, compiled.dense):
        with pytest.raises(UsageError, match=r"too many runs to list .* in the kernel's order it has 32,768"):
            listed()
    assert compiled.explain(5, 5).visible
    assert compiled.statistics().visible == 32_768 * 32_769 // 2
