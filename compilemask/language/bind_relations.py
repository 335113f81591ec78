"""HOW: relations of the text become relations of the program."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_coordinates import RuleTokens, by_of, default_by, region_by, warn_nested_numbers
from compilemask.language.bind_expressions import closures, expression
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_names import check_let_arguments
from compilemask.language.bind_relation_words import called_without_need, unknown_call, unknown_relation
from compilemask.language.bind_scope import (
    CALLED_RELATIONS,
    COORDINATES,
    FUNCTIONS,
    RELATIONS,
    Closure,
    Context,
    Scope,
    bracketed,
)
from compilemask.language.bind_shapes import called_relation
from compilemask.language.findings import RejectError, reject
from compilemask.source import Span


@dataclass(slots=True)
class Default:
    """The coordinate of an enclosing `by`, and whether some relation has taken it."""

    by: ir.By
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a relation stands: the names it may use, the rule's tokens and the enclosing `by`."""

    context: Context
    tokens: RuleTokens
    default: Default | None = None

    def by(self, scope: Scope, span: Span) -> ir.By:
        """What a relation without its own `by` compares."""
        if self.default is not None:
            self.default.taken = True
            return self.default.by
        return default_by(scope, CoordinateKind.POS, span)

    def pinning(self, regions: frozenset[str]) -> Place:
        """The same where the pair is known to share its instances of these regions."""
        return Place(replace(self.context, pinned=self.context.pinned | regions), self.tokens, self.default)

    def inside(self, context: Context) -> Place:
        """The same with other names."""
        return Place(context, self.tokens, self.default)


def relation(scope: Scope, node: syntax.Expression, place: Place) -> ir.Relation:
    """The relation that HOW says."""
    scope.grow(node.span)
    match node:
        case syntax.Name():
            return _name(scope, node, place)
        case syntax.Call():
            return _call(scope, node, place)
        case syntax.Same(span, coordinate):
            return _same(scope, span, coordinate, place)
        case syntax.By(span, inner, coordinate):
            return _by(scope, span, inner, coordinate, place)
        case syntax.Within(span, inner, region):
            within = ir.Same(span, region_by(scope, region, span))
            return _both(span, relation(scope, inner, place.pinning(pinned(node))), within)
        case syntax.Unary(span, "not", operand):
            return _complement(span, relation(scope, operand, place))
        case syntax.Binary(_, "and" | "or" | "except", _, _):
            return _combined(scope, node, place)
        case syntax.Conditional():
            return _conditional(scope, node, place)
    return _condition(scope, node, place)


# ---------------------------------------------------------------- words


def _name(scope: Scope, node: syntax.Name, place: Place) -> ir.Relation:
    name, span = node.name, node.span
    if name in place.context.arguments:
        closure = place.context.arguments[name]
        return relation(scope, closure.expression, place.inside(place.context.with_arguments(closure.arguments)))
    if name in scope.broken:
        raise RejectError(None)
    if name in scope.lets:
        return _let(scope, scope.lets[name], (), span, place)
    if name in CALLED_RELATIONS and name not in scope.parameters:
        raise reject("arguments-missing", f"`{name}` needs its arguments: `{name}(...)`", span, _USAGE[name])
    if name not in RELATIONS:
        if name not in scope.known():
            raise unknown_relation(name, span)
        return _condition(scope, node, place)
    match name:
        case "all":
            return ir.AllPairs(span)
        case "none":
            return ir.NoPairs(span)
        case "causal":
            return ir.Causal(span, place.by(scope, span))
        case "before":
            return ir.Before(span, place.by(scope, span))
        case _:
            return ir.Same(span, place.by(scope, span))


_USAGE = {
    "window": "window(behind=3, ahead=0): three keys behind the query, and itself",
    "disc": "disc(below=r, edge=cut)",
    "box": "box(3, 3, edge=shift)",
    "path": "path(parents) by node",
    "rectangles": "rectangles([[q0, q1, k0, k1], ...])",
    "intervals": "intervals([[[start, end], ...], ...]), one list per query",
    "random": "random(count=2, seed=7) by block",
}


def _let(scope: Scope, let: syntax.Let, values: tuple[Closure, ...], span: Span, place: Place) -> ir.Relation:
    check_let_arguments(let, len(values), span)
    if let.value is None:
        raise _not_a_relation(let, span)
    arguments = dict(zip(let.formals, values, strict=True))
    with scope.inside(let.name, span):
        inner = place.inside(place.context.with_arguments(arguments))
        if _is_coordinate(let.value):
            raise _not_a_relation(let, span)
        return relation(scope, let.value, inner)


def _is_coordinate(node: syntax.Expression) -> bool:
    """Whether the text of a `let` can only be a coordinate: a bare one, or arithmetic."""
    match node:
        case syntax.Name(_, name):
            return name in COORDINATES
        case syntax.Binary(_, operator, _, _):
            return operator not in ("and", "or", "except")
    return isinstance(node, syntax.TupleOf)


def _not_a_relation(let: syntax.Let, span: Span) -> RejectError:
    return reject(
        "how-is-a-number",
        f"`{let.name}` is a coordinate, not a relation",
        span,
        f"compare it: `same {let.name}`, `causal by {let.name}`, or `q.{let.name} < k.{let.name}`",
    )


def _call(scope: Scope, node: syntax.Call, place: Place) -> ir.Relation:
    if node.name in scope.broken:
        raise RejectError(None)
    if node.name in scope.lets:
        return _let(scope, scope.lets[node.name], closures(node, place.context), node.span, place)
    if node.name in CALLED_RELATIONS:
        default = place.default
        given = default.by if default is not None else None
        if default is not None:
            default.taken = True
        return called_relation(scope, node, place.context, place.tokens, given)
    if node.name in RELATIONS:
        raise called_without_need(node)
    if node.name not in FUNCTIONS:
        raise unknown_call(node, [name for name, let in scope.lets.items() if let.formals])
    return _condition(scope, node, place)


def _same(scope: Scope, span: Span, coordinate: syntax.Expression, place: Place) -> ir.Relation:
    by = by_of(scope, coordinate, place.context, span)
    for part in by.parts:
        if kind_of(part.expression) is Kind.CONDITION:
            scope.findings.warn(
                "same-of-condition",
                "`same` of a condition also matches two tokens for which it is false",
                span,
                "for both true, use `where` on both sides; to keep this, compare `1 if condition else 0`",
            )
    return ir.Same(span, by)


def _by(scope: Scope, span: Span, inner: syntax.Expression, coordinate: syntax.Expression, place: Place) -> ir.Relation:
    default = Default(by_of(scope, coordinate, place.context, span))
    bound = relation(scope, inner, Place(place.context, place.tokens, default))
    if not default.taken:
        raise reject(
            "by-without-relation",
            "nothing before this `by` compares a coordinate",
            coordinate.span,
            "`by` goes with causal, before, self, window, box, disc, path, rectangles, intervals and random",
        )
    return bound


# ---------------------------------------------------------------- and, or, not, except, if


def _combined(scope: Scope, node: syntax.Binary, place: Place) -> ir.Relation:
    if node.operator == "and":
        place = place.pinning(pinned(node))
    left = relation(scope, node.left, place)
    right = relation(scope, node.right, place)
    if node.operator in ("and", "except"):
        _warn_trailing_by(scope, node)
    match node.operator:
        case "and":
            return _both(node.span, left, right)
        case "except":
            return _both(node.span, left, _complement(node.right.span, right))
        case _:
            return _either(node.span, left, right)


def pinned(node: syntax.Expression) -> frozenset[str]:
    """The regions whose number a relation holds equal, as far as its text tells."""
    match node:
        case syntax.Same(_, syntax.Name(_, name)):
            return frozenset({name})
        case syntax.Same(_, syntax.TupleOf(_, items)):
            return frozenset(item.name for item in items if isinstance(item, syntax.Name))
        case syntax.Within(_, inner, region):
            return frozenset({region}) | pinned(inner)
        case syntax.Binary(_, "and", left, right):
            return pinned(left) | pinned(right)
        case syntax.By(_, inner, _):
            return pinned(inner)
    return frozenset()


def _warn_trailing_by(scope: Scope, node: syntax.Binary) -> None:
    right = node.right
    if not isinstance(right, syntax.By) or bracketed(right.span) or not _has_unqualified(node.left):
        return
    scope.findings.warn(
        "trailing-by",
        f"this `by` belongs to what follows the `{node.operator}` only",
        right.coordinate.span,
        f"for both write `(A {node.operator} B) by C`; for one only, bracket it: `A {node.operator} (B by C)`",
    )


def _has_unqualified(node: syntax.Expression) -> bool:
    """Whether a relation of the left side compares the default coordinate."""
    match node:
        case syntax.Name(_, name):
            return name in ("causal", "before", "self")
        case syntax.Call(_, name, _):
            return name == "window"
        case syntax.Binary(_, _, left, right):
            return _has_unqualified(left) or _has_unqualified(right)
        case syntax.Unary(_, _, operand):
            return _has_unqualified(operand)
        case syntax.Within(_, inner, _):
            return _has_unqualified(inner)
    return False


def _both(span: Span, left: ir.Relation, right: ir.Relation) -> ir.Relation:
    if isinstance(left, ir.NoPairs) or isinstance(right, ir.AllPairs):
        return left
    if isinstance(left, ir.AllPairs):
        return right
    parts = [*(left.parts if isinstance(left, ir.Both) else (left,))]
    parts += right.parts if isinstance(right, ir.Both) else (right,)
    return ir.Both(span, tuple(parts))


def _either(span: Span, left: ir.Relation, right: ir.Relation) -> ir.Relation:
    if isinstance(left, ir.AllPairs) or isinstance(right, ir.NoPairs):
        return left
    if isinstance(left, ir.NoPairs):
        return right
    parts = [*(left.parts if isinstance(left, ir.Either) else (left,))]
    parts += right.parts if isinstance(right, ir.Either) else (right,)
    return ir.Either(span, tuple(parts))


def _complement(span: Span, inner: ir.Relation) -> ir.Relation:
    match inner:
        case ir.AllPairs():
            return ir.NoPairs(span)
        case ir.NoPairs():
            return ir.AllPairs(span)
        case ir.Complement(_, twice):
            return twice
    return ir.Complement(span, inner)


def _conditional(scope: Scope, node: syntax.Conditional, place: Place) -> ir.Relation:
    condition = _condition(scope, node.condition, place)
    if isinstance(condition, ir.AllPairs | ir.NoPairs):
        holds = isinstance(condition, ir.AllPairs)
        chosen, other = (node.value, node.otherwise) if holds else (node.otherwise, node.value)
        with scope.names_only():
            relation(scope, other, place)
        return relation(scope, chosen, place)
    yes = _both(node.span, condition, relation(scope, node.value, place))
    no = _both(node.span, ir.Complement(condition.span, condition), relation(scope, node.otherwise, place))
    return _either(node.span, yes, no)


# ---------------------------------------------------------------- conditions


def _condition(scope: Scope, node: syntax.Expression, place: Place) -> ir.Relation:
    bound = expression(scope, node, place.context)
    kind = kind_of(bound)
    if kind not in (Kind.CONDITION, Kind.UNKNOWN):
        hint = "a relation or a condition stands here, such as `causal`, `same block` or `q.pos > k.pos`"
        if kind is Kind.NUMBER:
            hint = "a number is no condition: compare it, for instance with `== 1`"
        raise reject("how-is-a-number", f"expected a relation, found {kind.value}", node.span, hint)
    if isinstance(bound, ir.Constant):
        return ir.AllPairs(node.span) if bound.value is True else ir.NoPairs(node.span)
    scope.check_aligned(bound, node.span)
    warn_nested_numbers(scope, bound, place.context)
    return ir.Condition(node.span, bound)
