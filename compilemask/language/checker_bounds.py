"""Which expressions can never fail, so that nobody needs to evaluate them to know."""

from __future__ import annotations

import numpy as np

from compilemask.language import program as ir
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_coordinates import walk
from compilemask.language.program import Side
from compilemask.language.values import INT64_MAX, ListValue

_LARGEST_COORDINATE = 2**24
_SIMPLE = (ir.Comparison, ir.AllOf, ir.AnyOf, ir.Negation)


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
            _largest(part) is not None or (isinstance(part, _SIMPLE) and cannot_fail(part))
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
