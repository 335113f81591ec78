"""`in` and `not in` where every query has a list of its own: against the definition, and without pairs of values."""

from __future__ import annotations

from random import Random

import pytest

from compilemask import pipeline
from tests.masks.comparison import check_meaning

TABLE = """
param chosen = [[]], size = 2
layout
    token : size * len(chosen)
let block = pos // size
rules
    token sees token : k.block in chosen[q.block] or (q.pos > 5 and k.block not in chosen[q.block] and k.pos < 4)
"""


@pytest.mark.parametrize("blocks", [1, 2, 7, 12])
def test_lists_of_numbers_empty_ones_too(blocks: int) -> None:
    random = Random(blocks)
    chosen = [random.choices(range(-1, blocks + 2), k=random.choice([0, 1, 3, 20])) for _ in range(blocks)]
    compiled = pipeline.compile_text(TABLE, name="table.mask", chosen=chosen)
    check_meaning(compiled, compiled.dense()[None, None])
