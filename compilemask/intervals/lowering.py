"""From a bound program to intervals: rules in painter's order, limits inside every rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import terms
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.layers import Layer, united, worthwhile
from compilemask.intervals.limits import MOST_RUNS, check_parts, check_rules, check_together, too_many_runs
from compilemask.intervals.order import UNMOVED, Permutation, TokenOrder, inverse
from compilemask.intervals.painting import Painting, RuleEffect
from compilemask.intervals.plan import Plan, Turned
from compilemask.intervals.relations import relation_term
from compilemask.intervals.solve import Form, Solver
from compilemask.language import effort
from compilemask.language import program as ir

RUNS_A_TOKEN = 32  # more runs than this in row form: plan the column form too
RUNS_A_QUERY_MOVED = 4  # more runs than this, and than this per request: plan in the order of the kernel too
PIECES_A_LINE = 16  # moving that cuts into fewer pieces than this costs less than planning anew
PIECES_SAMPLED = 13  # in masks of many runs the pieces of every so many-th run are counted
RUNS_A_REQUEST = 8  # requests that take fewer runs each, found or cut by moving, gain little from another order
ALWAYS_COUNTED = 1 << 16  # masks of fewer runs are counted both ways in any case
TURNING = 3  # making a mask in one form and transposing it costs about three times as much as making it


@dataclass(frozen=True, slots=True)
class Lowered:
    """One distinct mask in the form that has fewer runs, and what each of its rules did."""

    form: Form
    intervals: Intervals
    order: TokenOrder = UNMOVED  # in which the intervals are
    effects: tuple[RuleEffect, ...] = field(default=())
    per_cell: tuple[ir.Expression, ...] = field(default=())
    asked: int = 0  # requests that were made for it: hardly fewer runs in any order
    layers: tuple[Layer, ...] = ()  # their union is the mask, in the same form and order; none where that saves little

    def rows(self) -> Intervals:
        """Keys of every query, in the caller's order."""
        return self.intervals_in(Form.ROW)

    def columns(self) -> Intervals:
        """Queries of every key, in the caller's order."""
        return self.intervals_in(Form.COLUMN)

    def runs_per_query(self) -> NDArray[np.int64]:
        """[queries] runs of keys, in the order in which the intervals are kept."""
        if self.form is Form.ROW:
            return self.intervals.runs_per_row()
        return self.intervals.transposed_runs_per_row()

    def seeing_queries(self) -> NDArray[np.bool_]:
        """[queries] which of the caller's queries see any key."""
        return self._callers(self._shown(self.form is Form.ROW), self.order.queries)

    def seen_keys(self) -> NDArray[np.bool_]:
        """[keys] which of the caller's keys are seen by any query."""
        return self._callers(self._shown(self.form is Form.COLUMN), self.order.keys)

    def _shown(self, rows: bool) -> NDArray[np.bool_]:
        intervals = self.intervals
        return intervals.offsets[1:] > intervals.offsets[:-1] if rows else intervals.shown_columns()

    def _callers(self, shown: NDArray[np.bool_], order: Permutation | None) -> NDArray[np.bool_]:
        places = inverse(order)
        return shown if places is None else shown[places]

    def pieces_in(self, order: TokenOrder) -> int:
        """Into about how many pieces moving to an order cuts the runs; a mask that is kept moved counts as it is."""
        columns = order.keys if self.form is Form.ROW else order.queries
        if self.order.moves or columns is None or not self.intervals.runs:
            return self.intervals.runs
        sampled = PIECES_SAMPLED if self.intervals.runs > PIECES_SAMPLED * self.intervals.rows else 1
        return sampled * self.intervals.pieces_made(columns, slice(None, None, sampled))

    def intervals_in(self, form: Form, order: TokenOrder = UNMOVED) -> Intervals:
        """The mask in a form, and in an order of queries and keys."""
        intervals = self.intervals
        if self.order is not order:
            for step in (self.order.back(), order):
                intervals = (step if self.form is Form.ROW else step.turned()).move(intervals)
        return intervals if form is self.form else intervals.transpose()


@dataclass(slots=True)
class _Painted:
    """A rule, who and whom it selects, and what it says within the limits."""

    rule: ir.Rule
    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    term: terms.Term


def lower(program: ir.Program, order: TokenOrder = UNMOVED) -> tuple[Lowered, ...]:
    """The intervals of every variant of the program, in the caller's order or in the given one.

    Raises MaskFileError where a rule has no value for tokens that it selects, or would cost too much.
    """
    lowered: list[Lowered] = []
    entries = 0
    with effort.limited():
        for variant in program.variants:
            lowered.append(lower_variant(variant, order))
            entries += lowered[-1].intervals.runs + lowered[-1].intervals.rows
            check_together(entries, len(lowered))
    return tuple(lowered)


def lower_variant(variant: ir.Variant, order: TokenOrder = UNMOVED) -> Lowered:
    """The intervals of one distinct mask, in the cheaper form and order."""
    solver = Solver(variant.queries, variant.keys)
    painted = _painted(solver, variant)
    form, plans, compared = _cheaper_form(solver, painted)
    cost = sum(plan.cost for plan in plans)
    asked = sum(plan.asked for plan in plans)
    if order.moves and cost > max(RUNS_A_QUERY_MOVED * solver.queries.length, RUNS_A_REQUEST * asked):
        moved = Solver(variant.queries, variant.keys, order)
        painted_there = _painted(moved, variant)
        form_there, plans_there, compared_there = _cheaper_form(moved, painted_there)
        if sum(plan.cost for plan in plans_there) < cost:
            solver, painted, form, plans = moved, painted_there, form_there, plans_there
            compared = compared_there
            cost = sum(plan.cost for plan in plans)
    if cost > MOST_RUNS:
        raise too_many_runs(cost)
    return _made(solver, painted, form, plans, compared)


def in_order(lowered: Lowered, variant: ir.Variant, order: TokenOrder, most_runs: int = MOST_RUNS) -> Lowered:
    """The mask from where `order` is reached most cheaply: as it is, or planned anew in that order.

    Moving cuts runs wherever the order parts neighbours: an order that gathers far tokens cuts long runs into single
    tokens, even where few runs are left in the end. Plans of more than `most_runs` are not made.
    """
    if lowered.order.moves or not order.moves:
        return lowered
    pieces = lowered.pieces_in(order)
    if pieces <= max(PIECES_A_LINE * lowered.intervals.rows, RUNS_A_REQUEST * lowered.asked):
        return lowered
    solver = Solver(variant.queries, variant.keys, order)
    painted = _painted(solver, variant)
    form, plans, compared = _cheaper_form(solver, painted)
    if sum(plan.cost for plan in plans) > min(pieces // TURNING, most_runs):
        return lowered
    return _made(solver, painted, form, plans, compared)


def in_callers_order(lowered: Lowered, variant: ir.Variant) -> Lowered:
    """The mask from where the caller's order is reached most cheaply: as it is, or planned anew in that order."""
    if not lowered.order.moves:
        return lowered
    back = lowered.order.back()
    columns = back.keys if lowered.form is Form.ROW else back.queries
    pieces = 0 if columns is None else lowered.intervals.pieces_made(columns)
    if pieces <= RUNS_A_REQUEST * lowered.asked:
        return lowered
    solver = Solver(variant.queries, variant.keys)
    painted = _painted(solver, variant)
    form, plans, compared = _cheaper_form(solver, painted)
    if sum(plan.cost for plan in plans) > min(pieces, MOST_RUNS):
        return lowered
    return _made(solver, painted, form, plans, compared)


def _made(solver: Solver, painted: list[_Painted], form: Form, plans: list[Plan], compared: bool) -> Lowered:
    """The planned rules painted one over the other."""
    painting = Painting(*solver.shape(form))
    asked = sum(plan.asked for plan in plans)
    plans.reverse()
    shown: list[Layer] = []
    for one in painted:
        layers = plans.pop().layers()
        painting.paint(one.rule, united(layers), bool(one.queries.size and one.keys.size))
        shown = [*shown, *layers] if one.rule.shows else [painting.result]
    result, effects = painting.result, painting.effects()
    kept = worthwhile(shown, result.runs)
    lowered = Lowered(form, result, solver.order, effects, tuple(solver.per_cell), asked, kept)
    return lowered if compared and lowered.intervals.runs > ALWAYS_COUNTED else _keep_cheaper(lowered)


def _painted(solver: Solver, variant: ir.Variant) -> list[_Painted]:
    limits = [relation_term(rule.how) for rule in variant.rules.rules if isinstance(rule, ir.Limit)]
    painted: list[_Painted] = []
    chosen = 0
    for rule in variant.rules.rules:
        if isinstance(rule, ir.Rule):
            check_rules(len(painted) + 1, max(variant.queries.length, variant.keys.length))
            queries, keys = solver.selected(rule.who, True), solver.selected(rule.whom, False)
            chosen += queries.size + keys.size
            check_parts(chosen)
            term = terms.conjunction(relation_term(rule.how), *limits)
            painted.append(_Painted(rule, queries, keys, term))
    return painted


def _cheaper_form(solver: Solver, painted: list[_Painted]) -> tuple[Form, list[Plan], bool]:
    """The form to make, a plan per rule, and whether the other form has been planned too.

    Once the plans are too costly in both forms, the rest is left out: plans take memory, too.
    """
    few = RUNS_A_TOKEN * (solver.queries.length + solver.keys.length)
    rows: list[Plan] = []
    for one in painted:
        rows.append(solver.plan(one.term, one.queries, one.keys, Form.ROW))
        few -= rows[-1].cost
        if few < 0:
            return *_cheaper_of_both(solver, painted, rows), True
    return Form.ROW, rows, False


def _cheaper_of_both(solver: Solver, painted: list[_Painted], rows: list[Plan]) -> tuple[Form, list[Plan]]:
    """Plans in both forms; `rows` are the first ones of the row form."""
    by_row: list[Plan] = []
    by_column: list[Plan] = []
    row_cost = column_cost = 0
    for number, one in enumerate(painted):
        row = rows[number] if number < len(rows) else solver.plan(one.term, one.queries, one.keys, Form.ROW)
        column = solver.plan(one.term, one.queries, one.keys, Form.COLUMN)
        by_row.append(row if row.cost <= TURNING * column.cost else Turned(column))
        by_column.append(column if column.cost <= TURNING * row.cost else Turned(row))
        row_cost += by_row[-1].cost
        column_cost += by_column[-1].cost
        if min(row_cost, column_cost) > MOST_RUNS:
            break
    return (Form.ROW, by_row) if row_cost <= column_cost else (Form.COLUMN, by_column)


def _keep_cheaper(lowered: Lowered) -> Lowered:
    """The form with fewer runs; the other one is not counted where this one is hardly the worse."""
    form, intervals = lowered.form, lowered.intervals
    runs, lines = intervals.runs, min(intervals.rows, intervals.columns)
    counted = runs > 2 * lines and (runs <= ALWAYS_COUNTED or runs > RUNS_A_TOKEN * 2 * lines)
    if counted and intervals.transposed_runs() * 2 < runs:
        other = Form.COLUMN if form is Form.ROW else Form.ROW
        return replace(lowered, form=other, intervals=intervals.transpose(), layers=())
    return lowered
