"""Expressions of one token, evaluated for many tokens at once; the result equals `meaning` token by token.

`and`, `or` and `if` evaluate their later parts only for the tokens that get there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compilemask.language import arithmetic as scalar
from compilemask.language import effort, functions
from compilemask.language import program as ir
from compilemask.language.axis import Column, CoordinateKind
from compilemask.language.column_calls import at_once
from compilemask.language.column_lists import contained, gather, gather_nested, nested_table
from compilemask.language.column_parts import Flags, Slots, Values, assembled, both, each
from compilemask.language.values import INT64_MAX, INT64_MIN, ListValue, Value


class Frame(Protocol):
    """Where coordinates of many tokens come from."""

    def column(self, kind: CoordinateKind, region: str | None) -> Column: ...

    def select(self, selector: ir.Selector, slots: Slots) -> Flags: ...

    def total(self, expression: ir.RunningTotal) -> Values: ...


def evaluate(expression: ir.Expression, frame: Frame, slots: Slots) -> Values:
    """The value of an expression (side THIS, or one side only) for these tokens.

    Raises EvaluationError, with `slot`, where a token has no value that it should have.
    """
    effort.spend(len(slots) + effort.A_NODE, expression.span)
    found = _EVALUATORS[type(expression)](expression, frame, slots)
    if found.present is not None and found.present.all():
        return Values(found.values, None)
    return found


def _constant(expression: ir.Constant, frame: Frame, slots: Slots) -> Values:
    value = expression.value
    if type(value) is bool:
        return Values(np.full(len(slots), value, dtype=np.bool_), None)
    if type(value) is int:
        return Values(np.full(len(slots), value, dtype=np.int64), None)
    values = np.empty(len(slots), dtype=np.object_)
    values.fill(value)
    return Values(values, None)


def _coordinate(expression: ir.Coordinate, frame: Frame, slots: Slots) -> Values:
    column = frame.column(expression.kind, expression.region)
    return Values(column.values[slots], None if column.present is None else column.present[slots])


def _cases(expression: ir.Cases, frame: Frame, slots: Slots) -> Values:
    open_ = np.ones(len(slots), dtype=np.bool_)
    pieces: list[tuple[Slots, Values]] = []
    for case in reversed(expression.cases):
        left = np.flatnonzero(open_)
        held = left[frame.select(case.selector, slots[left])]
        open_[held] = False
        pieces.append((held, evaluate(case.value, frame, slots[held])))
    return assembled(len(slots), pieces)


def _arithmetic(expression: ir.Arithmetic, frame: Frame, slots: Slots) -> Values:
    left, right = evaluate(expression.left, frame, slots), evaluate(expression.right, frame, slots)
    present = both(left.present, right.present)
    operator = expression.operator
    numeric = left.values.dtype == np.int64 and right.values.dtype == np.int64
    a, b = (found.values.astype(np.int64, copy=False) if numeric else _NOTHING for found in (left, right))
    if not numeric or _needs_care(operator, a, b):
        return each(lambda x, y: scalar.arithmetic(operator, x, y), (left, right), slots)
    if operator in _DIVISIONS:
        effort.spend(effort.A_DIVISION * len(slots), expression.span)
    return Values(_ARITHMETIC[operator](a, b), present)


def _needs_care(operator: ir.ArithmeticOperator, a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether some value might overflow or divide by zero, so that each is computed by itself."""
    if not len(a):
        return False
    if operator in _DIVISIONS:
        return bool((b == 0).any()) or (int(b.min()) < 0 and int(a.min()) == INT64_MIN)
    large_a, large_b = (max(abs(int(values.min())), abs(int(values.max()))) for values in (a, b))
    return (large_a * large_b if operator is ir.ArithmeticOperator.MULTIPLY else large_a + large_b) > INT64_MAX


def _negative(expression: ir.Negative, frame: Frame, slots: Slots) -> Values:
    zero = ir.Constant(expression.span, 0)
    return _arithmetic(
        ir.Arithmetic(expression.span, ir.ArithmeticOperator.SUBTRACT, zero, expression.operand), frame, slots
    )


def _lookup(expression: ir.Lookup, frame: Frame, slots: Slots) -> Values:
    index = evaluate(expression.index, frame, slots)
    table = expression.values
    if isinstance(table, ir.Constant) and isinstance(table.value, ListValue) and index.values.dtype == np.int64:
        return gather(table.value, index, slots)
    if isinstance(table, ir.Lookup) and isinstance(table.values, ir.Constant) and index.values.dtype == np.int64:
        flat = nested_table(table.values.value)
        if flat is not None:
            return gather_nested(flat, evaluate(table.index, frame, slots), index, slots)
    found = evaluate(table, frame, slots)
    return each(lambda values, place: scalar.lookup(values, place, from_end=False), (found, index), slots)


def _slice(expression: ir.Slice, frame: Frame, slots: Slots) -> Values:
    ends = [None if end is None else evaluate(end, frame, slots) for end in (expression.start, expression.stop)]
    given = [end for end in ends if end is not None]

    def cut(values: Value, *rest: Value) -> Value:
        left = list(rest)
        start, stop = (None if end is None else left.pop(0) for end in ends)
        return scalar.slice_of(values, start, stop, from_end=False)

    return each(cut, (evaluate(expression.values, frame, slots), *given), slots)


def _call(expression: ir.Call, frame: Frame, slots: Slots) -> Values:
    arguments = tuple(evaluate(argument, frame, slots) for argument in expression.arguments)
    fast = at_once(expression, arguments)
    return (
        fast
        if fast is not None
        else each(lambda *values: functions.call(expression.function, values), arguments, slots)
    )


def _running_total(expression: ir.RunningTotal, frame: Frame, slots: Slots) -> Values:
    total = frame.total(expression)
    return Values(total.values[slots], None if total.present is None else total.present[slots])


def _conditional(expression: ir.Conditional, frame: Frame, slots: Slots) -> Values:
    holds = evaluate(expression.condition, frame, slots).true()
    yes, no = np.flatnonzero(holds), np.flatnonzero(~holds)
    return assembled(
        len(slots),
        [
            (yes, evaluate(expression.value, frame, slots[yes])),
            (no, evaluate(expression.otherwise, frame, slots[no])),
        ],
    )


def _comparison(expression: ir.Comparison, frame: Frame, slots: Slots) -> Values:
    left, right = evaluate(expression.left, frame, slots), evaluate(expression.right, frame, slots)
    operator = expression.operator
    present = both(left.present, right.present)
    if operator in (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN):
        flags = contained(expression, left)
        if flags is not None:
            flags = flags if operator is ir.ComparisonOperator.IN else ~flags
            return Values(flags if present is None else flags & present, None)
    a, b = left.values, right.values
    if (
        operator in _COMPARISONS
        and a.dtype == b.dtype
        and (a.dtype == np.int64 or (a.dtype == np.bool_ and operator in _EQUALITIES))
    ):
        compare = _COMPARISONS[operator]
        flags = compare(a, b)
    else:
        flags = each(lambda x, y: scalar.compare(operator, x, y), (left, right), slots).values.astype(np.bool_)
    return Values(flags if present is None else flags & present, None)


def _all_of(expression: ir.AllOf, frame: Frame, slots: Slots) -> Values:
    flags = np.ones(len(slots), dtype=np.bool_)
    for part in expression.parts:
        flags[flags] = evaluate(part, frame, slots[flags]).true()
    return Values(flags, None)


def _any_of(expression: ir.AnyOf, frame: Frame, slots: Slots) -> Values:
    flags = np.zeros(len(slots), dtype=np.bool_)
    for part in expression.parts:
        flags[~flags] = evaluate(part, frame, slots[~flags]).true()
    return Values(flags, None)


def _negation(expression: ir.Negation, frame: Frame, slots: Slots) -> Values:
    return Values(~evaluate(expression.operand, frame, slots).true(), None)


def _listing(expression: ir.Listing, frame: Frame, slots: Slots) -> Values:
    parts = tuple(evaluate(part, frame, slots) for part in expression.parts)
    return each(lambda *values: ListValue(values), parts, slots)


_NOTHING = np.zeros(0, dtype=np.int64)
_DIVISIONS = (ir.ArithmeticOperator.FLOOR_DIVIDE, ir.ArithmeticOperator.MODULO)
_EQUALITIES = (ir.ComparisonOperator.EQUAL, ir.ComparisonOperator.NOT_EQUAL)


_ARITHMETIC: dict[ir.ArithmeticOperator, Callable[..., NDArray[np.int64]]] = {
    ir.ArithmeticOperator.ADD: np.add,
    ir.ArithmeticOperator.SUBTRACT: np.subtract,
    ir.ArithmeticOperator.MULTIPLY: np.multiply,
    ir.ArithmeticOperator.FLOOR_DIVIDE: np.floor_divide,
    ir.ArithmeticOperator.MODULO: np.mod,
}

_COMPARISONS: dict[ir.ComparisonOperator, Callable[..., Flags]] = {
    ir.ComparisonOperator.LESS: np.less,
    ir.ComparisonOperator.LESS_EQUAL: np.less_equal,
    ir.ComparisonOperator.EQUAL: np.equal,
    ir.ComparisonOperator.NOT_EQUAL: np.not_equal,
    ir.ComparisonOperator.GREATER_EQUAL: np.greater_equal,
    ir.ComparisonOperator.GREATER: np.greater,
}


_EVALUATORS: dict[type, Callable[..., Values]] = {
    ir.Constant: _constant,
    ir.Coordinate: _coordinate,
    ir.Cases: _cases,
    ir.Arithmetic: _arithmetic,
    ir.Negative: _negative,
    ir.Lookup: _lookup,
    ir.Slice: _slice,
    ir.Call: _call,
    ir.RunningTotal: _running_total,
    ir.Conditional: _conditional,
    ir.Comparison: _comparison,
    ir.AllOf: _all_of,
    ir.AnyOf: _any_of,
    ir.Negation: _negation,
    ir.Listing: _listing,
}
