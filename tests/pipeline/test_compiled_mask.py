"""The compiled mask's own answers: statistics, explanations, forms and orders."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from compilemask import UsageError, compile_text
from compilemask import compile as compile_mask
from compilemask.descriptor.registry import find
from compilemask.intervals.solve import Form
from compilemask.language import meaning
from compilemask.pipeline import CompiledMask
from compilemask.source import Diagnostic, Severity
from tests.pipeline.texts import SHARED_PROMPT


def test_statistics_count_the_dense_mask() -> None:
    compiled = compile_text(SHARED_PROMPT, name="shared.mask")
    dense = compiled.dense()
    found = compiled.statistics(16, 16)

    assert (compiled.name, compiled.title) == ("shared", "Shared prompt")
    assert (found.query_length, found.key_length) == dense.shape == (101, 101)
    assert found.visible == dense.sum()
    assert found.density == pytest.approx(dense.mean())
    assert found.max_runs_per_row == 2
    assert found.empty_rows == found.unseen_keys == 0
    tiles = compiled.tiles(16, 16)
    assert (found.tile.empty, found.tile.partial, found.tile.full) == (tiles.empty, tiles.partial, tiles.full)
    visited = np.kron(tiles.kinds() > 0, np.ones((16, 16), bool))[:101, :101]
    assert found.tile.useful == pytest.approx(dense.sum() / visited.sum())
    assert found.descriptor_bytes == compiled.descriptor(16, 16).nbytes
    assert found.compile_ms > 0


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ({"query": -1, "key": 0}, "query -1 is outside of the mask, which has 9, numbered 0 to 8"),
        ({"query": 5, "key": -1}, "key -1 is outside of the mask, which has 9, numbered 0 to 8"),
        ({"query": 1000, "key": 0}, "query 1,000 is outside of the mask"),
        ({"query": 0, "key": 9}, "key 9 is outside of the mask"),
        ({"query": 0, "key": 0, "batch": -1}, "batch -1: <text> serves every number from 0 on"),
        ({"query": 0, "key": 0, "head": -1}, "head -1: <text> has 2, numbered 0 to 1"),
        ({"query": 0, "key": 0, "head": 2}, "head 2: <text> has 2, numbered 0 to 1"),
    ],
)
def test_a_cell_outside_of_the_mask_is_refused_with_the_range(cell: dict[str, int], words: str) -> None:
    compiled = compile_text("heads 2\nlayout\n    a : 9\nrules\n    a sees a : window(behind=head, ahead=0)\n")

    with pytest.raises(UsageError, match=re.escape(words)):
        compiled.explain(**cell)
    assert not compiled.explain(0, 8, batch=70).visible


@pytest.mark.parametrize("blocks", [(0, 128), (128, 0), (-1, 3), (257, 16), (16.0, 16), ("16", 16)])
def test_a_tile_size_that_there_is_none_of_is_refused_with_the_range(blocks: tuple[Any, Any]) -> None:
    compiled = compile_text("layout\n    a : 9\nrules\n    a sees a : causal\n")

    for make in (compiled.tiles, compiled.descriptor, compiled.statistics):
        with pytest.raises(UsageError, match="a tile has 1 to 256 queries and as many keys"):
            make(*blocks)
    assert compiled.tiles(3, 256).visited == 3


def test_further_findings_make_another_mask() -> None:
    compiled = compile_text(SHARED_PROMPT)
    before, number = compiled.diagnostics, compiled.number
    note = Diagnostic(Severity.NOTE, "note", "something to know")

    other = compiled.with_findings((note,))

    assert compiled.diagnostics == before
    assert compiled.number == number
    assert other.diagnostics == (*before, note)
    assert other.number != number
    assert find(other.number) is other
    assert compiled.with_findings(()) is compiled
    assert np.array_equal(other.dense(), compiled.dense())


def test_statistics_sum_over_heads() -> None:
    compiled = compile_text("""
heads 3
layout
    token : 20
rules
    token sees token : window(behind=head // 2, ahead=0)
""")
    found = compiled.statistics(8, 8)

    assert len(compiled.variants) == 2
    assert found.visible == sum(compiled.dense(0, head).sum() for head in range(3))
    assert found.density == pytest.approx(found.visible / (3 * 400))
    assert found.tile.partial + found.tile.full + found.tile.empty == 3 * 9


def test_parameters_by_keyword_and_by_params() -> None:
    by_keyword = compile_text(SHARED_PROMPT, prompt=5, answers=[3])
    by_params = compile_text(SHARED_PROMPT, params={"prompt": 5}, answers=[3])

    assert by_keyword.rows == by_params.rows
    with pytest.raises(UsageError, match="given twice"):
        compile_text(SHARED_PROMPT, params={"prompt": 5}, prompt=5)
    with pytest.raises(UsageError, match="causal"):
        compile_mask("causl")


def test_a_mask_of_many_runs_a_row_and_one_a_column_is_kept_in_columns() -> None:
    compiled = compile_text("""
param size = 120
layout
    token : size
let death = 1 + index + (index * 7919) % 97
rules
    token sees token : causal and q.pos < k.death
""")

    assert compiled.form_of() is Form.COLUMN
    np.testing.assert_array_equal(compiled.dense(), meaning.dense(compiled.program))
    assert compiled.columns_of().transpose() == compiled.rows


def test_equal_masks_written_differently_have_equal_descriptors() -> None:
    layout = "layout\n    a : 40\n    b : [30, 50]\nrules\n"
    texts = (
        "    everything sees everything : causal\n    limit : same b or same a\n",
        "    a sees a : causal\n    b sees b : causal within b\n",
        "    b, a sees everything : all\n    everything cannot see everything : not causal\n"
        "    a cannot see b : all\n    b cannot see a : all\n    b cannot see b : not same b\n",
        "    a sees a : k.at <= q.at\n    b sees b : q.b == k.b and not k.at > q.at\n",
    )
    first, *others = (compile_text(layout + text).descriptor(16, 32) for text in texts)

    for other in others:
        for name in ("full_offsets", "full_runs", "partial_offsets", "partial_tiles", "partial_patterns"):
            for lists in ("by_query", "by_key"):
                np.testing.assert_array_equal(
                    getattr(getattr(first, lists), name), getattr(getattr(other, lists), name)
                )
        np.testing.assert_array_equal(first.patterns, other.patterns)


@pytest.mark.parametrize(
    "text",
    [
        "layout\n    token : 0\nrules\n    token sees token : causal\n",
        "layout\n    token : 1\nrules\n    token sees token : before\n",
        "queries\n    a : 0\nkeys\n    a : 5\nrules\n    a sees a : all\n",
        "queries\n    a : 5\nkeys\n    a : 0\nrules\n    a sees a : all\n",
        "layout\n    padding : 3\n    a : 0\nrules\n    a sees a : all\norder best\n",
    ],
)
def test_masks_that_show_nothing_pass_every_stage(text: str) -> None:
    compiled = compile_text(text)
    tiles = compiled.tiles(64, 32)

    assert compiled.statistics(64, 32).visible == 0
    assert not compiled.dense().any()
    assert not tiles.kinds().any()
    assert compiled.descriptor(64, 32).by_key.partial_tiles.size == 0


def arrays(holder: object) -> Iterator[NDArray[Any]]:
    """All arrays of nested records and tuples."""
    if isinstance(holder, np.ndarray):
        yield holder
    elif isinstance(holder, tuple):
        for part in holder:
            yield from arrays(part)
    elif is_dataclass(holder):
        for one in fields(holder):
            yield from arrays(getattr(holder, one.name))


ORDERED = SHARED_PROMPT + "order answer stored by -at\n"


@pytest.mark.parametrize("text", [SHARED_PROMPT, ORDERED], ids=["plain", "ordered"])
@pytest.mark.parametrize("copied", [lambda mask: mask, copy.deepcopy, lambda mask: pickle.loads(pickle.dumps(mask))])
def test_what_a_mask_hands_out_is_read_only(text: str, copied: Callable[[CompiledMask], CompiledMask]) -> None:
    compiled = compile_text(text)
    assert compiled.tiles().query_length == compiled.rows.rows
    mask = copied(compiled)
    given = (mask.rows, mask.variants, mask.columns_of(), mask.tiles(), mask.tiles(64, 32), mask.descriptor())
    found = list(arrays((*given, mask.variant, mask.order)))

    assert len(found) > 30
    assert not any(array.flags.writeable for array in found)
    with pytest.raises(ValueError, match="read-only"):
        mask.rows.starts[0] = 5
    assert mask.dense().flags.writeable  # the caller's own
