"""Checks of the expressions of a rule, for all tokens that the rule selects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compilemask.language import columns
from compilemask.language import program as ir
from compilemask.language.analysis import cannot_fail, fails_by_run, sides_of
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_scope import Scope, evaluating, token_words
from compilemask.language.column_parts import Values
from compilemask.language.findings import reject
from compilemask.language.program import Side
from compilemask.language.values import ListValue, Unbounded
from compilemask.source import Span

Slots = NDArray[np.int64]


_OWN_KINDS = (
    CoordinateKind.T,
    CoordinateKind.Y,
    CoordinateKind.X,
    CoordinateKind.NUMBER,
    CoordinateKind.AT,
    CoordinateKind.SIZE,
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The queries and keys that a part of a rule is evaluated for; `fixed`: a conjunct keeps to one instance."""

    scope: Scope
    queries: Slots
    keys: Slots
    fixed: bool = False

    def side(self, side: Side) -> tuple[Axis, Slots]:
        """The axis and the slots of one side."""
        if side is Side.QUERY:
            return self.scope.axes["queries"], self.queries
        return self.scope.axes["keys"], self.keys

    def narrowed(self, side: Side, kept: NDArray[np.bool_]) -> Tokens:
        """Only those tokens of one side."""
        if side is Side.QUERY:
            return replace(self, queries=self.queries[kept])
        return replace(self, keys=self.keys[kept])


def tokens_after(condition: ir.Expression, tokens: Tokens, held: bool) -> Tokens:
    sides = sides_of(condition)
    if len(sides) != 1:
        return tokens
    side = next(iter(sides))
    axis, slots = tokens.side(side)
    with evaluating(condition.span, axis):
        flags = columns.column_of(condition, axis, slots).true()
    return tokens.narrowed(side, flags if held else ~flags)


KIND_WORDS: dict[type, str] = {int: "numbers", bool: "conditions", str: "strings", ListValue: "lists"}


def refuse_mixed(kinds: set[type], span: Span | None) -> None:
    """Refuse to compare values of different kinds; `any` goes with numbers."""
    if len(kinds - {Unbounded}) > 1 or (Unbounded in kinds and len(kinds) > 1 and int not in kinds):
        names = " and ".join(sorted(KIND_WORDS.get(kind, "`any`") for kind in kinds))
        raise reject("kinds-differ", f"this compares {names}", span)


def check_token(expression: ir.Expression, side: Side, tokens: Tokens) -> set[type]:
    """Evaluate for all tokens of a side, if that can fail; refuse a coordinate that none of them has.

    The kinds of the values that were found.
    """
    axis, slots = tokens.side(side)
    noun = "query" if side is Side.QUERY else "key"
    if isinstance(expression, ir.Coordinate) and expression.kind in _OWN_KINDS:
        present = axis.column(expression.kind, expression.region).present
        if present is not None and not present[slots].any():
            name = expression.region or expression.kind.value
            raise reject(
                "absent-coordinate",
                f"no selected {noun} has `{name}`",
                expression.span,
                f"the first one is {token_words(axis, int(slots[0]))}; a comparison with an absent value is false",
            )
    if cannot_fail(expression):
        return {bool if kind_of(expression) is Kind.CONDITION else int}
    if fails_by_run(expression) and len(slots) >= columns.SMALL:
        slots, _ = columns.one_per_run(axis, slots)
    with evaluating(expression.span, axis):
        return _kinds(columns.column_of(expression, axis, slots))


def _kinds(found: Values) -> set[type]:
    if found.values.dtype == np.object_:
        held = found.values if found.present is None else found.values[found.present]
        return {type(value) for value in held.tolist()}
    return {bool if found.values.dtype == np.bool_ else int} if len(found.values) else set()


def check_condition(expression: ir.Expression, tokens: Tokens) -> None:
    """Check a condition over a query and a key, and that it is one wherever it has a value."""
    kinds = check_pair(expression, tokens)
    wrong = next((kind for kind in kinds or () if kind is not bool), None)
    if wrong is not None:
        hint = "compare it with `== 1`" if wrong is int else None
        what = KIND_WORDS.get(wrong, "`any`")
        raise reject(
            "not-a-condition", f"this gives {what} for some tokens, expected a condition", expression.span, hint
        )


def check_pair(expression: ir.Expression, tokens: Tokens) -> set[type] | None:
    """Check an expression over a query and a key; the kinds of its values, None where they are not known."""
    if not len(tokens.queries) or not len(tokens.keys):
        return None
    sides = sides_of(expression)
    if len(sides) <= 1:
        return check_token(expression, next(iter(sides), Side.QUERY), tokens)
    match expression:
        case ir.AllOf(_, parts) | ir.AnyOf(_, parts):
            for part in parts:
                check_condition(part, tokens)
                tokens = tokens_after(part, tokens, held=isinstance(expression, ir.AllOf))
            return {bool}
        case ir.Conditional(_, condition, value, otherwise):
            check_condition(condition, tokens)
            yes = check_pair(value, tokens_after(condition, tokens, held=True))
            no = check_pair(otherwise, tokens_after(condition, tokens, held=False))
            return None if yes is None or no is None else yes | no
        case ir.Comparison(span, operator, left, right):
            first, second = check_pair(left, tokens), check_pair(right, tokens)
            if operator in _MEMBERSHIP:
                second = _members(right, tokens)
            if first is not None and second is not None:
                refuse_mixed(first | second, span)
            return {bool}
        case ir.Lookup(span, values, index):
            check_pair(values, tokens)
            check_pair(index, tokens)
            return _check_table(span, values, index, tokens)
    for part in _children(expression):
        check_pair(part, tokens)
    return None


_MEMBERSHIP = (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN)


def _members(values: ir.Expression, tokens: Tokens) -> set[type] | None:
    """The kinds of entries in the lists that an expression of one token gives."""
    sides = sides_of(values)
    if len(sides) > 1:
        return None
    axis, slots = tokens.side(next(iter(sides), Side.QUERY))
    column = columns.column_of(values, axis, slots)
    wrong = next((kind for kind in _kinds(column) if kind is not ListValue), None)
    if wrong is not None:
        what = KIND_WORDS.get(wrong, "`any`")
        raise reject("not-a-list", f"the right side of `in` gives {what} for some tokens, expected lists", values.span)
    found = column.values.tolist()
    lists = {id(entry): entry for entry in found if isinstance(entry, ListValue)}
    return {kind for entry in lists.values() for kind in _kinds_in(entry)}


def _children(expression: ir.Expression) -> list[ir.Expression]:
    found: list[ir.Expression] = []
    for name in expression.__dataclass_fields__:
        value = getattr(expression, name)
        if isinstance(value, ir.Expression):
            found.append(value)
        elif isinstance(value, tuple):
            found += [item for item in value if isinstance(item, ir.Expression)]
    return found


def _check_table(span: Span | None, values: ir.Expression, index: ir.Expression, tokens: Tokens) -> set[type] | None:
    """`table[q.C][k.D]`: the row is one token's, the place in it the other's; every pair is looked up."""
    row_sides, place_sides = sides_of(values), sides_of(index)
    if len(row_sides) > 1 or len(place_sides) > 1:
        return None
    row_axis, row_slots = tokens.side(next(iter(row_sides), Side.QUERY))
    axis, slots = tokens.side(next(iter(place_sides), Side.KEY))
    rows = columns.column_of(values, row_axis, row_slots)
    places = columns.column_of(index, axis, slots)
    lists = {id(entry): entry for entry in rows.values.tolist() if isinstance(entry, ListValue)}
    shortest = min((len(entry) for entry in lists.values()), default=0)
    if places.values.dtype != np.int64 or not lists:
        return None
    wrong = np.flatnonzero(places.mask() & ((places.values < 0) | (places.values >= shortest)))
    if len(wrong):
        place = int(places.values[wrong[0]])
        raise reject(
            "evaluation",
            f"index {place} is outside of a list of {shortest}, for {token_words(axis, int(slots[wrong[0]]))}",
            span,
        )
    return {kind for entry in lists.values() for kind in _kinds_in(entry)}


def _kinds_in(values: ListValue) -> set[type]:
    if values.array is None:
        return {type(entry) for entry in values}
    return {bool if values.array.dtype == np.bool_ else int} if len(values) else set()
