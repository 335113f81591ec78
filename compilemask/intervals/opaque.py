"""Conditions with no better way: evaluated once per pair of different tokens.

Tokens that give the condition's one-sided parts equal values are of one class; the condition is evaluated for pairs of
classes, some rows at a time, and never for more pairs than a limit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.intervals import plan as plans
from compilemask.intervals.by_value import different
from compilemask.intervals.conjunction import Conjunction
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.limits import MOST_RUNS, check_cells, check_runs, too_many_runs
from compilemask.intervals.plan import Plan
from compilemask.intervals.separation import sides_of
from compilemask.intervals.solve import Solver
from compilemask.intervals.vector import Tokens
from compilemask.intervals.vectors import evaluate, holds
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.axis import CoordinateKind
from compilemask.language.program import Side

Ints = NDArray[np.int64]
CELLS_AT_ONCE = 1 << 22
_AMONG = (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN)
PAIR_STEPS = 4  # to make runs of the pairs
LIST_STEPS = 256  # to look in a list that differs from pair to pair


def opaque_plan(solver: Solver, condition: ir.Expression, joined: Conjunction) -> Plan:
    """The plan of a condition, in row form."""
    queries, query_class = _classes(solver, condition, True, joined.queries)
    keys, key_class = _classes(solver, condition, False, joined.keys)
    cells = queries.size * keys.size
    check_cells(cells, _steps(condition), "the condition", condition.span)
    if cells > 4 * (joined.queries.size + joined.keys.size) + (1 << 20):
        solver.per_cell.append(condition)

    def make() -> Intervals:
        return _evaluate(solver, condition, joined, (queries, query_class), (keys, key_class))

    return plans.Made(make, joined.queries.size + cells // 16)


def _steps(expression: ir.Expression) -> int:
    """About how many steps the condition takes for one pair."""
    return PAIR_STEPS + sum(_steps_of_a_node(node) for node in _nodes(expression))


def _steps_of_a_node(node: ir.Expression) -> int:
    match node:
        case ir.Listing() | ir.Slice():
            return effort.AN_OBJECT
        case ir.Comparison(operator=operator, right=right) if operator in _AMONG and not isinstance(right, ir.Constant):
            return LIST_STEPS
        case ir.Arithmetic(operator=ir.ArithmeticOperator.FLOOR_DIVIDE | ir.ArithmeticOperator.MODULO):
            return 1 + effort.A_DIVISION
    return 1


def _nodes(expression: ir.Expression) -> Iterator[ir.Expression]:
    yield expression
    for field in dataclasses.fields(expression):
        value = getattr(expression, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ir.Case):
                part = part.value
            if isinstance(part, ir.Expression):
                yield from _nodes(part)


def _one_sided(expression: ir.Expression, side: Side) -> list[ir.Expression]:
    """The largest parts of the expression that use this side only."""
    sides = sides_of(expression)
    if side not in sides:
        return []
    if len(sides) == 1:
        return [expression]
    found: list[ir.Expression] = []
    for field in dataclasses.fields(expression):
        value = getattr(expression, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ir.Expression):
                found += _one_sided(part, side)
            elif isinstance(part, ir.Enclosing):
                found += _enclosing_parts(part, side)
    if isinstance(expression, ir.Comparison) and expression.enclosing is not None:
        found += _enclosing_parts(expression.enclosing, side)
    return found


def _enclosing_parts(enclosing: ir.Enclosing, side: Side) -> list[ir.Expression]:
    # The instances that enclose a region are told apart by its own instances.
    region = enclosing.query_region if side is Side.QUERY else enclosing.key_region
    return [ir.Coordinate(None, side, CoordinateKind.NUMBER, name) for name in (*enclosing.names, region)]


def _classes(solver: Solver, condition: ir.Expression, of_query: bool, slots: Ints) -> tuple[Ints, Ints]:
    """One slot per class, and the class of every token."""
    side = Side.QUERY if of_query else Side.KEY
    tokens = Tokens(solver.queries if of_query else solver.keys, slots)
    code = np.zeros(slots.size, np.int64)
    for part in dict.fromkeys(_one_sided(condition, side)):
        try:
            vector = evaluate(part, {side: tokens})
        except MaskFileError:
            # An earlier part of the condition may guard this one, so every token is a class of its own.
            return slots, np.arange(slots.size)
        values = np.broadcast_to(vector.values, slots.shape)
        code = _refine(code, values)
        if vector.present is not None:
            code = _refine(code, np.broadcast_to(vector.present, slots.shape))
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return slots[first], inverse.reshape(-1)


def _refine(code: Ints, values: NDArray[Any]) -> Ints:
    return different([code, values], code.size)[1]


def _evaluate(
    solver: Solver,
    condition: ir.Expression,
    joined: Conjunction,
    query: tuple[Ints, Ints],
    key: tuple[Ints, Ints],
) -> Intervals:
    """Runs of segments of equal key class for every query class, spread over the queries."""
    places = solver.place(False, joined.keys)
    cut = np.flatnonzero((np.diff(key[1]) != 0) | (np.diff(places) != 1)) + 1
    begin = np.concatenate(([0], cut))
    # An unused column wherever slots are not consecutive keeps runs of segments from crossing the gap.
    column = np.arange(begin.size) + np.cumsum(np.concatenate(([0], places[cut] != places[cut - 1] + 1)))
    start_of, end_of = np.zeros(column[-1] + 1, np.int64), np.zeros(column[-1] + 1, np.int64)
    start_of[column] = places[begin]
    end_of[column] = places[np.concatenate((cut, [places.size])) - 1] + 1
    keys = Tokens(solver.keys, key[0][None, :])
    at_once = CELLS_AT_ONCE if _steps(condition) < effort.AN_OBJECT else CELLS_AT_ONCE // 8
    step = max(1, at_once // max(1, max(key[0].size, column[-1] + 1)))
    parts: list[Intervals] = []
    runs = 0
    for first in range(0, query[0].size, step):
        queries = Tokens(solver.queries, query[0][first : first + step, None])
        effort.spend(PAIR_STEPS * queries.slots.size * key[0].size, condition.span)
        visible = holds(condition, {Side.QUERY: queries, Side.KEY: keys})
        shown = np.zeros((queries.slots.shape[0], column[-1] + 1), np.bool_)
        shown[:, column] = np.broadcast_to(visible, (queries.slots.shape[0], key[0].size))[:, key[1][begin]]
        found = Intervals.from_dense(shown)
        runs += found.runs
        if runs > MOST_RUNS:
            raise too_many_runs(runs, condition.span)
        start, end = start_of[found.starts].astype(np.int32), end_of[found.ends - 1].astype(np.int32)
        parts.append(Intervals(found.rows, solver.keys.length, found.offsets, start, end))
    table = Intervals.stacked(solver.keys.length, parts)
    check_runs(table.runs_per_row()[query[1]], condition.span)
    spread = table.select(query[1])
    counts = np.zeros(solver.queries.length, np.int64)
    counts[solver.place(True, joined.queries)] = spread.runs_per_row()
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return Intervals(solver.queries.length, solver.keys.length, offsets, spread.starts, spread.ends)
