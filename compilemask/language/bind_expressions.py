"""Expressions of the text become expressions of the program: names resolved, `let` inlined, constants folded."""

from __future__ import annotations

from compilemask.language import arithmetic, functions, syntax
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_names import attribute, inlined, named
from compilemask.language.bind_scope import CALLED_RELATIONS, Closure, Context, Mode, Scope, bracketed
from compilemask.language.findings import RejectError, reject, suggestion
from compilemask.language.printer_expressions import format_expression
from compilemask.language.program import Side
from compilemask.language.values import ANY, ListValue, Value
from compilemask.source import Span

_ARITHMETIC = {operator.value: operator for operator in ir.ArithmeticOperator}
_COMPARISON = {operator.value: operator for operator in ir.ComparisonOperator}
_FUNCTIONS = {function.value: function for function in ir.Function}


def expression(scope: Scope, node: syntax.Expression, context: Context) -> ir.Expression:
    """A number, condition, string or list, as far as possible folded to a constant."""
    scope.grow(node.span)
    scope.depth += 1
    if scope.depth > MOST_DEPTH:
        raise reject("expansion-too-deep", "the expression is nested too deeply", node.span)
    try:
        return _bind(scope, node, context)
    except EvaluationError as error:
        raise reject("evaluation", error.message, node.span, error.hint) from None
    finally:
        scope.depth -= 1


MOST_DEPTH = 150


def _bind(scope: Scope, node: syntax.Expression, context: Context) -> ir.Expression:
    match node:
        case syntax.Literal(span, value):
            return ir.Constant(span, arithmetic.checked(value) if type(value) is int else value)
        case syntax.AnyLiteral(span):
            return ir.Constant(span, ANY)
        case syntax.ListOf(span, items) | syntax.TupleOf(span, items):
            return _listing(span, tuple(expression(scope, item, context) for item in items))
        case syntax.Name() | syntax.Attribute() | syntax.Index() | syntax.Slice() | syntax.Call():
            return _named(scope, node, context)
        case _:
            return _operation(scope, node, context)


def _named(scope: Scope, node: syntax.Expression, context: Context) -> ir.Expression:
    match node:
        case syntax.Name():
            return named(scope, node, context)
        case syntax.Attribute():
            return attribute(scope, node, context)
        case syntax.Index(span, values, index):
            return _lookup(scope, span, values, index, context)
        case syntax.Slice():
            return _slice(scope, node, context)
        case syntax.Call():
            return _call(scope, node, context)
    raise AssertionError(node)


def _operation(scope: Scope, node: syntax.Expression, context: Context) -> ir.Expression:
    match node:
        case syntax.Unary(span, operator, operand):
            return _unary(scope, span, operator, operand, context)
        case syntax.Binary():
            return _binary(scope, node, context)
        case syntax.Compare():
            return _compare(scope, node, context)
        case syntax.Conditional():
            return _conditional(scope, node, context)
    raise _relation_here(node)


def _relation_here(node: syntax.Expression) -> RejectError:
    word = {syntax.Same: "same", syntax.By: "by", syntax.Within: "within"}.get(type(node), "this")
    return reject(
        "relation-here",
        f"a relation (`{word}`) cannot stand here, expected a number, a list or a condition",
        node.span,
        "relations stand behind the `:` of a rule; join them there with `and`, `or`, `not`",
    )


def _same_of_arithmetic(node: syntax.Binary, left: syntax.Same) -> RejectError:
    """`same pos // 2` reads as `(same pos) // 2`."""
    whole = syntax.Binary(node.span, node.operator, left.coordinate, node.right)
    hint = f"brackets: `same ({format_expression(whole)})`"
    return reject("relation-here", f"`same` ends before `{node.operator}`, and is no number", node.span, hint)


# ---------------------------------------------------------------- operators


def _folded(node: ir.Expression, value: Value) -> ir.Constant:
    return ir.Constant(node.span, value)


def _unary(scope: Scope, span: Span, operator: str, operand: syntax.Expression, context: Context) -> ir.Expression:
    bound = expression(scope, operand, context)
    if operator == "not":
        require_condition(bound, "what `not` negates")
        if isinstance(bound, ir.Constant):
            return ir.Constant(span, not bound.value)
        return ir.Negation(span, bound)
    if isinstance(bound, ir.Constant):
        return ir.Constant(span, arithmetic.checked(-arithmetic.number(bound.value, "what `-` negates")))
    require_number(bound, "what `-` negates")
    return ir.Negative(span, bound)


def require_condition(bound: ir.Expression, what: str) -> None:
    """Refuse what is certainly no condition."""
    kind = kind_of(bound)
    if kind not in (Kind.CONDITION, Kind.UNKNOWN):
        hint = "a number is no condition: compare it with `== 1`" if kind is Kind.NUMBER else None
        raise reject("not-a-condition", f"{what} is {kind.value}, expected a condition", bound.span, hint)


def require_number(bound: ir.Expression, what: str) -> None:
    """Refuse what is certainly no number."""
    kind = kind_of(bound)
    if kind not in (Kind.NUMBER, Kind.UNKNOWN):
        hint = "write `1 if condition else 0`" if kind is Kind.CONDITION else None
        raise reject("not-a-number", f"{what} is {kind.value}, expected a number", bound.span, hint)


def _binary(scope: Scope, node: syntax.Binary, context: Context) -> ir.Expression:
    if node.operator in ("and", "or", "except"):
        return _logical(scope, node, context)
    if isinstance(node.left, syntax.Same) and not bracketed(node.left.span):
        raise _same_of_arithmetic(node, node.left)
    left = expression(scope, node.left, context)
    right = expression(scope, node.right, context)
    operator = _ARITHMETIC[node.operator]
    if isinstance(left, ir.Constant) and isinstance(right, ir.Constant):
        return ir.Constant(node.span, arithmetic.arithmetic(operator, left.value, right.value))
    kinds = (kind_of(left), kind_of(right))
    if Kind.LIST not in kinds and Kind.ANY not in kinds and kinds != (Kind.NUMBER, Kind.NUMBER):
        require_number(left, f"the left side of `{node.operator}`")
        require_number(right, f"the right side of `{node.operator}`")
    return ir.Arithmetic(node.span, operator, left, right)


def _logical(scope: Scope, node: syntax.Binary, context: Context) -> ir.Expression:
    left = expression(scope, node.left, context)
    require_condition(left, f"the left side of `{node.operator}`")
    if isinstance(left, ir.Constant) and left.value is (node.operator == "or"):
        check_names(scope, node.right, context)
        return ir.Constant(node.span, left.value)
    right = expression(scope, node.right, context)
    require_condition(right, f"the right side of `{node.operator}`")
    if node.operator == "except":
        right = (
            ir.Constant(node.span, not right.value) if isinstance(right, ir.Constant) else ir.Negation(node.span, right)
        )
    if isinstance(left, ir.Constant):
        return right
    if isinstance(right, ir.Constant) and right.value is (node.operator != "or"):
        return left
    kind = ir.AnyOf if node.operator == "or" else ir.AllOf
    parts = (
        *(left.parts if isinstance(left, kind) else (left,)),
        *(right.parts if isinstance(right, kind) else (right,)),
    )
    return kind(node.span, parts)


def check_names(scope: Scope, node: syntax.Expression, context: Context) -> None:
    """Report unknown names in a part that is never evaluated; nothing else about it."""
    with scope.names_only():
        expression(scope, node, context)


def _conditional(scope: Scope, node: syntax.Conditional, context: Context) -> ir.Expression:
    condition = expression(scope, node.condition, context)
    require_condition(condition, "what stands behind `if`")
    if isinstance(condition, ir.Constant):
        chosen, other = (node.value, node.otherwise) if condition.value else (node.otherwise, node.value)
        check_names(scope, other, context)
        return expression(scope, chosen, context)
    return ir.Conditional(
        node.span, condition, expression(scope, node.value, context), expression(scope, node.otherwise, context)
    )


def _compare(scope: Scope, node: syntax.Compare, context: Context) -> ir.Expression:
    operands = [expression(scope, operand, context) for operand in node.operands]
    parts = [
        comparison(scope, _COMPARISON[operator], left, right, node.span)
        for operator, left, right in zip(node.operators, operands, operands[1:], strict=False)
    ]
    left_over = [part for part in parts if not isinstance(part, ir.Constant)]
    if any(isinstance(part, ir.Constant) and part.value is False for part in parts):
        return ir.Constant(node.span, False)
    if not left_over:
        return ir.Constant(node.span, True)
    return left_over[0] if len(left_over) == 1 else ir.AllOf(node.span, tuple(left_over))


def comparison(
    scope: Scope, operator: ir.ComparisonOperator, left: ir.Expression, right: ir.Expression, span: Span
) -> ir.Expression:
    """One comparison, folded where both sides are constants."""
    if isinstance(left, ir.Constant) and isinstance(right, ir.Constant):
        return ir.Constant(span, arithmetic.compare(operator, left.value, right.value))
    kinds = kind_of(left), kind_of(right)
    if operator in (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN):
        if kinds[1] not in (Kind.LIST, Kind.UNKNOWN):
            raise reject(
                "not-a-list", f"the right side of `{operator.value}` is {kinds[1].value}, expected a list", right.span
            )
    elif Kind.UNKNOWN not in kinds and len({Kind.NUMBER if kind is Kind.ANY else kind for kind in kinds}) > 1:
        hint = "write `1 if condition else 0`, or compare the number with `== 1`" if Kind.CONDITION in kinds else None
        raise reject("kinds-differ", f"{kinds[0].value} is compared with {kinds[1].value}", span, hint)
    return ir.Comparison(span, operator, left, right, enclosing_of(scope, left, right))


def enclosing_of(scope: Scope, left: ir.Expression, right: ir.Expression) -> ir.Enclosing | None:
    """Which parents two plain region numbers, one of the query and one of the key, must have in common."""
    by_side: dict[Side, str] = {}
    for part in (left, right):
        if isinstance(part, ir.Coordinate) and part.kind is CoordinateKind.NUMBER and part.region is not None:
            by_side[part.side] = part.region
    if Side.QUERY not in by_side or Side.KEY not in by_side:
        return None
    return enclosing(scope, by_side[Side.QUERY], by_side[Side.KEY])


def enclosing(scope: Scope, query_region: str, key_region: str) -> ir.Enclosing | None:
    """The common parents of two regions, None where there are none."""
    common = scope.axis_names["queries"].around(query_region) & scope.axis_names["keys"].around(key_region)
    return ir.Enclosing(query_region, key_region, tuple(sorted(common))) if common else None


# ---------------------------------------------------------------- lists and calls


def _listing(span: Span, parts: tuple[ir.Expression, ...]) -> ir.Expression:
    constants = [part.value for part in parts if isinstance(part, ir.Constant)]
    if len(constants) == len(parts):
        arithmetic.makes(sum(value.total for value in constants if isinstance(value, ListValue)))
        return ir.Constant(span, ListValue(constants))
    return ir.Listing(span, parts)


def _lookup(
    scope: Scope, span: Span, values: syntax.Expression, index: syntax.Expression, context: Context
) -> ir.Expression:
    entries, place = expression(scope, values, context), expression(scope, index, context)
    require_number(place, "the index")
    kind = kind_of(entries)
    if kind not in (Kind.LIST, Kind.UNKNOWN):
        raise reject("not-a-list", f"what is indexed is {kind.value}, expected a list", values.span)
    if isinstance(entries, ir.Constant) and isinstance(place, ir.Constant):
        return ir.Constant(span, arithmetic.lookup(entries.value, place.value, from_end=True))
    return ir.Lookup(span, entries, place)


def _slice(scope: Scope, node: syntax.Slice, context: Context) -> ir.Expression:
    entries = expression(scope, node.value, context)
    ends = [None if end is None else expression(scope, end, context) for end in (node.start, node.stop)]
    if isinstance(entries, ir.Constant) and all(end is None or isinstance(end, ir.Constant) for end in ends):
        start, stop = (end.value if isinstance(end, ir.Constant) else None for end in ends)
        return ir.Constant(node.span, arithmetic.slice_of(entries.value, start, stop, from_end=True))
    return ir.Slice(node.span, entries, ends[0], ends[1])


def _call(scope: Scope, node: syntax.Call, context: Context) -> ir.Expression:
    if node.name in scope.broken:
        raise RejectError(None)
    if node.name in scope.lets:
        return inlined(scope, scope.lets[node.name], closures(node, context), node.span, context)
    if node.name in CALLED_RELATIONS:
        raise reject("relation-here", f"the relation `{node.name}(...)` cannot stand here", node.span)
    if node.name not in _FUNCTIONS:
        known = {*_FUNCTIONS, *(name for name, let in scope.lets.items() if let.formals)}
        hint = suggestion(node.name, known) or f"functions: {', '.join(_FUNCTIONS)}"
        raise reject(
            "unknown-function", f"`{node.name}` is no function, relation or `let` with arguments", node.span, hint
        )
    for argument in node.arguments:
        if argument.name is not None:
            raise reject("named-argument", f"`{node.name}` has no argument called `{argument.name}`", argument.span)
    return _function(node, tuple(expression(scope, argument.value, context) for argument in node.arguments), context)


def closures(node: syntax.Call, context: Context) -> tuple[Closure, ...]:
    """The arguments of a `let`, to be read where the `let` uses them."""
    for argument in node.arguments:
        if argument.name is not None:
            raise reject("named-argument", "arguments of a `let` are given in order, without names", argument.span)
    return tuple(Closure(argument.value, context.arguments) for argument in node.arguments)


def _function(node: syntax.Call, arguments: tuple[ir.Expression, ...], context: Context) -> ir.Expression:
    function = _FUNCTIONS[node.name]
    constants = [argument.value for argument in arguments if isinstance(argument, ir.Constant)]
    if len(constants) == len(arguments):
        return ir.Constant(node.span, functions.call(function, constants))
    least, most = functions.ARGUMENT_COUNTS[function]
    if not least <= len(arguments) <= most:
        functions.call(function, [0] * len(arguments))
    if function is ir.Function.CUMSUM and kind_of(arguments[0]) in (Kind.NUMBER, Kind.CONDITION):
        return _running(node, arguments[0], context)
    return ir.Call(node.span, function, arguments)


def _running(node: syntax.Call, operand: ir.Expression, context: Context) -> ir.Expression:
    if context.mode is not Mode.TOKEN:
        raise reject(
            "cumsum-here",
            "`cumsum` of a coordinate needs a `let` of its own",
            node.span,
            "`let total = cumsum(...)`, then `q.total` or `by total`",
        )
    return ir.RunningTotal(node.span, context.side, ir.on_side(operand, Side.THIS))
