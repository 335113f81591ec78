"""Conditions taken apart: comparisons become comparisons of one query coordinate with one key coordinate.

A comparison whose sides are sums of query terms and key terms is one range. `abs`, `min`, `max`, `%` and `//` by a
constant are rewritten into such sums; every rewriting keeps absent values false.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache

from compilemask.intervals.terms import (
    ALWAYS,
    NEVER,
    Compare,
    Coord,
    Enclosed,
    Expressed,
    Filter,
    Opaque,
    Order,
    Present,
    Term,
    WindowEnd,
    conjunction,
    disjunction,
    negation,
)
from compilemask.language import arithmetic as scalar
from compilemask.language import program as ir
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.program import ArithmeticOperator, Function, Side
from compilemask.language.program import ComparisonOperator as Op
from compilemask.language.values import ANY, ListValue, Value

FLIP = {Op.LESS: Op.GREATER, Op.LESS_EQUAL: Op.GREATER_EQUAL, Op.GREATER: Op.LESS, Op.GREATER_EQUAL: Op.LESS_EQUAL}
UNION_OF_POINTS = 64


def condition_term(expression: ir.Expression) -> Term:
    """The term of a condition over the coordinates of the query and of the key."""
    sides = sides_of(expression)
    if not (Side.QUERY in sides and Side.KEY in sides) and not isinstance(expression, ir.Constant):
        if not sides:
            return Filter(True, expression)
        return Filter(Side.QUERY in sides, to_this(expression))
    match expression:
        case ir.Constant(value=bool(value)):
            return ALWAYS if value else NEVER
        case ir.AllOf(parts=parts):
            return conjunction(*(condition_term(part) for part in parts))
        case ir.AnyOf(parts=parts):
            return disjunction(*(condition_term(part) for part in parts))
        case ir.Negation(operand=operand):
            return negation(condition_term(operand))
        case ir.Comparison():
            return _comparison(expression)
    return Opaque(expression)


@lru_cache(maxsize=4096)
def _sides(expression: ir.Expression) -> frozenset[Side]:
    match expression:
        case ir.Coordinate(side=side) | ir.Cases(side=side) | ir.RunningTotal(side=side):
            return frozenset((side,))
    found: frozenset[Side] = frozenset()
    for field in dataclasses.fields(expression):
        value = getattr(expression, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ir.Expression):
                found |= sides_of(part)
    return found


def sides_of(expression: ir.Expression) -> frozenset[Side]:
    """Whose coordinates the expression uses."""
    return frozenset() if isinstance(expression, ir.Constant) else _sides(expression)


def to_this(expression: ir.Expression) -> ir.Expression:
    """The same expression about the one token at hand."""
    changed: dict[str, object] = {}
    for field in dataclasses.fields(expression):
        value = getattr(expression, field.name)
        if isinstance(value, Side):
            changed[field.name] = Side.THIS
        elif isinstance(value, ir.Expression):
            changed[field.name] = to_this(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], ir.Expression):
            changed[field.name] = tuple(to_this(part) for part in value)
    return dataclasses.replace(expression, **changed) if changed else expression  # type: ignore[arg-type]


def _comparison(node: ir.Comparison) -> Term:
    if node.enclosing is not None:
        plain = dataclasses.replace(node, enclosing=None)
        return conjunction(condition_term(plain), Enclosed(node.enclosing))
    left, right, operator = node.left, node.right, node.operator
    if operator not in (Op.IN, Op.NOT_IN):
        left, right = _spread(left, right), _spread(right, left)
    if isinstance(left, ir.Listing) and isinstance(right, ir.Listing) and len(left.parts) == len(right.parts):
        return _listings(node, left, right)
    if operator is Op.NOT_EQUAL:
        same = condition_term(dataclasses.replace(node, operator=Op.EQUAL))
        return conjunction(*_presence(left), *_presence(right), negation(same))
    if operator in (Op.IN, Op.NOT_IN):
        return _membership(node)
    for side, other, how in ((left, right, operator), (right, left, FLIP.get(operator, operator))):
        if isinstance(other, ir.Constant) and other.value is ANY:
            always = scalar.compare(how, 0, ANY)
            return conjunction(*_presence(side)) if always else NEVER
        rewritten = _rewrite(node, side, how, other) or _unbounded(node, side, how, other)
        if rewritten is not None:
            return rewritten
    return Opaque(node) if _may_be_any(node) else _linear(node)


def _unbounded(node: ir.Comparison, side: ir.Expression, operator: Op, other: ir.Expression) -> Term | None:
    """A one-sided bound that is `any` for some tokens: those apart, the others as a sum."""
    if len(sides_of(other)) != 1 or not _may_be_any(other) or _may_be_any(side):
        return None
    unbounded = ir.Constant(None, ANY)
    apart = [condition_term(ir.Comparison(node.span, how, other, unbounded)) for how in (Op.EQUAL, Op.NOT_EQUAL)]
    return disjunction(
        conjunction(apart[0], condition_term(ir.Comparison(node.span, operator, side, unbounded))),
        conjunction(apart[1], _linear(node)),
    )


@lru_cache(maxsize=4096)
def _may_be_any(expression: ir.Expression) -> bool:
    """Whether `any` stands in the expression, or in a list of it."""
    if isinstance(expression, ir.Constant):
        return _holds_any(expression.value)
    parts: list[object] = []
    for field in dataclasses.fields(expression):
        value = getattr(expression, field.name)
        parts += value if isinstance(value, tuple) else (value,)
    inner = [part.value if isinstance(part, ir.Case) else part for part in parts]
    return any(isinstance(part, ir.Expression) and _may_be_any(part) for part in inner)


def _holds_any(value: Value) -> bool:
    if isinstance(value, ListValue):
        return value.array is None and any(_holds_any(entry) for entry in value)
    return value is ANY


def _spread(expression: ir.Expression, other: ir.Expression) -> ir.Expression:
    """A constant list that is compared with `(a, b)` taken apart like it."""
    if isinstance(other, ir.Listing) and isinstance(expression, ir.Constant) and type(expression.value) is ListValue:
        parts = tuple(ir.Constant(expression.span, value) for value in expression.value.items)
        return ir.Listing(expression.span, parts) if len(parts) == len(other.parts) else expression
    return expression


def _presence(expression: ir.Expression) -> list[Term]:
    """Terms that hold where the expression has a value."""
    sides = sides_of(expression)
    if not sides:
        return []
    if len(sides) == 1:
        return [Present(Side.QUERY in sides, to_this(expression))]
    match expression:
        case ir.Arithmetic(left=left, right=right):
            return _presence(left) + _presence(right)
        case ir.Negative(operand=operand):
            return _presence(operand)
        case ir.Call(arguments=arguments) | ir.Listing(parts=arguments):
            return [term for argument in arguments for term in _presence(argument)]
    return [Opaque(ir.Comparison(expression.span, Op.EQUAL, expression, expression))]


def _listings(node: ir.Comparison, left: ir.Listing, right: ir.Listing) -> Term:
    pairs = list(zip(left.parts, right.parts, strict=True))

    def each(operator: Op) -> list[Term]:
        return [condition_term(ir.Comparison(node.span, operator, a, b)) for a, b in pairs]

    match node.operator:
        case Op.EQUAL:
            return conjunction(*each(Op.EQUAL))
        case Op.NOT_EQUAL:
            present = [term for a, b in pairs for term in _presence(a) + _presence(b)]
            return conjunction(*present, negation(conjunction(*each(Op.EQUAL))))
        case Op.IN | Op.NOT_IN:
            return Opaque(node)
    strict = Op.LESS if node.operator in (Op.LESS, Op.LESS_EQUAL) else Op.GREATER
    present = [term for a, b in pairs for term in _presence(a) + _presence(b)]
    equal, last = each(Op.EQUAL), each(node.operator)[-1]
    before = each(strict)
    options = [conjunction(*equal[:i], before[i]) for i in range(len(pairs) - 1)]
    return conjunction(*present, disjunction(*options, conjunction(*equal[:-1], last)))


def _membership(node: ir.Comparison) -> Term:
    if node.operator is Op.NOT_IN:
        inside = condition_term(dataclasses.replace(node, operator=Op.IN))
        return conjunction(*_presence(node.left), *_presence(node.right), negation(inside))
    values = node.right.value if isinstance(node.right, ir.Constant) else None
    if isinstance(values, ListValue) and len(values) <= UNION_OF_POINTS:
        points = [ir.Comparison(node.span, Op.EQUAL, node.left, ir.Constant(node.span, value)) for value in values]
        return disjunction(*(condition_term(point) for point in points))
    return Opaque(node)


def _number(value: int) -> ir.Constant:
    return ir.Constant(None, value)


def _rewrite(node: ir.Comparison, side: ir.Expression, operator: Op, other: ir.Expression) -> Term | None:
    """`side operator other` where side mixes query and key inside of abs, min, max, % or //."""
    if len(sides_of(side)) < 2 or len(sides_of(other)) > 1:
        return None

    def compare(left: ir.Expression, how: Op, right: ir.Expression) -> Term:
        return condition_term(ir.Comparison(node.span, how, left, right))

    match side:
        case ir.Call(function=Function.ABS, arguments=(inner,)):
            minus = ir.Negative(inner.span, inner)
            if operator is Op.EQUAL:
                either = disjunction(compare(inner, Op.EQUAL, other), compare(minus, Op.EQUAL, other))
                return conjunction(compare(other, Op.GREATER_EQUAL, _number(0)), either)
            join = conjunction if operator in (Op.LESS, Op.LESS_EQUAL) else disjunction
            return join(compare(inner, operator, other), compare(minus, operator, other))
        case ir.Call(function=(Function.MIN | Function.MAX) as function, arguments=arguments) if len(arguments) > 1:
            if operator is Op.EQUAL:
                bounds = (compare(side, Op.LESS_EQUAL, other), compare(side, Op.GREATER_EQUAL, other))
                return conjunction(*bounds)
            every = (operator in (Op.LESS, Op.LESS_EQUAL)) == (function is Function.MAX)
            parts = [compare(argument, operator, other) for argument in arguments]
            present = [term for argument in arguments for term in _presence(argument)]
            return conjunction(*parts) if every else conjunction(*present, disjunction(*parts))
        case ir.Arithmetic(operator=ArithmeticOperator.FLOOR_DIVIDE, left=inner, right=ir.Constant(value=int(by))):
            if by > 0:
                return _divided(node, inner, by, operator, other)
        case ir.Arithmetic(operator=ArithmeticOperator.MODULO, left=inner, right=ir.Constant(value=int(by))):
            if by > 0:
                return _residue(node, inner, by, operator, other)
    return None


def _divided(node: ir.Comparison, inner: ir.Expression, by: int, operator: Op, other: ir.Expression) -> Term:
    first = ir.Arithmetic(node.span, ArithmeticOperator.MULTIPLY, _number(by), other)
    last = ir.Arithmetic(node.span, ArithmeticOperator.ADD, first, _number(by - 1))
    match operator:
        case Op.EQUAL:
            bounds: list[tuple[Op, ir.Expression]] = [(Op.GREATER_EQUAL, first), (Op.LESS_EQUAL, last)]
        case Op.LESS_EQUAL | Op.GREATER:
            bounds = [(operator, last)]
        case _:
            bounds = [(operator, first)]
    return conjunction(*(condition_term(ir.Comparison(node.span, how, inner, bound)) for how, bound in bounds))


def _residue(node: ir.Comparison, inner: ir.Expression, by: int, operator: Op, other: ir.Expression) -> Term | None:
    """(query sum + key sum) % by: each sum by its own residue; they wrap around at most once."""
    split = _split(inner)
    if split is None:
        return None
    query, key, constant = split
    span = node.span
    modulus = _number(by)
    ours = ir.Arithmetic(
        span, ArithmeticOperator.MODULO, ir.Arithmetic(span, ArithmeticOperator.ADD, query, _number(constant)), modulus
    )
    theirs = ir.Arithmetic(span, ArithmeticOperator.MODULO, key, modulus)
    total = ir.Arithmetic(span, ArithmeticOperator.ADD, ours, theirs)
    if operator is Op.EQUAL and Side.KEY not in sides_of(other):
        wanted = ir.Arithmetic(span, ArithmeticOperator.SUBTRACT, other, ours)
        residue = ir.Arithmetic(span, ArithmeticOperator.MODULO, wanted, modulus)
        return conjunction(
            condition_term(ir.Comparison(span, Op.GREATER_EQUAL, other, _number(0))),
            condition_term(ir.Comparison(span, Op.LESS, other, modulus)),
            condition_term(ir.Comparison(span, Op.EQUAL, theirs, residue)),
        )
    wrapped = ir.Arithmetic(span, ArithmeticOperator.SUBTRACT, total, modulus)
    return disjunction(
        conjunction(
            condition_term(ir.Comparison(span, Op.LESS, total, modulus)),
            condition_term(ir.Comparison(span, operator, total, other)),
        ),
        conjunction(
            condition_term(ir.Comparison(span, Op.GREATER_EQUAL, total, modulus)),
            condition_term(ir.Comparison(span, operator, wrapped, other)),
        ),
    )


# ---------------------------------------------------------------- sums

_Terms = list[tuple[int, ir.Expression]]


def _terms(expression: ir.Expression, factor: int) -> _Terms | None:
    """The expression as a sum of factor * term with one-sided terms; None if it is no such sum."""
    match expression:
        case ir.Constant(value=value) if type(value) is int:
            return [(factor * value, _number(1))]
        case ir.Negative(operand=operand):
            return _terms(operand, -factor)
        case ir.Arithmetic(operator=ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT as operator):
            sign = 1 if operator is ArithmeticOperator.ADD else -1
            left, right = _terms(expression.left, factor), _terms(expression.right, sign * factor)
            return None if left is None or right is None else left + right
        case ir.Arithmetic(operator=ArithmeticOperator.MULTIPLY, left=left_side, right=right_side):
            for number, other in ((left_side, right_side), (right_side, left_side)):
                if isinstance(number, ir.Constant) and type(number.value) is int:
                    return _terms(other, factor * number.value)
    return [(factor, expression)] if len(sides_of(expression)) < 2 else None


def _sum(terms: _Terms) -> ir.Expression:
    total: ir.Expression | None = None
    for factor, term in terms:
        scaled = term if factor == 1 else ir.Arithmetic(None, ArithmeticOperator.MULTIPLY, _number(factor), term)
        total = scaled if total is None else ir.Arithmetic(None, ArithmeticOperator.ADD, total, scaled)
    return _number(0) if total is None else total


def _split(expression: ir.Expression) -> tuple[ir.Expression, ir.Expression, int] | None:
    """Query sum, key sum and constant of a sum."""
    terms = _terms(expression, 1)
    if terms is None:
        return None
    query = [(f, t) for f, t in terms if Side.QUERY in sides_of(t)]
    key = [(f, t) for f, t in terms if Side.KEY in sides_of(t)]
    constant = [(f, t) for f, t in terms if not sides_of(t)]
    if any(not isinstance(t, ir.Constant) for _, t in constant):
        return None
    return _sum(query), _sum(key), sum(f for f, _ in constant)


def _linear(node: ir.Comparison) -> Term:
    """key sum `operator` query sum + constant."""
    if len(sides_of(node.left)) == 1 and len(sides_of(node.right)) == 1 and node.operator is Op.EQUAL:
        query, key = (node.left, node.right) if Side.QUERY in sides_of(node.left) else (node.right, node.left)
        if not _is_sum(query) and not _is_sum(key):
            return Compare(Expressed((to_this(query),)), Expressed((to_this(key),)), 0, Order.EQUAL)
    left, right = _terms(node.left, 1), _terms(node.right, -1)
    if left is None or right is None:
        return Opaque(node)
    terms = left + right
    keys = [(f, t) for f, t in terms if Side.KEY in sides_of(t)]
    queries = [(-f, t) for f, t in terms if Side.QUERY in sides_of(t)]
    rest = [(f, t) for f, t in terms if not sides_of(t)]
    if any(not isinstance(t, ir.Constant) for _, t in rest):
        return Opaque(node)
    shift, operator = -sum(f for f, _ in rest), node.operator
    if keys[0][0] < 0:
        keys, queries = [(-f, t) for f, t in keys], [(-f, t) for f, t in queries]
        shift, operator = -shift, FLIP.get(operator, operator)
    match operator:
        case Op.EQUAL:
            order = Order.EQUAL
        case Op.LESS_EQUAL | Op.LESS:
            order, shift = Order.AT_MOST, shift - (operator is Op.LESS)
        case _:
            order, shift = Order.AT_LEAST, shift + (operator is Op.GREATER)
    added = [t for f, t in left if f == 1] + [t for f, t in right if f == -1]
    return Compare(_side(queries, added), _side(keys, added), shift, order)


def _side(terms: _Terms, added: list[ir.Expression]) -> Coord:
    """The sum of one side; a term that may be `any`, which can be added and never subtracted, is a bound."""
    loose = [(f, t) for f, t in terms if abs(f) == 1 and t in added and kind_of(t) in (Kind.UNKNOWN, Kind.ANY)]
    if len(loose) != 1:
        return Expressed((to_this(_sum(terms)),))
    rest = [(f, t) for f, t in terms if t is not loose[0][1]]
    return WindowEnd(to_this(_sum(rest)), to_this(loose[0][1]), loose[0][0], checked=False)


def _is_sum(expression: ir.Expression) -> bool:
    return isinstance(expression, (ir.Arithmetic, ir.Negative, ir.Constant))
