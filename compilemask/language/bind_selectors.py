"""WHO and WHOM: selectors of the text become selectors of the program."""

from __future__ import annotations

from dataclasses import replace

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.axis import EVERYTHING, CoordinateKind
from compilemask.language.bind_expressions import expression, require_condition, require_number
from compilemask.language.bind_names import unknown_path
from compilemask.language.bind_scope import Context, Mode, Scope, bracketed
from compilemask.language.findings import reject
from compilemask.language.program import Side
from compilemask.source import Span


def selector(scope: Scope, node: syntax.Selector, context: Context) -> ir.Selector:
    """The tokens that a selector chooses on the axes of the context."""
    scope.grow(node.span)
    context = replace(context, mode=Mode.TOKEN, side=Side.THIS)
    match node:
        case syntax.Everything(span):
            return ir.AllTokens(span)
        case syntax.RegionPath(span, names):
            _check_path(scope, node, context)
            return ir.RegionTokens(span, names)
        case syntax.Numbered():
            return _numbered(scope, node, context)
        case syntax.Range():
            return _range(scope, node, context)
        case syntax.Ends(span, which, count, of):
            return _ends(scope, span, ir.End(which), count, of, context)
        case syntax.Where(span, of, condition):
            chosen = selector(scope, of, context)
            holds = expression(scope, condition, context)
            require_condition(holds, "what stands behind `where`")
            if isinstance(holds, ir.Constant) and holds.value is True:
                return chosen
            return ir.WhereTokens(span, chosen, holds)
        case syntax.Union(span, parts):
            return _union(scope, span, parts, context)
    raise AssertionError(node)


def _check_path(scope: Scope, path: syntax.RegionPath, context: Context) -> None:
    if not any(scope.axis_names[axis].has(path.names) for axis in context.axes):
        raise unknown_path(scope, path, context.axes)


def _union(scope: Scope, span: Span, parts: tuple[syntax.Selector, ...], context: Context) -> ir.Selector:
    bound = tuple(selector(scope, part, context) for part in parts)
    if len(bound) == 1:
        return bound[0]
    last = parts[-1]
    alone = isinstance(last, syntax.Where) and not any(isinstance(part, syntax.Where) for part in parts[:-1])
    if alone and not bracketed(last.span):
        scope.findings.warn(
            "where-filters-last",
            "`where` filters the last part of this list only",
            last.span,
            "bracket what is meant: `(A, B) where c` or `A, (B where c)`",
        )
    return ir.UnionTokens(span, bound)


# ---------------------------------------------------------------- instances by number


def _numbered(scope: Scope, node: syntax.Numbered, context: Context) -> ir.Selector:
    _check_path(scope, node.path, context)
    region = node.path.names[-1]
    index = expression(scope, node.index, context)
    require_number(index, "the number of an instance")
    most = _most_instances(scope, region, context)
    if isinstance(index, ir.Constant) and type(index.value) is int and most is not None:
        if most == 0:
            scope.findings.warn("selects-nothing", f"`{region}` has no instance here", node.span)
        elif not -most <= index.value < most:
            raise reject(
                "no-such-instance",
                f"`{region}[{index.value}]`: there are {most} instances of `{region}`, numbered 0 to {most - 1}",
                node.span,
                f"`{region}[i:j]` may reach past the end",
            )
    return ir.NumberedTokens(node.span, node.path.names, _from_end(index, region))


def _range(scope: Scope, node: syntax.Range, context: Context) -> ir.Selector:
    _check_path(scope, node.path, context)
    region = node.path.names[-1]
    ends: list[ir.Expression | None] = []
    for end in (node.start, node.stop):
        bound = None if end is None else expression(scope, end, context)
        if bound is not None:
            require_number(bound, "the number of an instance")
        ends.append(None if bound is None else _from_end(bound, region))
    return ir.RangeTokens(node.span, node.path.names, ends[0], ends[1])


def _from_end(index: ir.Expression, region: str) -> ir.Expression:
    """A constant number below 0 counts from the end of the parent."""
    if isinstance(index, ir.Constant) and type(index.value) is int and index.value < 0:
        count = ir.Coordinate(index.span, Side.THIS, CoordinateKind.COUNT, region)
        return ir.Arithmetic(index.span, ir.ArithmeticOperator.ADD, count, index)
    return index


def _most_instances(scope: Scope, region: str, context: Context) -> int | None:
    tables = [scope.axes[axis].runs.regions.get(region) for axis in context.axes if axis in scope.axes]
    counts = [int(table.count.max(initial=0)) for table in tables if table is not None]
    return max(counts) if counts else None


# ---------------------------------------------------------------- first and last


def _ends(
    scope: Scope, span: Span, end: ir.End, count: syntax.Expression, of: syntax.Selector, context: Context
) -> ir.Selector:
    if isinstance(of, syntax.Union):
        parts = tuple(_ends(scope, span, end, count, part, context) for part in of.parts)
        return parts[0] if len(parts) == 1 else ir.UnionTokens(span, parts)
    if isinstance(of, syntax.Where):
        raise reject(
            "first-of-where",
            f"`{end.value} ... of (... where ...)` can be read in two ways",
            span,
            f"write `({end.value} n of A) where c`: the condition filters the {end.value} tokens of A",
        )
    bound = expression(scope, count, context)
    require_number(bound, f"the count of `{end.value}`")
    if isinstance(bound, ir.Constant) and type(bound.value) is int and bound.value < 0:
        raise reject("negative-count", f"`{end.value} {bound.value}`: the count is negative", count.span)
    chosen = selector(scope, of, context)
    region = _counted_region(of)
    if isinstance(of, syntax.RegionPath) and len(of.names) > 1 and scope.many(region):
        dotted = ".".join(of.names)
        scope.findings.warn(
            "first-counts-tokens",
            f"`{end.value} n of {dotted}` takes n tokens of every `{region}`, not n instances",
            span,
            f"for instances write `{dotted}[:n]`; for tokens write `{end.value} n of ({dotted})`"
            if not bracketed(of.span)
            else None,
        ) if not bracketed(of.span) else None
    return ir.EndTokens(span, end, bound, region, chosen)


def _counted_region(of: syntax.Selector) -> str:
    match of:
        case syntax.RegionPath(_, names):
            return names[-1]
        case syntax.Numbered(_, path) | syntax.Range(_, path):
            return path.names[-1]
        case syntax.Ends(of=inner):
            return _counted_region(inner)
    return EVERYTHING
