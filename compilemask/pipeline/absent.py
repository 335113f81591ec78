"""Why a rule never matches: a value that it needs is absent for all queries, or for all keys, that it selects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from compilemask.language import columns
from compilemask.language import program as ir
from compilemask.language.analysis import sides_of
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.meaning_reasons import text_of
from compilemask.language.program import Side

_NAMED = re.compile(r"(?:[qk]\.)?([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class _Needed:
    """A value of one token without which a relation holds for no pair; the text says `k.b` inside of `q.b > k.b`."""

    side: Side
    expression: ir.Expression
    said: str
    inside: str


def absent_value(rule: ir.Rule, variant: ir.Variant) -> str | None:
    """What to say of the first such value, None where there is none."""
    for needed in _needed(rule.how):
        axis, selector = (variant.queries, rule.who) if needed.side is Side.QUERY else (variant.keys, rule.whom)
        try:
            slots = np.flatnonzero(columns.selected(selector, axis)).astype(np.int64)
            present = columns.column_of(needed.expression, axis, slots).present
        except EvaluationError:
            continue
        if len(slots) and present is not None and not present.any():
            return _sentence(needed, text_of(selector.span))
    return None


def _sentence(needed: _Needed, selector: str) -> str:
    """The name of the value where the text has one."""
    named = _NAMED.fullmatch(needed.said)
    if named is None:
        return f"a value in `{needed.inside}` is absent for all of `{selector}`: nothing compares with it"
    name = named.group(1)
    return f"`{name}` is absent for all of `{selector}`: give it a value there (a `let` may have a line per region)"


def _needed(how: ir.Relation) -> Iterator[_Needed]:
    match how:
        case ir.Both(_, parts):
            for one in parts:
                yield from _needed(one)
        case ir.Condition(_, expression):
            yield from _compared(expression)
        case ir.Either() | ir.Complement():
            return
        case _:
            by = getattr(how, "by", None)
            if isinstance(by, ir.By):
                yield from _by(by)


def _by(by: ir.By) -> Iterator[_Needed]:
    said = text_of(by.span)
    for part in by.parts:
        for side in (Side.QUERY, Side.KEY):
            yield _Needed(side, ir.on_side(part.expression, side), said if len(by.parts) == 1 else "", said)


def _compared(condition: ir.Expression) -> Iterator[_Needed]:
    match condition:
        case ir.AllOf(_, parts):
            for part in parts:
                yield from _compared(part)
        case ir.Comparison(span, operator, left, right):
            text = text_of(span)
            halves = [half.strip() for half in text.split(operator.value)]
            for place, operand in enumerate((left, right)):
                sides = sides_of(operand)
                if len(sides) == 1:
                    yield _Needed(next(iter(sides)), operand, halves[place] if len(halves) == 2 else "", text)
