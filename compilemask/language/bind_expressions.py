"""Expressions of the text become expressions of the program: names resolved, `let` inlined, constants folded."""

from __future__ import annotations

from dataclasses import replace

from compilemask.language import arithmetic, functions, syntax
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import EVERYTHING, CoordinateKind
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_scope import (
    ATTRIBUTES,
    CALLED_RELATIONS,
    COORDINATES,
    RELATIONS,
    Closure,
    Context,
    Mode,
    RejectError,
    Scope,
    reject,
    suggestion,
)
from compilemask.language.program import Side
from compilemask.language.values import ANY, ListValue, Value
from compilemask.source import Span

_SIDES = {"q": (Side.QUERY, ("queries",)), "k": (Side.KEY, ("keys",))}
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
            return _name(scope, node, context)
        case syntax.Attribute():
            return _attribute(scope, node, context)
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


# ---------------------------------------------------------------- names


def _name(scope: Scope, node: syntax.Name, context: Context) -> ir.Expression:
    name, span = node.name, node.span
    if name in context.arguments:
        return _argument(scope, context.arguments[name], context)
    if name in scope.broken:
        raise RejectError(None)
    if name in scope.parameters:
        _check_ambiguous(scope, name, span, context)
        return ir.Constant(span, scope.parameter(name, span))
    if name in ("head", "batch"):
        return ir.Constant(span, scope.sample(name, span))
    if name in context.regions:
        return ir.Coordinate(span, Side.THIS, CoordinateKind.NUMBER, name)
    return coordinate(scope, name, span, context)


def coordinate(scope: Scope, name: str, span: Span, context: Context) -> ir.Expression:
    """What a bare name means where only coordinates, regions and `let`s count: after `same`, `by`, `q.` and `k.`."""
    if name in context.arguments:
        return _argument(scope, context.arguments[name], context, coordinates_first=True)
    if name in scope.broken:
        raise RejectError(None)
    if name in scope.lets:
        return _inline(scope, scope.lets[name], (), span, context)
    if name in COORDINATES:
        return _built_in(scope, name, span, context)
    if name in scope.regions():
        return _region_number(scope, name, span, context)
    raise _unknown(scope, name, span, context)


def _argument(scope: Scope, closure: Closure, context: Context, coordinates_first: bool = False) -> ir.Expression:
    inner = context.with_arguments(closure.arguments)
    if coordinates_first and isinstance(closure.expression, syntax.Name):
        return coordinate(scope, closure.expression.name, closure.expression.span, inner)
    return expression(scope, closure.expression, inner)


def _check_ambiguous(scope: Scope, name: str, span: Span, context: Context) -> None:
    counted = name in context.regions or (
        context.mode is not Mode.VALUE and context.mode is not Mode.LAYOUT and scope.many(name)
    )
    if counted:
        raise reject(
            "parameter-or-region",
            f"`{name}` is a parameter and a region with several instances",
            span,
            f"rename the parameter, or write `{name}.number` for the number of the instance",
        )


def _built_in(scope: Scope, name: str, span: Span, context: Context) -> ir.Expression:
    if context.mode is Mode.PAIR:
        raise _whose(name, span)
    if context.mode is not Mode.TOKEN:
        raise reject(
            "coordinate-here",
            f"`{name}` belongs to a token, and there is no token here",
            span,
            "sizes, parameters and `when` may use parameters only",
        )
    if name in context.without:
        raise reject("circular-coordinate", f"`{name}` cannot be used here: {context.without_reason}", span)
    if name in ("t", "y", "x") and not any(scope.axis_names[axis].grids for axis in context.axes):
        where = " and ".join(context.axes)
        raise reject("no-grid", f"no token of the {where} has `{name}`: no region is a grid", span)
    return ir.Coordinate(span, context.side, CoordinateKind(name))


def _whose(name: str, span: Span) -> RejectError:
    return reject(
        "whose-coordinate",
        f"whose `{name}`? A rule relates a query and a key",
        span,
        f"write `q.{name}` or `k.{name}`; to compare both, `same {name}` or `causal by {name}`",
    )


def _region_number(scope: Scope, name: str, span: Span, context: Context) -> ir.Expression:
    if context.mode is Mode.PAIR:
        raise _whose(name, span)
    if context.mode is Mode.LAYOUT:
        raise reject(
            "region-here",
            f"`{name}` is a region, and only the regions around this line have a number here",
            span,
            f"known here: {', '.join(context.regions) or 'none'}",
        )
    if context.mode is Mode.VALUE:
        raise reject("coordinate-here", f"`{name}` is a region's number, and there is no token here", span)
    check_region(scope, name, span, context.axes)
    return ir.Coordinate(span, context.side, CoordinateKind.NUMBER, name)


def check_region(scope: Scope, name: str, span: Span, axes: tuple[str, ...]) -> None:
    """Refuse a region that one of these axes lacks."""
    for axis in axes:
        if name not in scope.axis_names[axis].regions:
            others = [other for other in scope.axis_names if name in scope.axis_names[other].regions]
            where = f"; the {others[0]} have it" if others else ""
            known = ", ".join(sorted(scope.axis_names[axis].regions))
            hint = suggestion(name, scope.axis_names[axis].regions) or f"regions there: {known}"
            have = f"the {axis} have" if scope.two_axes else "the layout has"
            raise reject("unknown-region", f"{have} no region `{name}`{where}", span, hint)


def _unknown(scope: Scope, name: str, span: Span, context: Context) -> RejectError:
    if name in scope.parameters:
        return reject(
            "not-a-coordinate",
            f"`{name}` is a parameter: it is the same for every token",
            span,
            "coordinates, regions and `let`s differ from token to token",
        )
    if name in RELATIONS or name in CALLED_RELATIONS:
        return reject("relation-here", f"the relation `{name}` cannot stand here", span)
    if name == EVERYTHING:
        usage = "tokens are chosen before `sees`; here `everything.at` and `everything.size` count them"
        return reject("everything-here", "`everything` is no value", span, usage)
    if name in _SIDES:
        return reject("side-alone", f"`{name}` stands before a coordinate, as in `{name}.pos`", span)
    words = scope.known() if context.mode is not Mode.TOKEN else {*COORDINATES, *scope.lets, *scope.regions()}
    hint = suggestion(name, words) or suggestion(name, scope.known())
    return reject("unknown-name", f"`{name}` is not known", span, hint or _all_names(scope))


def _all_names(scope: Scope) -> str | None:
    names = [*scope.parameters, *scope.lets, *sorted(scope.regions())]
    return f"known: {', '.join(dict.fromkeys(names))}" if names else None


# ---------------------------------------------------------------- attributes


def _attribute(scope: Scope, node: syntax.Attribute, context: Context) -> ir.Expression:
    if isinstance(node.value, syntax.Name):
        name = node.value.name
        if name in _SIDES and name not in context.arguments:
            return coordinate(scope, node.name, node.span, sided(name, node.span, context))
        return _region_attribute(scope, name, node, context)
    if isinstance(node.value, syntax.Attribute) and isinstance(node.value.value, syntax.Name):
        side = node.value.value.name
        if side in _SIDES:
            inner = sided(side, node.span, context)
            return _region_attribute(scope, node.value.name, node, inner)
    raise reject("no-attribute", f"nothing here has `.{node.name}`", node.span, "as in `q.pos`, `document.size`")


def sided(name: str, span: Span, context: Context) -> Context:
    """The context of what stands behind `q.` or `k.`."""
    if context.mode is Mode.TOKEN:
        raise reject(
            "side-here",
            f"`{name}.` cannot be used here: this is about one token",
            span,
            "leave it out; `q.` and `k.` belong behind the `:` of a rule",
        )
    if context.mode is not Mode.PAIR:
        raise reject("side-here", f"`{name}.` cannot be used here: there is no token", span)
    side, axes = _SIDES[name]
    if side is Side.KEY and "k" in context.without:
        raise reject(
            "key-in-argument",
            "an argument of a relation may use the query's coordinates, never the key's",
            span,
            "write the condition with `q.` and `k.` as a comparison",
        )
    return context.on(side, axes)


def _region_attribute(scope: Scope, region: str, node: syntax.Attribute, context: Context) -> ir.Expression:
    if region in context.arguments:
        closure = context.arguments[region].expression
        region = closure.name if isinstance(closure, syntax.Name) else region
    if region != EVERYTHING and region not in scope.regions():
        raise (
            _unknown(scope, region, node.value.span, context)
            if region not in scope.parameters
            else reject("no-attribute", f"the parameter `{region}` has no `.{node.name}`", node.span)
        )
    if node.name not in ATTRIBUTES or (region == EVERYTHING and node.name == "number"):
        hint = suggestion(node.name, ATTRIBUTES) or "a region has `.at`, `.number` and `.size`"
        raise reject("no-attribute", f"`{region}` has no `.{node.name}`", node.span, hint)
    if context.mode is Mode.PAIR:
        raise _whose(f"{region}.{node.name}", node.span)
    if context.mode is Mode.LAYOUT and node.name == "number" and region in context.regions:
        return ir.Coordinate(node.span, Side.THIS, CoordinateKind.NUMBER, region)
    if context.mode is not Mode.TOKEN:
        raise reject(
            "coordinate-here", f"`{region}.{node.name}` belongs to a token, and there is no token here", node.span
        )
    if region != EVERYTHING:
        check_region(scope, region, node.span, context.axes)
    return ir.Coordinate(node.span, context.side, CoordinateKind(node.name), region)


# ---------------------------------------------------------------- let


def _inline(scope: Scope, let: syntax.Let, values: tuple[Closure, ...], span: Span, context: Context) -> ir.Expression:
    check_let_arguments(let, len(values), span)
    inner = context.with_arguments(dict(zip(let.formals, values, strict=True)))
    with scope.inside(let.name, span):
        if let.value is not None:
            return _named_value(scope, let, let.value, span, inner)
        if context.mode is Mode.PAIR:
            raise _whose(let.name, span)
        if context.mode is not Mode.TOKEN:
            raise reject("coordinate-here", f"`{let.name}` belongs to a token, and there is no token here", span)
        return _cases(scope, let, inner)


def _named_value(
    scope: Scope, let: syntax.Let, value: syntax.Expression, span: Span, context: Context
) -> ir.Expression:
    """A `let` where its name stands; a coordinate that nobody's token is asked for is reported there."""
    try:
        return expression(scope, value, context)
    except RejectError as rejected:
        if (
            context.mode is Mode.PAIR
            and rejected.diagnostic is not None
            and rejected.diagnostic.code == "whose-coordinate"
        ):
            raise _whose(let.name, span) from None
        raise


def check_let_arguments(let: syntax.Let, given: int, span: Span) -> None:
    """Refuse a wrong number of arguments."""
    if len(let.formals) != given:
        wanted = f"`{let.name}({', '.join(let.formals)})`" if let.formals else f"`{let.name}` alone"
        raise reject(
            "argument-count", f"`{let.name}` takes {len(let.formals)} arguments, not {given}", span, f"write {wanted}"
        )


def _cases(scope: Scope, let: syntax.Let, context: Context) -> ir.Expression:
    cases = []
    for case in let.cases:
        axes = tuple(axis for axis in context.axes if has_regions(scope, case.selector, axis))
        if not axes:
            check_selector_names(scope, case.selector)
            continue
        inner = replace(context, axes=axes)
        selector = scope.select(scope, case.selector, replace(inner, side=Side.THIS))
        cases.append(ir.Case(case.span, selector, expression(scope, case.value, inner)))
    return ir.Cases(let.span, context.side, tuple(cases))


def selector_paths(selector: syntax.Selector) -> list[syntax.RegionPath]:
    """All region paths of a selector."""
    match selector:
        case syntax.RegionPath():
            return [selector]
        case syntax.Numbered(_, path) | syntax.Range(_, path):
            return [path]
        case syntax.Ends(of=of) | syntax.Where(of=of):
            return selector_paths(of)
        case syntax.Union(_, parts):
            return [path for part in parts for path in selector_paths(part)]
    return []


def has_regions(scope: Scope, selector: syntax.Selector, axis: str) -> bool:
    """Whether an axis has a region of the selector."""
    paths = selector_paths(selector)
    return not paths or any(scope.axis_names[axis].has(path.names) for path in paths)


def check_selector_names(scope: Scope, selector: syntax.Selector) -> None:
    """Refuse regions that no axis has."""
    for path in selector_paths(selector):
        if not any(names.has(path.names) for names in scope.axis_names.values()):
            raise unknown_path(scope, path, tuple(scope.axis_names))


def unknown_path(scope: Scope, path: syntax.RegionPath, axes: tuple[str, ...]) -> RejectError:
    """The error for a region that these axes lack."""
    known = scope.regions(axes)
    unknown = next((name for name in path.names if name not in known), None)
    where = " and ".join(axes) if scope.two_axes else "layout"
    if unknown is None:
        return reject(
            "unknown-region", f"`{'.'.join(path.names)}`: these regions are not inside one another", path.span
        )
    others = [axis for axis in scope.axis_names if unknown in scope.axis_names[axis].regions]
    have = f"; the {others[0]} have it" if others else ""
    hint = suggestion(unknown, known) or f"regions there: {', '.join(sorted(known))}"
    if unknown == "padding":
        hint = "padding sees nothing and is seen by nothing: give these tokens a region of their own"
    return reject("unknown-region", f"no region `{unknown}` in the {where}{have}", path.span, hint)


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
        arithmetic.bounded(sum(value.total for value in constants if isinstance(value, ListValue)))
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
        return _inline(scope, scope.lets[node.name], closures(node, context), node.span, context)
    if node.name in CALLED_RELATIONS:
        raise reject("relation-here", f"the relation `{node.name}(...)` cannot stand here", node.span)
    if node.name not in _FUNCTIONS:
        known = {*_FUNCTIONS, *CALLED_RELATIONS, *(name for name, let in scope.lets.items() if let.formals)}
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
