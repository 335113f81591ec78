"""From a bound program to intervals: rules in painter's order, limits inside every rule."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import terms
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.plan import Plan, Turned
from compilemask.intervals.relations import relation_term
from compilemask.intervals.solve import Form, Solver
from compilemask.intervals.vectors import selected
from compilemask.language import program as ir

ROW_FORM_IS_FINE = 8


@dataclass(frozen=True, slots=True)
class Lowered:
    """One distinct mask in the form that has fewer runs."""

    form: Form
    intervals: Intervals
    per_cell: tuple[ir.Expression, ...] = field(default=())

    def rows(self) -> Intervals:
        """Keys of every query."""
        return self.intervals if self.form is Form.ROW else self.intervals.transpose()

    def columns(self) -> Intervals:
        """Queries of every key."""
        return self.intervals if self.form is Form.COLUMN else self.intervals.transpose()


@dataclass(slots=True)
class _Painted:
    """A rule, who and whom it selects, and what it says within the limits."""

    rule: ir.Rule
    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    term: terms.Term


def lower(program: ir.Program) -> tuple[Lowered, ...]:
    """The intervals of every variant of the program."""
    return tuple(lower_variant(variant) for variant in program.variants)


def lower_variant(variant: ir.Variant) -> Lowered:
    """The intervals of one distinct mask, in the cheaper form."""
    solver = Solver(variant.queries, variant.keys)
    limits = [relation_term(rule.how) for rule in variant.rules.rules if isinstance(rule, ir.Limit)]
    painted = [
        _Painted(
            rule,
            np.flatnonzero(selected(rule.who, variant.queries)),
            np.flatnonzero(selected(rule.whom, variant.keys)),
            terms.conjunction(relation_term(rule.how), *limits),
        )
        for rule in variant.rules.rules
        if isinstance(rule, ir.Rule)
    ]
    form, plans = _cheaper_form(solver, painted)
    result = Intervals.empty(*solver.shape(form))
    for one, plan in zip(painted, plans, strict=True):
        mask = plan.emit()
        result = result.union(mask) if one.rule.shows else result.difference(mask)
    return _keep_cheaper(Lowered(form, result, tuple(solver.per_cell)))


def _cheaper_form(solver: Solver, painted: list[_Painted]) -> tuple[Form, list[Plan]]:
    rows = [solver.plan(one.term, one.queries, one.keys, Form.ROW) for one in painted]
    cost = sum(plan.cost for plan in rows)
    if cost <= ROW_FORM_IS_FINE * (solver.queries.length + solver.keys.length):
        return Form.ROW, rows
    columns = [solver.plan(one.term, one.queries, one.keys, Form.COLUMN) for one in painted]
    by_row = [min(r.cost, 3 * c.cost) for r, c in zip(rows, columns, strict=True)]
    by_column = [min(c.cost, 3 * r.cost) for r, c in zip(rows, columns, strict=True)]
    if sum(by_row) <= sum(by_column):
        return Form.ROW, [r if r.cost <= 3 * c.cost else Turned(c) for r, c in zip(rows, columns, strict=True)]
    return Form.COLUMN, [c if c.cost <= 3 * r.cost else Turned(r) for r, c in zip(rows, columns, strict=True)]


def _keep_cheaper(lowered: Lowered) -> Lowered:
    """The form with fewer runs; the other one is only counted where this one has many."""
    intervals = lowered.intervals
    if intervals.runs <= ROW_FORM_IS_FINE * (intervals.rows + intervals.columns):
        return lowered
    if intervals.transposed_runs() * 2 >= intervals.runs:
        return lowered
    other = Form.COLUMN if lowered.form is Form.ROW else Form.ROW
    return Lowered(other, intervals.transpose(), lowered.per_cell)
