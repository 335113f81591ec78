"""The compiled mask's own answers: statistics, explanations, forms and orders."""

from __future__ import annotations

import copy
import pickle
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from compilemask import UsageError, compile_text, library
from compilemask import compile as compile_mask
from compilemask.descriptor.registry import find
from compilemask.intervals.solve import Form
from compilemask.language import meaning
from compilemask.pipeline import CompiledMask
from compilemask.source import Diagnostic, Severity

SHARED_PROMPT = """
title "Shared prompt"
param prompt = 37, answers = [23, 0, 41]
layout
    prompt : prompt
    answer : answers
rules
    prompt sees prompt : causal
    answer sees prompt : all
    answer sees answer : causal within answer
"""


def codes(compiled: CompiledMask) -> dict[str, str]:
    """Message by code, warnings and notes."""
    return {found.code: found.message for found in compiled.diagnostics}


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


@pytest.mark.parametrize(
    ("query", "key", "visible", "number", "text"),
    [
        (40, 3, True, 2, "rule 2 (line 9) shows it"),
        (40, 38, True, 3, "rule 3 (line 10) shows it"),
        (38, 40, False, None, "no rule shows it"),
    ],
)
def test_explanations_name_the_rule(query: int, key: int, visible: bool, number: int | None, text: str) -> None:
    found = compile_text(SHARED_PROMPT).explain(query, key)

    assert (found.visible, found.rule_number, found.text) == (visible, number, text)


def test_explanations_of_hiding_limits_and_padding() -> None:
    compiled = compile_text("""
layout
    token : 6
    padding : 2
rules
    token sees token : all
    token cannot see first 1 of token : all
    limit : causal
""")

    assert compiled.explain(3, 0).text == "rule 2 (line 7) hides it"
    assert compiled.explain(3, 5).text == "a rule shows it, but limit 3 (line 8) cuts it"
    assert "key 7 is padding" in compiled.explain(3, 7).text
    why = "query's pos 3 is before key's pos 5"
    assert compiled.explain(3, 5).sentence() == f"a rule shows it, but limit 3 (line 8) cuts it: {why}"
    assert compiled.explain(3, 5).considered[0].sentence() == f"line 8: limit : causal — {why}"
    assert compiled.explain(3, 0).considered == ()


WHY = """
layout
    noisy : 8
    clean : 8
    other : 2
let block = at // 2
rules
    noisy sees clean : {how}
    first 2 of noisy sees clean : same (block, at)
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("before by block", "query's block 1 is not after key's block 3"),
        ("causal by block", "query's block 1 is before key's block 3"),
        ("causal by (block, at)", "query's (block, at) (1, 3) is before key's (block, at) (3, 6)"),
        ("same block", "query's block 1 is not key's block 3"),
        ("self", "query's pos 3 is not key's pos 14"),
        ("window(behind=4, ahead=2)", "key's pos 14 is 11 ahead of query's pos 3, the window reaches 2 ahead"),
        ("q.block > k.block", "`q.block > k.block` fails: 1 > 3"),
        ("q.at < 5 and k.at in [1, 2]", "`k.at in [1, 2]` fails: 6 in [1, 2]"),
        ("q.at > 5 or q.at == k.at", "`q.at > 5` fails: 3 > 5, and `q.at == k.at` fails: 3 == 6"),
        ("all except q.at < k.at", "`q.at < k.at` holds"),
        ("all except causal by (8 - at)", "`causal` holds: query's (8 - at) 5, key's (8 - at) 2"),
        ("causal or same block", "query's pos 3 is before key's pos 14, and query's block 1 is not key's block 3"),
        ("(same block) and causal", "query's block 1 is not key's block 3"),
        ("none", "`none` holds for no pair"),
        (
            "disc(below=2, edge=cut) by (block, at)",
            "`disc(below=2, edge=cut)` fails: query's (block, at) (1, 3), key's (block, at) (3, 6)",
        ),
        ("intervals([[[0, 1]]]) by at", "`intervals([[[0, 1]]])` fails: query's at 3, key's at 6"),
    ],
)
def test_a_hidden_cell_names_the_rules_that_select_it_and_what_fails(how: str, why: str) -> None:
    found = compile_text(WHY.format(how=how)).explain(3, 14)

    assert (found.visible, found.rule, found.span) == (False, None, None)
    assert found.text == "no rule shows it"
    assert [one.sentence() for one in found.considered] == [f"line 8: noisy sees clean : {how} — {why}"]
    assert found.sentence() == f"line 8: {why}"
    assert found.line() == 8


def test_a_cell_that_no_rule_selects_says_so() -> None:
    found = compile_text(WHY.format(how="all")).explain(16, 3)

    assert (found.sentence(), found.considered, found.line()) == (
        "no rule selects this query and this key",
        (),
        None,
    )


def test_every_rule_that_selects_a_hidden_cell_is_considered() -> None:
    found = compile_text(WHY.format(how="before by block")).explain(0, 14)

    assert [one.rule.number for one in found.considered] == [1, 2]
    assert found.considered[1].why == "query's (block, at) (0, 0) is not key's (block, at) (3, 6)"


@pytest.mark.parametrize("name", library.names())
def test_every_library_mask_can_say_why(name: str) -> None:
    compiled = compile_mask(name)
    draw = random.Random(name)

    for _ in range(20):
        query, key = draw.randrange(compiled.query_length), draw.randrange(compiled.key_length)
        found = compiled.explain(query, key)
        assert found.visible == compiled.rows.contains(query, key)
        assert not found.visible or not found.considered
        assert all(one.why and one.text for one in found.considered)


def test_numbers_of_other_parents_and_absent_coordinates_are_named() -> None:
    compiled = compile_text("""
layout
    document repeat 2
        part : [2, 2]
    tail : 2
rules
    document sees document : same part
    everything sees everything where at == 1 : same document
""")

    assert compiled.explain(0, 4).considered[0].why == "query and key lie in different document"
    assert compiled.explain(0, 9).considered[0].why == "the key has no document"


def test_idle_rules_are_warned_about_where_they_stand() -> None:
    compiled = compile_text("""
layout
    token : 30
rules
    token cannot see token : self
    token sees token : window(behind=2, ahead=0) and window(behind=0, ahead=2) by (100 - index) and before
    first 3 of token sees token : causal
    token sees token : causal
    last 2 of token cannot see token : all
    last 2 of token sees token : all
    first 3 of token cannot see token : all
""")
    warnings = [(found.code, found.span.line) for found in compiled.diagnostics if found.span is not None]

    assert ("rule-hides-nothing", 5) in warnings
    assert ("rule-hidden", 7) in warnings
    assert ("rule-hidden", 9) in warnings
    assert not [line for code, line in warnings if code.startswith("rule") and line in (8, 10, 11)]


def test_a_rule_that_never_matches_is_warned_about() -> None:
    found = codes(
        compile_text("""
layout
    token : 9
rules
    token sees token : causal
    token sees token : q.pos - k.pos > 20
""")
    )

    assert "never matches" in found["rule-never-matches"]


def test_blind_queries_and_unseen_keys_are_noted() -> None:
    compiled = compile_text("""
layout
    token : 10
rules
    token sees token : q.pos - k.pos >= 3
""")
    found = codes(compiled)

    assert found["empty-rows"] == "3 queries see nothing, the first is query 0: the output there is 0"
    assert found["unseen-keys"] == "3 keys are seen by no query, the first is key 7"
    assert all(one.severity is not Severity.ERROR for one in compiled.diagnostics)


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


def test_a_fragmented_mask_is_warned_about_with_the_order_that_helps() -> None:
    compiled = compile_text("layout\n    token : 512\nrules\n    token sees token : same (pos % 3)\n")
    found = next(one for one in compiled.diagnostics if one.code == "not-tile-friendly")

    assert found.message.startswith("not tile-friendly: 171 runs a row on average, and none of the 16 visited")
    assert found.hint == "in the order by pos % 3 it would visit 10 tiles: `order best` chooses it"


def test_too_many_runs_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilemask import MaskFileError

    monkeypatch.setattr("compilemask.intervals.lowering.MOST_RUNS", 1000)
    with pytest.raises(MaskFileError, match=r"runs of visible keys.*\n.*stored by"):
        compile_text("layout\n    token : 200\nrules\n    token sees token : same (pos % 2)\n")


# ---------------------------------------------------------------- order

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


def test_an_order_that_hurts_is_warned_about() -> None:
    text = "layout\n    token : 1024\nrules\n    token sees token : causal\norder token stored by pos % 8\n"

    assert "visit 64 tiles where 36" in codes(compile_text(text))["order-hurts"]


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
