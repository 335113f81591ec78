"""What a selector holds and what an expression gives, for one token or for one query and key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compilemask.language import arithmetic, functions
from compilemask.language import program as ir
from compilemask.language.arithmetic import AbsentValueError, EvaluationError
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.program import Side
from compilemask.language.values import ANY, ListValue, Value


@dataclass(frozen=True, slots=True)
class Token:
    """One token of one axis."""

    axis: Axis
    slot: int

    def coordinate(self, kind: CoordinateKind, region: str | None) -> int | None:
        """A coordinate of the token, None where it has none."""
        if region is not None and region != "everything" and region not in self.axis.runs.regions:
            return None
        return self.axis.value(kind, region, self.slot)


@dataclass(frozen=True, slots=True)
class Cell:
    """One query and one key."""

    queries: Axis
    keys: Axis
    q: int
    k: int

    def token(self, side: Side) -> Token:
        """The query or the key."""
        return Token(self.queries, self.q) if side is Side.QUERY else Token(self.keys, self.k)


Place = Token | Cell


def _token(place: Place, side: Side) -> Token:
    return place if isinstance(place, Token) else place.token(side)


def selects(selector: ir.Selector, token: Token) -> bool:
    """Whether a selector holds a token."""
    if token.axis.padding[token.slot]:
        return False
    match selector:
        case ir.AllTokens():
            return True
        case ir.RegionTokens(_, path):
            return _in_path(token, path)
        case ir.NumberedTokens(_, path, index):
            return _in_path(token, path) and _number(token, path[-1]) == evaluate(index, token)
        case ir.RangeTokens(_, path, start, stop):
            return _in_path(token, path) and _in_range(token, path[-1], start, stop)
        case ir.EndTokens():
            return selects(selector.of, token) and _at_end(selector, token)
        case ir.WhereTokens(_, of, condition):
            return selects(of, token) and true(condition, token)
        case ir.UnionTokens(_, parts):
            return any(selects(part, token) for part in parts)
    raise AssertionError(selector)


def _in_path(token: Token, path: tuple[str, ...]) -> bool:
    names = [name for name, _, _ in token.axis.path_of(token.slot)]
    rest = iter(names)
    return all(name in rest for name in path)


def _number(token: Token, region: str) -> int | None:
    return token.coordinate(CoordinateKind.NUMBER, region)


def _in_range(token: Token, region: str, start: ir.Expression | None, stop: ir.Expression | None) -> bool:
    number = _number(token, region)
    first = 0 if start is None else evaluate(start, token)
    last = ANY if stop is None else evaluate(stop, token)
    if number is None or first is None or last is None:
        return False
    return arithmetic.less(number, last) and not arithmetic.less(number, first)


def _at_end(selector: ir.EndTokens, token: Token) -> bool:
    count = evaluate(selector.count, token)
    at, size = (token.coordinate(kind, selector.region) for kind in (CoordinateKind.AT, CoordinateKind.SIZE))
    if count is None or at is None or size is None:
        return False
    wanted = arithmetic.number(count, f"the count of `{selector.end.value}`")
    if wanted < 0:
        raise EvaluationError(f"`{selector.end.value} {wanted}`: the count is negative", slot=token.slot)
    return at < wanted if selector.end is ir.End.FIRST else at >= size - wanted


def true(condition: ir.Expression, place: Place) -> bool:
    """Whether a condition holds; absent is false."""
    value = evaluate(condition, place)
    return False if value is None else arithmetic.condition(value, "this")


def evaluate(expression: ir.Expression, place: Place) -> Value | None:
    """The value of an expression for one token, or for a query and a key; None: absent."""
    try:
        return _evaluate(expression, place)
    except AbsentValueError:
        return None


def _evaluate(expression: ir.Expression, place: Place) -> Value | None:
    match expression:
        case ir.Constant(_, value):
            return value
        case ir.Coordinate(_, side, kind, region):
            return _token(place, side).coordinate(kind, region)
        case ir.Cases(_, side, cases):
            token = _token(place, side)
            held = [case for case in cases if selects(case.selector, token)]
            return evaluate(held[-1].value, place) if held else None
        case ir.RunningTotal(_, side, operand):
            return _running_total(operand, _token(place, side))
        case ir.Conditional(_, condition, yes, no):
            return evaluate(yes if true(condition, place) else no, place)
        case ir.AllOf(_, parts):
            return all(true(part, place) for part in parts)
        case ir.AnyOf(_, parts):
            return any(true(part, place) for part in parts)
        case ir.Negation(_, operand):
            return not true(operand, place)
        case ir.Comparison():
            return _compare(expression, place)
    return _apply(expression, place)


def _apply(expression: ir.Expression, place: Place) -> Value | None:
    """Expressions that are absent as soon as a part of them is."""
    values: list[Value] = []
    for part in _operands(expression):
        value = evaluate(part, place)
        if value is None:
            return None
        values.append(value)
    match expression:
        case ir.Arithmetic(_, operator, _, _):
            return arithmetic.arithmetic(operator, values[0], values[1])
        case ir.Negative():
            return arithmetic.checked(-arithmetic.number(values[0], "what `-` negates"))
        case ir.Lookup():
            return arithmetic.lookup(values[0], values[1], from_end=False)
        case ir.Slice(_, _, start, stop):
            ends = iter(values[1:])
            first = None if start is None else next(ends)
            last = None if stop is None else next(ends)
            return arithmetic.slice_of(values[0], first, last, from_end=False)
        case ir.Call(_, function, _):
            return functions.call(function, values)
    return ListValue(values)


def _operands(expression: ir.Expression) -> tuple[ir.Expression, ...]:
    match expression:
        case ir.Arithmetic(_, _, left, right):
            return left, right
        case ir.Negative(_, operand):
            return (operand,)
        case ir.Lookup(_, values, index):
            return values, index
        case ir.Slice(_, values, start, stop):
            return tuple(part for part in (values, start, stop) if part is not None)
        case ir.Call(_, _, arguments):
            return arguments
        case ir.Listing(_, parts):
            return parts
    raise AssertionError(expression)


def _compare(comparison: ir.Comparison, place: Place) -> bool:
    left, right = evaluate(comparison.left, place), evaluate(comparison.right, place)
    if left is None or right is None:
        return False
    if comparison.enclosing is not None and isinstance(place, Cell) and not common_parents(comparison.enclosing, place):
        return False
    return arithmetic.compare(comparison.operator, left, right)


def common_parents(enclosing: ir.Enclosing, cell: Cell) -> bool:
    for name in enclosing.names:
        a = int(cell.queries.enclosing(enclosing.query_region, name)[cell.q])
        b = int(cell.keys.enclosing(enclosing.key_region, name)[cell.k])
        if a >= 0 and b >= 0 and a != b:
            return False
    return True


def _running_total(operand: ir.Expression, token: Token) -> Value | None:
    if evaluate(operand, token) is None:
        return None
    axis, slots = token.axis.uncut(np.array([token.slot], dtype=np.int64))
    own = int(slots[0])
    place = own if axis.written is None else int(axis.written[own])
    total = 0
    for slot in range(axis.length):
        if (slot if axis.written is None else int(axis.written[slot])) <= place and not axis.padding[slot]:
            value = evaluate(operand, Token(axis, slot))
            total += int(value) if isinstance(value, int) else 0
    return total
