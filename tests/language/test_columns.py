"""Expressions and selectors for many tokens at once against their meaning, token by token."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compilemask.errors import MaskFileError
from compilemask.language import columns
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.meaning_values import Token, evaluate, selects
from compilemask.language.program import Expression, Rule, Same, Selector
from tests.language.binding import bound

HEAD = """param flat = [3, 0, -2, 5, 1, 4], nested = [[1, 2, 3], [4], [5, 6]], marks = [true, false, true]
param wide = [any, 2, 0], words = ["a", "b", "a"], order = [4, 2, 0, 3, 1, 5]
let id
    text       : 1 + at
    image      : 10 * x
    text[0:1]  : flat[at]
let total = cumsum(at + 1)
layout
    padding : 1
    group repeat 3
        text    : [2, 1]
        padding : 1
    image : [grid(2, 2), grid(1, 3)] {stored}
    text  : 2
rules
    {who} sees everything : {how}
"""

WORDS = "pos at index x y group text text.at text.size group.size everything.at id total 0 1 2 -1 5"
LEAVES = st.sampled_from(WORDS.split())


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(pair, st.sampled_from(["+", "-", "*", "//", "%"])).map(lambda p: f"({p[0][0]} {p[1]} {p[0][1]})"),
        inner.map(lambda a: f"flat[{a}]"),
        inner.map(lambda a: f"order[({a}) % 6]"),
        inner.map(lambda a: f"(flat + [{a}])[6]"),
        pair.map(lambda p: f"nested[({p[0]}) % 3][{p[1]}]"),
        pair.map(lambda p: f"min({p[0]}, {p[1]})"),
        inner.map(lambda a: f"count([0, 2, 2, 7], {a})"),
        inner.map(lambda a: f"find(order, {a})"),
        st.tuples(CONDITIONS(inner), pair).map(lambda p: f"({p[1][0]} if {p[0]} else {p[1][1]})"),
    )


def CONDITIONS(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    compared = st.tuples(inner, st.sampled_from(["<", "<=", "==", "!=", ">=", ">"]), inner).map(lambda p: " ".join(p))
    other = st.one_of(
        inner.map(lambda a: f"{a} in flat"),
        inner.map(lambda a: f"({a}) not in [1, 2]"),
        inner.map(lambda a: f"marks[({a}) % 3]"),
        inner.map(lambda a: f'words[({a}) % 3] == "a"'),
        inner.map(lambda a: f"wide[({a}) % 3] > 1"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}, {p[1]}) in [[0, 1], [1, 1]]"),
    )
    return st.one_of(
        compared,
        other,
        st.tuples(compared, st.sampled_from(["and", "or"]), other).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        other.map(lambda c: f"(not {c})"),
    )


NUMBERS = st.recursive(LEAVES, _grown, max_leaves=6)
PATHS = "everything text group group.text image text[1] text[-1] image[0] group[1:] text[:-1] group[text]"
BASES = st.sampled_from(PATHS.split())
SELECTORS = st.one_of(
    st.tuples(BASES, CONDITIONS(NUMBERS)).map(lambda p: f"{p[0]} where {p[1]}"),
    st.tuples(st.sampled_from(["first", "last"]), NUMBERS, BASES).map(lambda p: f"{p[0]} ({p[1]}) of {p[2]}"),
    st.tuples(BASES, BASES).map(lambda p: f"{p[0]}, {p[1]}"),
)
STORED = st.sampled_from(["", "stored by x", "stored by (x, y)"])


def parts_of(who: str, how: str, stored: str) -> Rule | None:
    """The bound rule; None where the text is refused for another reason than its values."""
    try:
        rule = bound(HEAD.format(who=who, how=how, stored=stored)).variants[0].rules.rules[0]
    except MaskFileError as error:
        if all(
            d.code in ("evaluation", "negative-count", "kinds-differ")
            for d in error.diagnostics
            if d.severity.value == "error"
        ):
            return None
        raise
    assert isinstance(rule, Rule)
    return rule


@settings(max_examples=100, deadline=None)
@given(NUMBERS, STORED)
def test_numbers_agree_with_their_meaning(text: str, stored: str) -> None:
    axis = bound(HEAD.format(who="everything", how="all", stored=stored)).variants[0].keys
    rule = parts_of("everything", f"same ({text})", stored)
    if rule is None or not isinstance(rule.how, Same):
        return
    expression: Expression = rule.how.by.parts[0].expression
    found = columns.column_of(expression, axis, np.flatnonzero(~axis.padding))
    for place, slot in enumerate(np.flatnonzero(~axis.padding).tolist()):
        value = evaluate(expression, Token(axis, slot))
        assert (found.values[place] if found.mask()[place] else None) == value


@settings(max_examples=80, deadline=None)
@given(SELECTORS, STORED)
def test_selectors_agree_with_their_meaning(text: str, stored: str) -> None:
    axis = bound(HEAD.format(who="everything", how="all", stored=stored)).variants[0].keys
    rule = parts_of(text, "all", stored)
    if rule is None:
        return
    selector: Selector = rule.who
    expected = [selects(selector, Token(axis, slot)) for slot in range(axis.length)]

    assert columns.selected(selector, axis).tolist() == expected


def test_a_failing_token_is_named() -> None:
    rule = parts_of("everything", "same (at // 2)", "")
    assert rule is not None
    with pytest.raises(MaskFileError, match=r"token 9 = group\[2\]\.text\[0\] \+ 0"):
        bound(HEAD.format(who="group", how="same (1 // (2 - group))", stored=""))


def test_large_products_are_checked_one_by_one() -> None:
    axis = bound("layout\n    token : 3\nrules\n    token sees token : all\n").variants[0].keys
    text = "layout\n    token : 3\nrules\n    token where pos < 2 sees token : same (pos * 9_000_000_000_000_000_000)\n"
    rule = bound(text.replace("sees token", "sees token where pos < 2")).variants[0].rules.rules[0]
    assert isinstance(rule, Rule)
    assert isinstance(rule.how, Same)

    expression = rule.how.by.parts[0].expression
    assert columns.column_of(expression, axis, np.arange(2)).values.tolist() == [0, 9_000_000_000_000_000_000]
    with pytest.raises(EvaluationError, match="does not fit 64 bits"):
        columns.column_of(expression, axis)
