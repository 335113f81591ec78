"""What relations compare: `by C`, `same C`, `within R`, and the grid coordinates of discs and boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.analysis import sides_of, walk
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_expressions import enclosing, expression
from compilemask.language.bind_names import check_region, coordinate
from compilemask.language.bind_scope import Context, Scope
from compilemask.language.findings import reject
from compilemask.language.program import Side
from compilemask.source import Span

BOTH_AXES = ("queries", "keys")


@dataclass(frozen=True, slots=True)
class RuleTokens:
    """The leaf regions that WHO and WHOM can select, as places in the axes' paths; None: all."""

    queries: frozenset[int] | None = None
    keys: frozenset[int] | None = None


def by_of(
    scope: Scope, node: syntax.Expression, context: Context, span: Span, axes: tuple[str, ...] = BOTH_AXES
) -> ir.By:
    """The coordinates that a relation compares, from what stands behind `by` or `same`."""
    token = context.on(Side.THIS, axes)
    nodes = node.items if isinstance(node, syntax.TupleOf) else (node,)
    parts: list[ir.Part] = []
    for item in nodes:
        bound = (
            coordinate(scope, item.name, item.span, token)
            if isinstance(item, syntax.Name)
            else expression(scope, item, token)
        )
        parts += [_part(scope, component) for component in components(bound)]
    for part in parts:
        if part.enclosing is None and axes == BOTH_AXES:
            warn_nested_numbers(scope, part.expression, context)
    by = ir.By(node.span, tuple(parts))
    scope.check_position(by, span)
    return by


def default_by(scope: Scope, kind: CoordinateKind, span: Span) -> ir.By:
    """One built-in coordinate."""
    by = ir.By(span, (ir.Part(ir.Coordinate(span, Side.THIS, kind)),))
    scope.check_position(by, span)
    return by


def region_by(scope: Scope, region: str, span: Span) -> ir.By:
    """The number of a region that both axes have, for `within`."""
    check_region(scope, region, span, BOTH_AXES)
    return ir.By(span, (_part(scope, ir.Coordinate(span, Side.THIS, CoordinateKind.NUMBER, region)),))


def components(bound: ir.Expression) -> list[ir.Expression]:
    """The parts of a tuple, also where cases or conditions choose between tuples of one length."""
    match bound:
        case ir.Listing(_, parts):
            return list(parts)
        case ir.Cases(span, side, cases) if cases:
            columns = [components(case.value) for case in cases]
            if len({len(column) for column in columns}) == 1 and len(columns[0]) > 1:
                return [
                    ir.Cases(
                        span,
                        side,
                        tuple(ir.Case(c.span, c.selector, column[i]) for c, column in zip(cases, columns, strict=True)),
                    )
                    for i in range(len(columns[0]))
                ]
        case ir.Conditional(span, condition, value, otherwise):
            yes, no = components(value), components(otherwise)
            if len(yes) == len(no) > 1:
                return [ir.Conditional(span, condition, a, b) for a, b in zip(yes, no, strict=True)]
    return [bound]


def _part(scope: Scope, bound: ir.Expression) -> ir.Part:
    region = next(iter(numbered_regions(bound)), None)
    plain = isinstance(bound, ir.Coordinate) and bound.kind is CoordinateKind.NUMBER
    return ir.Part(bound, enclosing(scope, region, region) if plain and region is not None else None, region)


def warn_nested_numbers(scope: Scope, bound: ir.Expression, context: Context) -> None:
    """Warn where arithmetic on a region's number lets numbers of different parents meet."""
    for region in dict.fromkeys(_counted_in_arithmetic(bound, False)):
        around = scope.axis_names["queries"].around(region) & scope.axis_names["keys"].around(region)
        loose = sorted(around - context.pinned)
        if loose and not scope.fixed_by_limit:
            scope.findings.warn(
                "numbers-across-parents",
                f"arithmetic on the number of `{region}` also relates instances of different `{loose[-1]}`",
                bound.span,
                f"add `within {loose[-1]}`; a plain `same {region}` stays inside by itself",
            )


def _counted_in_arithmetic(node: object, inside: bool) -> Iterator[str]:
    """The regions whose number is an operand of arithmetic that is compared; numbers that only look up are not."""
    if isinstance(node, ir.Coordinate):
        if inside and node.kind is CoordinateKind.NUMBER and node.region is not None:
            yield node.region
    elif isinstance(node, ir.Arithmetic):
        yield from _counted_in_arithmetic(node.left, True)
        yield from _counted_in_arithmetic(node.right, True)
    elif isinstance(node, ir.Comparison):
        if {Side.QUERY, Side.KEY} <= sides_of(node):
            yield from _counted_in_arithmetic(node.left, inside)
            yield from _counted_in_arithmetic(node.right, inside)
    elif isinstance(node, ir.AllOf | ir.AnyOf):
        for part in node.parts:
            yield from _counted_in_arithmetic(part, inside)
    elif isinstance(node, ir.Negation | ir.Negative):
        yield from _counted_in_arithmetic(node.operand, inside)
    elif isinstance(node, ir.Conditional):
        yield from _counted_in_arithmetic(node.value, inside)
        yield from _counted_in_arithmetic(node.otherwise, inside)


def numbered_regions(node: object) -> Iterator[str]:
    """The regions whose number an expression uses."""
    for part in walk(node):
        if isinstance(part, ir.Coordinate) and part.kind is CoordinateKind.NUMBER and part.region is not None:
            yield part.region


def grid_by(scope: Scope, tokens: RuleTokens, word: str, span: Span) -> ir.By:
    """The grid coordinates that the tokens of a rule have: x, (y, x) or (t, y, x)."""
    found: set[int] = set()
    for axis_name, leaves in (("queries", tokens.queries), ("keys", tokens.keys)):
        runs = scope.axes[axis_name].runs
        counts = (runs.shape >= 0).sum(axis=1)
        here = {
            int(count)
            for leaf, count in set(zip(runs.leaf.tolist(), counts.tolist(), strict=True))
            if leaf >= 0 and count and (leaves is None or leaf in leaves)
        }
        if not here:
            raise reject(
                "no-grid",
                f"`{word}` compares grid coordinates, and no selected token of the {axis_name} has any",
                span,
                f"make the region a `grid(...)`, or say what to compare: `{word}(...) by (a, b)`",
            )
        found |= here
    if len(found) > 1:
        raise reject(
            "grids-differ", f"`{word}` would compare grids of {' and '.join(map(str, sorted(found)))} coordinates", span
        )
    kinds = (CoordinateKind.T, CoordinateKind.Y, CoordinateKind.X)[-found.pop() :]
    return ir.By(span, tuple(ir.Part(ir.Coordinate(span, Side.THIS, kind)) for kind in kinds))
