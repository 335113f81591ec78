"""Relations as terms."""

from __future__ import annotations

from compilemask.errors import InternalError
from compilemask.intervals.separation import condition_term, sides_of, to_this
from compilemask.intervals.terms import (
    ALWAYS,
    NEVER,
    Compare,
    Coord,
    Enclosed,
    Expressed,
    Order,
    Present,
    Special,
    Term,
    WindowEnd,
    conjunction,
    disjunction,
    negation,
)
from compilemask.language import program as ir
from compilemask.language.values import ANY


def relation_term(relation: ir.Relation) -> Term:
    """The term of a relation between a query and a key."""
    match relation:
        case ir.AllPairs():
            return ALWAYS
        case ir.NoPairs():
            return NEVER
        case ir.Both(parts=parts):
            return conjunction(*(relation_term(part) for part in parts))
        case ir.Either(parts=parts):
            return disjunction(*(relation_term(part) for part in parts))
        case ir.Complement(relation=inner):
            return negation(relation_term(inner))
        case ir.Condition(expression=expression):
            return condition_term(expression)
        case ir.Same(by=by):
            equal = [Compare(Expressed((p.expression,)), Expressed((p.expression,)), 0, Order.EQUAL) for p in by.parts]
            return conjunction(*equal, *_enclosed(by))
        case ir.Causal(by=by):
            return conjunction(Compare(_lexical(by), _lexical(by), 0, Order.AT_MOST), *_enclosed(by))
        case ir.Before(by=by):
            return conjunction(Compare(_lexical(by), _lexical(by), -1, Order.AT_MOST), *_enclosed(by))
        case ir.Window():
            return _window(relation)
        case ir.Disc() | ir.Box() | ir.Path() | ir.Rectangles() | ir.IntervalLists() | ir.RandomKeys():
            return conjunction(Special(relation), *_enclosed(relation.by))
    raise InternalError(f"relation {relation} is not known")


def _lexical(by: ir.By) -> Coord:
    return Expressed(tuple(part.expression for part in by.parts))


def _enclosed(by: ir.By) -> list[Term]:
    return [Enclosed(part.enclosing) for part in by.parts if part.enclosing is not None]


def _window(relation: ir.Window) -> Term:
    expression = relation.by.parts[0].expression
    coordinate = Expressed((expression,))
    terms: list[Term] = []
    for bound, sign, order in ((relation.behind, -1, Order.AT_LEAST), (relation.ahead, 1, Order.AT_MOST)):
        if isinstance(bound, ir.Constant):
            if bound.value is ANY:
                terms += [Present(True, expression), Present(False, expression)]
            else:
                assert isinstance(bound.value, int)
                terms.append(Compare(coordinate, coordinate, sign * bound.value, order))
        else:
            assert sides_of(bound)
            terms += [Present(True, to_this(bound))]
            terms.append(Compare(WindowEnd(expression, to_this(bound), sign), coordinate, 0, order))
    return conjunction(*terms, *_enclosed(relation.by))
