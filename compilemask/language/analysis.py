"""What can be told of an expression without evaluating it: whose it is, whether it varies, whether it can fail."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compilemask.language import program as ir
from compilemask.language.axis import CoordinateKind
from compilemask.language.program import Side
from compilemask.language.values import INT64_MAX, ListValue

_LARGEST_COORDINATE = 2**24
_SIMPLE = (ir.Comparison, ir.AllOf, ir.AnyOf, ir.Negation)


def walk(node: object) -> Iterator[ir.Bound]:
    """A node of the program and all nodes in it."""
    if isinstance(node, tuple):
        for item in node:
            yield from walk(item)
    elif isinstance(node, ir.Part):
        yield from walk(node.expression)
    elif isinstance(node, ir.Bound):
        yield node
        for name in node.__dataclass_fields__:
            value = getattr(node, name)
            if isinstance(value, ir.Bound | ir.Part | tuple):
                yield from walk(value)


_PER_RUN = (CoordinateKind.NUMBER, CoordinateKind.COUNT, CoordinateKind.SIZE)


def constant_in_runs(expression: ir.Expression) -> bool:
    """Whether all tokens of a run (an instance of an innermost region) have the same value."""
    for part in walk(expression):
        if isinstance(part, ir.RunningTotal | ir.EndTokens):
            return False
        if isinstance(part, ir.Coordinate) and part.kind not in _PER_RUN:
            return False
    return True


def fails_by_run(expression: ir.Expression) -> bool:
    """Whether one token of every run is enough to find out that the expression fails for some token."""
    if constant_in_runs(expression) or cannot_fail(expression):
        return True
    match expression:
        case ir.Cases(_, _, cases):
            return all(_selects_runs(case.selector) and fails_by_run(case.value) for case in cases)
        case ir.Conditional(_, condition, value, otherwise):
            return constant_in_runs(condition) and fails_by_run(value) and fails_by_run(otherwise)
        case ir.Comparison(_, _, left, right):
            return fails_by_run(left) and fails_by_run(right)
    return False


def _selects_runs(selector: ir.Selector) -> bool:
    return all(
        not isinstance(part, ir.EndTokens | ir.RunningTotal)
        and not (isinstance(part, ir.Coordinate) and part.kind not in _PER_RUN)
        for part in walk(selector)
    )


def sides_of(expression: ir.Expression) -> frozenset[Side]:
    """Whose coordinates an expression uses."""
    found = set()
    for part in walk(expression):
        if isinstance(part, ir.Coordinate | ir.Cases | ir.RunningTotal) and part.side is not Side.THIS:
            found.add(part.side)
    return frozenset(found)


def cannot_fail(expression: ir.Expression) -> bool:
    """Whether an expression of one token has a value, or is absent, whatever the token."""
    if isinstance(expression, _SIMPLE):
        return all(
            _largest(part) is not None or (part is not expression and isinstance(part, _SIMPLE) and cannot_fail(part))
            for part in _operands(expression)
        )
    return _largest(expression) is not None


def _operands(expression: ir.Expression) -> tuple[ir.Expression, ...]:
    match expression:
        case ir.Comparison(_, operator, left, right):
            if operator in (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN):
                return (left,) if _numbers(right) else (expression,)
            return left, right
        case ir.AllOf(_, parts) | ir.AnyOf(_, parts):
            return parts
        case ir.Negation(_, operand):
            return (operand,)
    return ()


def _numbers(values: ir.Expression) -> bool:
    """Whether a list holds numbers only, so that looking for a number in it compares equal kinds."""
    held = values.value if isinstance(values, ir.Constant) else None
    return isinstance(held, ListValue) and held.array is not None and held.array.dtype == np.int64


def _largest(expression: ir.Expression) -> int | None:
    """A bound of the absolute value of a number that can never fail; None: unknown, or it can."""
    match expression:
        case ir.Constant(_, value):
            return abs(value) if type(value) is int else None
        case ir.Coordinate(_, _, kind, _):
            return _LARGEST_COORDINATE if kind is not CoordinateKind.POS else 2**40
        case ir.Negative(_, operand):
            return _largest(operand)
        case ir.Arithmetic(_, operator, left, right):
            return _arithmetic(operator, _largest(left), _largest(right), right)
    return None


def _arithmetic(
    operator: ir.ArithmeticOperator, left: int | None, right: int | None, divisor: ir.Expression
) -> int | None:
    if left is None or right is None:
        return None
    match operator:
        case ir.ArithmeticOperator.ADD | ir.ArithmeticOperator.SUBTRACT:
            bound = left + right
        case ir.ArithmeticOperator.MULTIPLY:
            bound = left * right
        case _:
            if not isinstance(divisor, ir.Constant) or not right:
                return None
            bound = max(left, right)
    return bound if bound <= INT64_MAX else None
