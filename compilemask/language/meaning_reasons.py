"""Why a relation does not hold for one query and one key, in words and with the values that it compares."""

from __future__ import annotations

from compilemask.language import arithmetic
from compilemask.language import program as ir
from compilemask.language.axis import CoordinateKind
from compilemask.language.meaning_relations import holds
from compilemask.language.meaning_values import Cell, common_parents, evaluate, true
from compilemask.language.program import Side
from compilemask.language.values import ANY, Value, show
from compilemask.source import Span


def why_not(relation: ir.Relation, cell: Cell) -> str:
    """The part of a relation that fails for a cell; the relation as a whole must not hold there."""
    match relation:
        case ir.NoPairs():
            return f"{_quoted(relation.span)} holds for no pair"
        case ir.Both(_, parts):
            return why_not(next(part for part in parts if not holds(part, cell)), cell)
        case ir.Either(_, parts):
            return ", and ".join(why_not(part, cell) for part in parts)
        case ir.Complement(_, inner):
            return f"{_quoted(inner.span)} holds{_compared(inner, cell)}"
        case ir.Condition(_, expression):
            return _condition(expression, cell)
    by = _by_of(relation)
    if by is None:
        return f"{_quoted(relation.span)} fails"
    missing = _missing(relation, by, cell)
    return missing or _order(relation, by, cell) or f"{_quoted(relation.span)} fails{_compared(relation, cell)}"


def text_of(span: Span | None) -> str:
    """What the mask file says there, the first line of it, with single spaces; empty where nothing is known."""
    if span is None:
        return ""
    line = span.source.line(span.line)
    if span.end_line != span.line:
        return " ".join(line[span.column - 1 :].split()) + " …"
    return " ".join(line[span.column - 1 : span.end_column - 1].split())


def _quoted(span: Span | None) -> str:
    return f"`{_cut(text_of(span), 60)}`" if span is not None else "its relation"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _by_of(relation: ir.Relation) -> ir.By | None:
    by = getattr(relation, "by", None)
    return by if isinstance(by, ir.By) else None


def _order(relation: ir.Relation, by: ir.By, cell: Cell) -> str | None:
    """The sentence of the relations that compare values and nothing else."""
    query, key = _value(relation, by, Side.QUERY, cell), _value(relation, by, Side.KEY, cell)
    match relation:
        case ir.Same():
            return f"{query} is not {key}"
        case ir.Causal():
            return f"{query} is before {key}"
        case ir.Before():
            return f"{query} is not after {key}"
        case ir.Window():
            return _window(relation, query, key, cell)
    return None


def _window(relation: ir.Window, query: str, key: str, cell: Cell) -> str | None:
    part = relation.by.parts[0].expression
    q, k = (evaluate(part, cell.token(side)) for side in (Side.QUERY, Side.KEY))
    behind, ahead = evaluate(relation.behind, cell), evaluate(relation.ahead, cell)
    if type(q) is not int or type(k) is not int or behind is None or ahead is None:
        return None
    side, reach = ("behind", behind) if k < q else ("ahead of", ahead)
    return f"{key} is {abs(q - k):,} {side} {query}, the window reaches {show(reach)} {side.split()[0]}"


def _missing(relation: ir.Relation, by: ir.By, cell: Cell) -> str | None:
    """Where a token lacks a coordinate, or numbers count in different parents."""
    for part in by.parts:
        for side, who in ((Side.QUERY, "query"), (Side.KEY, "key")):
            if evaluate(part.expression, cell.token(side)) is None:
                return f"the {who} has no {_name(relation, by, part)}"
        if part.enclosing is not None and not common_parents(part.enclosing, cell):
            return f"query and key lie in different {' or '.join(part.enclosing.names)}"
    return None


def _name(relation: ir.Relation, by: ir.By, part: ir.Part) -> str:
    """What the text calls a coordinate; one that a relation takes by itself has its own name."""
    expression = part.expression
    if not isinstance(expression, ir.Coordinate):
        return _said(relation, by)
    if expression.region is None:
        return expression.kind.value
    number = expression.kind is CoordinateKind.NUMBER
    return expression.region if number else f"{expression.region}.{expression.kind.value}"


def _said(relation: ir.Relation, by: ir.By) -> str:
    """What stands behind `by` or `same`; a relation without one has the whole relation as its span."""
    return text_of(by.span) if by.span is not None and by.span != relation.span else "place"


def _value(relation: ir.Relation, by: ir.By, side: Side, cell: Cell) -> str:
    """`query's block 2`, or `query's (block, at) (2, 5)`."""
    values = [_shown(evaluate(part.expression, cell.token(side))) for part in by.parts]
    who = "query's" if side is Side.QUERY else "key's"
    if len(by.parts) == 1:
        return f"{who} {_name(relation, by, by.parts[0])} {values[0]}"
    names = [_name(relation, by, part) for part in by.parts]
    plain = all(isinstance(part.expression, ir.Coordinate) for part in by.parts)
    name = f"({', '.join(names)})" if plain else _said(relation, by)
    return f"{who} {name} ({', '.join(values)})"


def _compared(relation: ir.Relation, cell: Cell) -> str:
    by = _by_of(relation)
    if by is None or _missing(relation, by, cell) is not None:
        return ""
    return f": {_value(relation, by, Side.QUERY, cell)}, {_value(relation, by, Side.KEY, cell)}"


def _condition(expression: ir.Expression, cell: Cell) -> str:
    match expression:
        case ir.AllOf(_, parts):
            return _condition(next(part for part in parts if not true(part, cell)), cell)
        case ir.AnyOf(_, parts):
            return ", and ".join(_condition(part, cell) for part in parts)
        case ir.Comparison(_, operator, left, right):
            values = [_shown(evaluate(side, cell)) for side in (left, right)]
            return f"{_quoted(expression.span)} fails: {values[0]} {operator.value} {values[1]}"
    return f"{_quoted(expression.span)} fails"


def _shown(value: Value | None) -> str:
    if value is None:
        return "absent"
    text = show(value) if value is ANY or not isinstance(value, int) else str(arithmetic.number(value, "it"))
    return _cut(text, 40)
