"""Expressions, selectors and coordinates of a bound program, for many tokens at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError
from compilemask.language import arithmetic as single
from compilemask.language import program as bound
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.functions import call
from compilemask.language.program import ComparisonOperator, Side
from compilemask.language.values import ListValue
from compilemask.measure.oracle.operators import Bools, arithmetic, compared, looked_up
from compilemask.measure.oracle.vectors import (
    Vector,
    condition,
    constant,
    elementwise,
    numbers,
    packed,
    truth,
)


class Tokens(NamedTuple):
    """Tokens of one axis by their slots; queries are [m, 1], keys [1, n], tokens on their own [n]."""

    axis: Axis
    slots: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Environment:
    """Which tokens the sides stand for."""

    this: Tokens | None = None
    query: Tokens | None = None
    key: Tokens | None = None

    def tokens(self, side: Side) -> Tokens:
        found = {Side.THIS: self.this, Side.QUERY: self.query, Side.KEY: self.key}[side]
        if found is None:
            raise InternalError(f"a bound program uses the side {side.value} where there is none")
        return found


def evaluate(node: bound.Expression, where: Environment) -> Vector:
    """The value of an expression for all tokens of the environment."""
    match node:
        case bound.Constant():
            return constant(node.value)
        case bound.Coordinate():
            return _coordinate(node, where.tokens(node.side))
        case bound.Cases():
            return _cases(node, where.tokens(node.side))
        case bound.Arithmetic():
            return arithmetic(node.operator, evaluate(node.left, where), evaluate(node.right, where))
        case bound.Negative():
            operand = numbers(evaluate(node.operand, where))
            return Vector(-operand.values, operand.present)
        case bound.Lookup():
            return looked_up(evaluate(node.values, where), evaluate(node.index, where))
        case bound.Comparison():
            return condition(_comparison(node, where))
        case bound.AllOf():
            return condition(reduce(np.logical_and, (truth(evaluate(part, where)) for part in node.parts)))
        case bound.AnyOf():
            return condition(reduce(np.logical_or, (truth(evaluate(part, where)) for part in node.parts)))
        case bound.Negation():
            return condition(~truth(evaluate(node.operand, where)))
    return _rare(node, where)


def _rare(node: bound.Expression, where: Environment) -> Vector:
    match node:
        case bound.Conditional():
            return _conditional(node, where)
        case bound.RunningTotal():
            return _running_total(node, where.tokens(node.side))
        case bound.Call():
            arguments = [evaluate(argument, where) for argument in node.arguments]
            return elementwise(lambda *values: call(node.function, values), *arguments)
        case bound.Listing():
            parts = [evaluate(part, where) for part in node.parts]
            return elementwise(lambda *values: ListValue(list(values)), *parts)
        case bound.Slice():
            ends = [constant(0) if end is None else evaluate(end, where) for end in (node.start, node.stop)]
            no_start, no_stop = node.start is None, node.stop is None
            return elementwise(
                lambda values, start, stop: single.slice_of(
                    values, None if no_start else start, None if no_stop else stop, from_end=False
                ),
                evaluate(node.values, where),
                *ends,
            )
    raise InternalError(f"the oracle does not know {type(node).__name__}")


def _coordinate(node: bound.Coordinate, tokens: Tokens) -> Vector:
    column = tokens.axis.column(node.kind, node.region)
    present = np.array(True) if column.present is None else column.present[tokens.slots]
    return Vector(column.values[tokens.slots], present)


def _cases(node: bound.Cases, tokens: Tokens) -> Vector:
    result = np.empty(tokens.slots.shape, object)
    present = np.zeros(tokens.slots.shape, np.bool_)
    for case in node.cases:
        held = selected(case.selector, tokens)
        value = evaluate(case.value, Environment(this=tokens, query=tokens, key=tokens))
        there = np.broadcast_to(value.present, present.shape)
        result[held] = np.broadcast_to(value.values, present.shape)[held].astype(object)
        present[held] = there[held]
    return packed(result, present)


def _comparison(node: bound.Comparison, where: Environment) -> Bools:
    left, right = evaluate(node.left, where), evaluate(node.right, where)
    result = compared(node.operator, left, right)
    if node.enclosing is not None:
        result = result & common_parents(node.enclosing, where)
    return result


def common_parents(enclosing: bound.Enclosing, where: Environment) -> Bools:
    """Where the pair's instances lie in the same parents, as `Enclosing` says."""
    query, key = where.tokens(Side.QUERY), where.tokens(Side.KEY)
    holds: Bools = np.ones(np.broadcast_shapes(query.slots.shape, key.slots.shape), np.bool_)
    for name in enclosing.names:
        a = query.axis.enclosing(enclosing.query_region, name)[query.slots]
        b = key.axis.enclosing(enclosing.key_region, name)[key.slots]
        holds = holds & ((a < 0) | (b < 0) | (a == b))
    return holds


def _conditional(node: bound.Conditional, where: Environment) -> Vector:
    test = truth(evaluate(node.condition, where))
    if test.ndim == 0 or test.all() or not test.any():
        return evaluate(node.value if bool(test.all()) else node.otherwise, where)
    yes, no = evaluate(node.value, where), evaluate(node.otherwise, where)
    present = np.where(test, yes.present, no.present)
    if yes.values.dtype == no.values.dtype != object:
        return Vector(np.where(test, yes.values, no.values), present)
    shape = np.broadcast_shapes(test.shape, yes.values.shape, no.values.shape)
    chosen: NDArray[Any] = np.where(
        np.broadcast_to(test, shape),
        np.broadcast_to(yes.values.astype(object), shape),
        np.broadcast_to(no.values.astype(object), shape),
    )
    return packed(chosen, np.broadcast_to(present, shape))


def _running_total(node: bound.RunningTotal, tokens: Tokens) -> Vector:
    axis, slots = tokens.axis.uncut(tokens.slots)
    whole = Tokens(axis, np.arange(axis.length, dtype=np.int64))
    operand = evaluate(node.operand, Environment(this=whole))
    present = np.broadcast_to(operand.present, whole.slots.shape) & ~axis.padding
    amounts = np.where(present, np.broadcast_to(operand.values, whole.slots.shape), 0).astype(np.int64)
    written = axis.written
    order = np.argsort(written if written is not None else whole.slots, kind="stable")
    totals = np.empty(len(order), np.int64)
    totals[order] = np.cumsum(amounts[order])
    return Vector(totals[slots], present[slots])


def selected(node: bound.Selector, tokens: Tokens) -> Bools:
    """Which of the tokens the selector holds; never padding. The shape is that of the slots."""
    real: Bools = ~tokens.axis.padding[tokens.slots]
    return real & _chosen(node, tokens)


def _chosen(node: bound.Selector, tokens: Tokens) -> Bools:
    here = Environment(this=tokens, query=tokens, key=tokens)
    match node:
        case bound.AllTokens():
            return np.ones(tokens.slots.shape, np.bool_)
        case bound.RegionTokens():
            return tokens.axis.in_path(node.path)[tokens.slots]
        case bound.NumberedTokens():
            number = _region_number(node.path[-1], tokens)
            inside = tokens.axis.in_path(node.path)[tokens.slots]
            return inside & compared(ComparisonOperator.EQUAL, number, evaluate(node.index, here))
        case bound.RangeTokens():
            return tokens.axis.in_path(node.path)[tokens.slots] & _in_range(node, tokens)
        case bound.EndTokens():
            return _at_an_end(node, tokens)
        case bound.WhereTokens():
            return _chosen_where(node, tokens)
        case bound.UnionTokens():
            return reduce(np.logical_or, (selected(part, tokens) for part in node.parts))
    raise InternalError(f"the oracle does not know {type(node).__name__}")


def _chosen_where(node: bound.WhereTokens, tokens: Tokens) -> Bools:
    held = selected(node.of, tokens)
    some = Tokens(tokens.axis, tokens.slots[held])
    holds = truth(evaluate(node.condition, Environment(this=some, query=some, key=some)))
    result = np.zeros(tokens.slots.shape, np.bool_)
    result[held] = holds
    return result


def _region_number(region: str, tokens: Tokens) -> Vector:
    return _coordinate(bound.Coordinate(None, Side.THIS, CoordinateKind.NUMBER, region), tokens)


def _in_range(node: bound.RangeTokens, tokens: Tokens) -> Bools:
    number = _region_number(node.path[-1], tokens)
    result = number.present
    for end, compare in ((node.start, np.greater_equal), (node.stop, np.less)):
        if end is not None:
            limit = numbers(evaluate(end, Environment(this=tokens, query=tokens, key=tokens)))
            result = result & limit.present & compare(number.values, limit.values)
    return result


def _at_an_end(node: bound.EndTokens, tokens: Tokens) -> Bools:
    count = numbers(evaluate(node.count, Environment(this=tokens, query=tokens, key=tokens)))
    at = _coordinate(bound.Coordinate(None, Side.THIS, CoordinateKind.AT, node.region), tokens)
    size = _coordinate(bound.Coordinate(None, Side.THIS, CoordinateKind.SIZE, node.region), tokens)
    inside = at.values < count.values if node.end is bound.End.FIRST else at.values >= size.values - count.values
    return selected(node.of, tokens) & count.present & at.present & inside
