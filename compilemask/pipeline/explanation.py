"""Why a cell is visible or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compilemask.intervals import terms
from compilemask.intervals.relations import relation_term
from compilemask.intervals.solve import Form, Solver
from compilemask.intervals.vectors import selected
from compilemask.language import program as ir
from compilemask.source import Span


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rule or limit that decides a cell; `rule` is None where no rule speaks of it."""

    visible: bool
    rule: ir.Rule | ir.Limit | None
    rule_number: int | None
    span: Span | None
    text: str


def explain(variant: ir.Variant, query: int, key: int) -> Explanation:
    """What decides one cell of a variant."""
    for slot, axis, what in ((query, variant.queries, "query"), (key, variant.keys, "key")):
        if axis.padding[slot]:
            return Explanation(False, None, None, None, f"{what} {slot:,} is padding: it sees and is seen by nothing")
    decided: ir.Rule | None = None
    for rule in variant.rules.rules:
        if isinstance(rule, ir.Rule) and _matches(variant, rule, query, key):
            decided = rule
    if decided is None:
        return Explanation(False, None, None, None, "no rule shows it")
    if not decided.shows:
        return _by(False, decided, f"rule {decided.number}{_line(decided.span)} hides it")
    for limit in variant.rules.rules:
        if isinstance(limit, ir.Limit) and not _holds(variant, limit.how, query, key):
            shown = f"rule {decided.number}{_line(decided.span)} shows it, but limit {limit.number}{_line(limit.span)}"
            return _by(False, limit, f"{shown} cuts it")
    return _by(True, decided, f"rule {decided.number}{_line(decided.span)} shows it")


def _by(visible: bool, rule: ir.Rule | ir.Limit, text: str) -> Explanation:
    return Explanation(visible, rule, rule.number, rule.span, text)


def _line(span: Span | None) -> str:
    return "" if span is None else f" (line {span.line})"


def _matches(variant: ir.Variant, rule: ir.Rule, query: int, key: int) -> bool:
    if not selected(rule.who, variant.queries)[query] or not selected(rule.whom, variant.keys)[key]:
        return False
    return _holds(variant, rule.how, query, key)


def _holds(variant: ir.Variant, how: ir.Relation, query: int, key: int) -> bool:
    solver = Solver(variant.queries, variant.keys)
    term = relation_term(how)
    if isinstance(term, terms.Always):
        return True
    plan = solver.plan(term, np.array([query], np.int64), np.array([key], np.int64), Form.ROW)
    return bool(plan.emit().runs)
