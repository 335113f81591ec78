"""What a name in an expression means: argument, parameter, coordinate, region or `let`; and what a dot asks for."""

from __future__ import annotations

from dataclasses import replace

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.axis import EVERYTHING, CoordinateKind
from compilemask.language.bind_scope import (
    ATTRIBUTES,
    CALLED_RELATIONS,
    COORDINATES,
    FUNCTIONS,
    RELATIONS,
    Closure,
    Context,
    Mode,
    Scope,
)
from compilemask.language.findings import RejectError, counted, reject, suggestion
from compilemask.language.program import Side
from compilemask.source import Span

_SIDES = {"q": (Side.QUERY, ("queries",)), "k": (Side.KEY, ("keys",))}


def named(scope: Scope, node: syntax.Name, context: Context) -> ir.Expression:
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
        return inlined(scope, scope.lets[name], (), span, context)
    if name in COORDINATES:
        return _built_in(scope, name, span, context)
    if name in scope.regions():
        return _region_number(scope, name, span, context)
    raise _unknown(scope, name, span, context)


def _argument(scope: Scope, closure: Closure, context: Context, coordinates_first: bool = False) -> ir.Expression:
    inner = context.with_arguments(closure.arguments)
    if coordinates_first and isinstance(closure.expression, syntax.Name):
        return coordinate(scope, closure.expression.name, closure.expression.span, inner)
    return scope.bind(scope, closure.expression, inner)


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
    hint = suggestion(name, words) or suggestion(name, scope.known() - _called(context))
    if name in ATTRIBUTES and scope.regions():
        hint = f"a region has it: `REGION.{name}`, for instance `{min(scope.regions())}.{name}`"
    return reject("unknown-name", f"`{name}` is not known", span, hint or _all_names(scope, context))


def _called(context: Context) -> set[str]:
    """Words that no name of a token was meant to be: those that take brackets."""
    return {*FUNCTIONS, *CALLED_RELATIONS, *RELATIONS} if context.mode is Mode.TOKEN else set()


def _all_names(scope: Scope, context: Context) -> str | None:
    """What could stand there: what the file declares, and for a token the coordinates that every mask has."""
    token = context.mode is Mode.TOKEN
    names = list(dict.fromkeys([*(() if token else scope.parameters), *scope.lets, *sorted(scope.regions())]))
    if token:
        grids = any(scope.axis_names[axis].grids for axis in context.axes)
        names += [name for name in COORDINATES if grids or name not in ("t", "y", "x")]
        names += [f"REGION.{name}" for name in ATTRIBUTES] if scope.regions() else []
    return f"known: {', '.join(names)}" if names else None


def attribute(scope: Scope, node: syntax.Attribute, context: Context) -> ir.Expression:
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


def inlined(scope: Scope, let: syntax.Let, values: tuple[Closure, ...], span: Span, context: Context) -> ir.Expression:
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
        return scope.bind(scope, value, context)
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
        takes = f"`{let.name}` takes {counted(len(let.formals), 'argument')}, not {given}"
        raise reject("argument-count", takes, span, f"write {wanted}")


def _cases(scope: Scope, let: syntax.Let, context: Context) -> ir.Expression:
    cases = []
    for case in let.cases:
        axes = tuple(axis for axis in context.axes if has_regions(scope, case.selector, axis))
        if not axes:
            check_selector_names(scope, case.selector)
            continue
        inner = replace(context, axes=axes)
        selector = scope.select(scope, case.selector, replace(inner, side=Side.THIS))
        cases.append(ir.Case(case.span, selector, scope.bind(scope, case.value, inner)))
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
