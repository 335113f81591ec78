"""Why a cell is visible or hidden, in words."""

from __future__ import annotations

import random

import pytest

from compilemask import compile as compile_mask
from compilemask import compile_text, library
from tests.pipeline.texts import SHARED_PROMPT


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
