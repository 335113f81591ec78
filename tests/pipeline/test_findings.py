"""What a compiled mask is warned of, and what is noted."""

from __future__ import annotations

import pytest

from compilemask import compile_text
from compilemask.source import Severity
from tests.pipeline.texts import codes


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


def test_an_order_that_hurts_is_warned_about() -> None:
    text = "layout\n    token : 1024\nrules\n    token sees token : causal\norder token stored by pos % 8\n"

    assert "visit 64 tiles where 36" in codes(compile_text(text))["order-hurts"]
