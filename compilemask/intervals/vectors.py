"""Expressions of the bound program for many tokens, or many pairs of tokens, at once.

The same values as the scalar definition gives, one numpy operation per node where the values are integers or
conditions; anything else (strings, lists, `any`) goes through the scalar functions, value by value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.by_value import boxed, by_value
from compilemask.intervals.vector import Bools, Scope, Tokens, Vector, anywhere, both, value_error
from compilemask.intervals.vector_lists import lookup, member_of_each, member_of_rows, nested_lookup, search
from compilemask.language import arithmetic as scalar
from compilemask.language import effort, functions
from compilemask.language import program as ir
from compilemask.language.axis import EVERYTHING
from compilemask.language.curves import hilbert, morton
from compilemask.language.program import ArithmeticOperator, ComparisonOperator, Function, Side
from compilemask.language.values import ANY, ListValue, describe

SAFE = 2**62


def evaluate(expression: ir.Expression, scope: Scope, active: Bools | None = None) -> Vector:
    """The values of an expression; an error is one only where `active` (and every operand present)."""
    try:
        found = _EVALUATORS[type(expression)](expression, scope, active)
        effort.spend(found.values.size + effort.A_NODE, expression.span)
        return found
    except scalar.EvaluationError as error:
        raise value_error(error.message, expression.span, error.hint) from None


def holds(expression: ir.Expression, scope: Scope, active: Bools | None = None) -> Bools:
    """A condition: false where it is absent."""
    vector = evaluate(expression, scope, active)
    if vector.values.dtype != np.bool_:
        if vector.values.dtype == object or anywhere(active, vector.present):
            sample = vector.values.reshape(-1)[:1].tolist()
            raise value_error(
                f"{describe(sample[0]) if sample else 'a value'} stands where a condition is expected",
                expression.span,
                "compare it, for instance with `== 1`",
            )
        return np.zeros(vector.values.shape, np.bool_)
    return vector.values if vector.present is None else vector.values & vector.present


# ---------------------------------------------------------------- leaves


def _constant(node: ir.Constant, scope: Scope, active: Bools | None) -> Vector:
    value = node.value
    if type(value) is int or type(value) is bool:
        return Vector(np.array(value), None)
    return Vector(boxed([value]).reshape(()), None)


def _coordinate(node: ir.Coordinate, scope: Scope, active: Bools | None) -> Vector:
    axis, slots = scope[node.side]
    if node.region is not None and node.region != EVERYTHING and node.region not in axis.regions:
        return Vector(np.zeros(slots.shape, np.int64), np.zeros(slots.shape, np.bool_))
    column = axis.column(node.kind, node.region)
    return Vector(column.values[slots], None if column.present is None else column.present[slots])


def _wanted(tokens: Tokens, active: Bools | None) -> Bools:
    """Which of the tokens any active pair needs."""
    shape = tokens.slots.shape
    if active is None:
        return np.ones(shape, np.bool_)
    joint = np.broadcast_shapes(active.shape, shape)
    spread = tuple(axis for axis, size in enumerate(joint) if size != 1 and shape[axis] == 1)
    return np.asarray(np.broadcast_to(active, joint).any(axis=spread, keepdims=True))


def _cases(node: ir.Cases, scope: Scope, active: Bools | None) -> Vector:
    from compilemask.intervals.selection import selected

    tokens = scope[node.side]
    rest = _wanted(tokens, active)
    result = Vector(np.zeros((), np.int64), np.zeros(tokens.slots.shape, np.bool_))
    for case in reversed(node.cases):
        chosen = rest & selected(case.selector, tokens.axis)[tokens.slots]
        if chosen.any():
            value = evaluate(case.value, {**scope, Side.THIS: tokens}, chosen)
            result = _choose(chosen, value, result)
            rest = rest & ~chosen
    return result


def _running_total(node: ir.RunningTotal, scope: Scope, active: Bools | None) -> Vector:
    tokens = scope[node.side]
    axis, slots = tokens.axis.uncut(tokens.slots)
    whole = Tokens(axis, np.arange(axis.length))
    operand = evaluate(node.operand, {Side.THIS: whole}, ~axis.padding)
    present = both(operand.present, ~axis.padding)
    values = np.where(True if present is None else present, operand.values, 0).astype(np.int64)
    values = np.broadcast_to(values, (axis.length,))
    if axis.written is None:
        total = np.cumsum(values)
    else:
        order = np.argsort(axis.written, kind="stable")
        total = np.empty(axis.length, np.int64)
        total[order] = np.cumsum(values[order])
    return Vector(total[slots], None if present is None else np.broadcast_to(present, (axis.length,))[slots])


# ---------------------------------------------------------------- arithmetic


def _arithmetic(node: ir.Arithmetic, scope: Scope, active: Bools | None) -> Vector:
    left, right = evaluate(node.left, scope, active), evaluate(node.right, scope, active)
    a, b = left.values, right.values
    present = both(left.present, right.present)
    if a.dtype != np.int64 or b.dtype != np.int64:
        return by_value(lambda x, y: scalar.arithmetic(node.operator, x, y), [left, right], active)
    match node.operator:
        case ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT:
            if _large(a) + _large(b) >= SAFE:
                return by_value(lambda x, y: scalar.arithmetic(node.operator, x, y), [left, right], active)
            return Vector(a + b if node.operator is ArithmeticOperator.ADD else a - b, present)
        case ArithmeticOperator.MULTIPLY:
            if _large(a) * _large(b) >= SAFE:
                return by_value(lambda x, y: scalar.arithmetic(node.operator, x, y), [left, right], active)
            return Vector(a * b, present)
    effort.spend(effort.A_DIVISION * max(a.size, b.size), node.span)
    zero = b == 0
    if zero.any():
        if anywhere(zero, active, present):
            raise value_error(f"`{node.operator.value}` divides by zero", node.span)
        present = both(present, ~zero)
        b = np.where(zero, 1, b)
    return Vector(a // b if node.operator is ArithmeticOperator.FLOOR_DIVIDE else a % b, present)


def _large(values: NDArray[Any]) -> int:
    return max(abs(int(values.min())), abs(int(values.max()))) if values.size else 0


def _negative(node: ir.Negative, scope: Scope, active: Bools | None) -> Vector:
    operand = evaluate(node.operand, scope, active)
    if operand.values.dtype != np.int64 or _large(operand.values) >= SAFE:
        return by_value(lambda x: scalar.checked(-scalar.number(x, "what is negated")), [operand], active)
    return Vector(-operand.values, operand.present)


# ---------------------------------------------------------------- lists


def _lookup(node: ir.Lookup, scope: Scope, active: Bools | None) -> Vector:
    index = evaluate(node.index, scope, active)
    if isinstance(node.values, ir.Lookup):
        lists, row = (evaluate(part, scope, active) for part in (node.values.values, node.values.index))
        nested = nested_lookup(lists, row, index, active)
        return lookup(lookup(lists, row, active), index, active) if nested is None else nested
    return lookup(evaluate(node.values, scope, active), index, active)


def _slice(node: ir.Slice, scope: Scope, active: Bools | None) -> Vector:
    values = evaluate(node.values, scope, active)
    ends = [evaluate(end, scope, active) for end in (node.start, node.stop) if end is not None]

    def cut(entries: Any, *bounds: Any) -> Any:
        rest = list(bounds)
        start = rest.pop(0) if node.start is not None else None
        return scalar.slice_of(entries, start, rest.pop(0) if rest else None, from_end=False)

    return by_value(cut, [values, *ends], active)


def _listing(node: ir.Listing, scope: Scope, active: Bools | None) -> Vector:
    return by_value(lambda *parts: ListValue(parts), [evaluate(part, scope, active) for part in node.parts], active)


def _call(node: ir.Call, scope: Scope, active: Bools | None) -> Vector:
    arguments = [evaluate(argument, scope, active) for argument in node.arguments]
    present: Bools | None = None
    for argument in arguments:
        present = both(present, argument.present)
    numbers = all(argument.values.dtype == np.int64 for argument in arguments)
    if numbers and node.function in (Function.MIN, Function.MAX) and len(arguments) > 1:
        extreme = np.minimum if node.function is Function.MIN else np.maximum
        values = arguments[0].values
        for argument in arguments[1:]:
            values = extreme(values, argument.values)
        return Vector(values, present)
    if numbers and node.function is Function.ABS and _large(arguments[0].values) < SAFE:
        return Vector(np.abs(arguments[0].values), present)
    if numbers and node.function in (Function.MORTON, Function.HILBERT):
        effort.spend(effort.A_CURVE * max(argument.values.size for argument in arguments), node.span)
        curve = morton if node.function is Function.MORTON else hilbert
        drawn = curve([argument.values for argument in arguments], both(present, active))
        if drawn is not None:
            return Vector(drawn, present)
    if node.function in (Function.COUNT, Function.FIND):
        found = search(node.function, arguments)
        if found is not None:
            return found
    return by_value(lambda *values: functions.call(node.function, values), arguments, active)


# ---------------------------------------------------------------- conditions


def _comparison(node: ir.Comparison, scope: Scope, active: Bools | None) -> Vector:
    if isinstance(node.left, ir.Listing) and isinstance(node.right, ir.Constant) and node.operator in _MEMBERSHIP:
        parts = [evaluate(part, scope, active) for part in node.left.parts]
        member = member_of_rows(node.right.value, parts) if isinstance(node.right.value, ListValue) else None
        if member is not None:
            known = member.values if node.operator is ComparisonOperator.IN else ~member.values
            return Vector(known if member.present is None else known & member.present, None)
    left, right = evaluate(node.left, scope, active), evaluate(node.right, scope, active)
    values = _compare(node.operator, left, right, active)
    present = both(left.present, right.present)
    if present is not None:
        values = values & present
    if node.enclosing is not None:
        values = values & enclosed(node.enclosing, scope[Side.QUERY], scope[Side.KEY])
    return Vector(values, None)


_COMPARE: dict[ComparisonOperator, Callable[[Any, Any], Any]] = {
    ComparisonOperator.LESS: np.less,
    ComparisonOperator.LESS_EQUAL: np.less_equal,
    ComparisonOperator.EQUAL: np.equal,
    ComparisonOperator.NOT_EQUAL: np.not_equal,
    ComparisonOperator.GREATER_EQUAL: np.greater_equal,
    ComparisonOperator.GREATER: np.greater,
}
_MEMBERSHIP = (ComparisonOperator.IN, ComparisonOperator.NOT_IN)
_EQUALITY = (ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL)


def _same_dtype(table: ListValue, values: NDArray[Any]) -> bool:
    return table.array is not None and table.array.dtype == values.dtype


def _compare(operator: ComparisonOperator, left: Vector, right: Vector, active: Bools | None) -> Bools:
    a, b = left.values, right.values
    alone: Any = b[()] if b.ndim == 0 else None
    numbers = a.dtype == np.int64 and b.dtype == np.int64
    if operator in _COMPARE and (numbers or (a.dtype == b.dtype == np.bool_ and operator in _EQUALITY)):
        return np.asarray(_COMPARE[operator](a, b))
    if operator in _COMPARE and a.dtype == np.int64 and alone is ANY:
        return np.full(a.shape, scalar.compare(operator, 0, ANY))
    table = alone
    if operator in _MEMBERSHIP and isinstance(table, ListValue) and _same_dtype(table, a):
        effort.spend(effort.AN_ENTRY * len(table))
        return np.isin(a, np.asarray(table.array), invert=operator is ComparisonOperator.NOT_IN)
    if operator in _MEMBERSHIP and a.dtype == np.int64 and b.dtype == object:
        member = member_of_each(left, right, active, operator is ComparisonOperator.NOT_IN)
        if member is not None:
            return member
    result = by_value(lambda x, y: scalar.compare(operator, x, y), [left, right], active)
    return result.values.astype(np.bool_) if result.values.size else np.zeros(result.values.shape, np.bool_)


def enclosed(enclosing: ir.Enclosing, queries: Tokens, keys: Tokens) -> Bools:
    """Whether query and key lie in common instances as far as both have them."""
    result = np.ones((), np.bool_)
    for name in enclosing.names:
        a = queries.axis.enclosing(enclosing.query_region, name)[queries.slots]
        b = keys.axis.enclosing(enclosing.key_region, name)[keys.slots]
        result = result & ((a < 0) | (b < 0) | (a == b))
    return result


def _all_of(node: ir.AllOf, scope: Scope, active: Bools | None) -> Vector:
    result: Bools = np.ones((), np.bool_)
    for part in node.parts:
        result = result & holds(part, scope, result if active is None else active & result)
        if not result.any():
            break
    return Vector(result, None)


def _any_of(node: ir.AnyOf, scope: Scope, active: Bools | None) -> Vector:
    result: Bools = np.zeros((), np.bool_)
    for part in node.parts:
        rest = ~result
        result = result | holds(part, scope, rest if active is None else active & rest)
        if result.all():
            break
    return Vector(result, None)


def _negation(node: ir.Negation, scope: Scope, active: Bools | None) -> Vector:
    return Vector(~holds(node.operand, scope, active), None)


def _conditional(node: ir.Conditional, scope: Scope, active: Bools | None) -> Vector:
    chosen = holds(node.condition, scope, active)
    if chosen.ndim == 0:
        return evaluate(node.value if chosen else node.otherwise, scope, active)
    value = evaluate(node.value, scope, both(active, chosen))
    otherwise = evaluate(node.otherwise, scope, both(active, ~chosen))
    return _choose(chosen, value, otherwise)


def _choose(chosen: Bools, value: Vector, otherwise: Vector) -> Vector:
    a, b = value.values, otherwise.values
    if a.dtype != b.dtype:
        if otherwise.present is not None and not otherwise.present.any():
            b = np.zeros((), a.dtype)
        elif value.present is not None and not value.present.any():
            a = np.zeros((), b.dtype)
        else:
            a, b = a.astype(object), b.astype(object)
    present: Bools | None = None
    if value.present is not None or otherwise.present is not None:
        yes = True if value.present is None else value.present
        no = True if otherwise.present is None else otherwise.present
        present = np.where(chosen, yes, no)
    return Vector(np.where(chosen, a, b), present)


_EVALUATORS: dict[type[ir.Expression], Callable[[Any, Scope, Bools | None], Vector]] = {
    ir.Constant: _constant,
    ir.Coordinate: _coordinate,
    ir.Cases: _cases,
    ir.RunningTotal: _running_total,
    ir.Arithmetic: _arithmetic,
    ir.Negative: _negative,
    ir.Lookup: _lookup,
    ir.Slice: _slice,
    ir.Listing: _listing,
    ir.Call: _call,
    ir.Comparison: _comparison,
    ir.AllOf: _all_of,
    ir.AnyOf: _any_of,
    ir.Negation: _negation,
    ir.Conditional: _conditional,
}
