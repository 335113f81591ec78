"""What relations become before they are lowered: a boolean tree over few kinds of comparison.

A `Compare` relates one coordinate of the query with one of the key; it is what binary search answers. Filters concern
one side only. Everything that is neither stays as it was written and has its own way to intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from compilemask.language import program as ir


class Coord:
    """A number per token of one axis. Equal objects give equal numbers, so comparisons of one coordinate join."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Expressed(Coord):
    """The values of expressions of one token; several compare lexicographically."""

    parts: tuple[ir.Expression, ...]


@dataclass(frozen=True, slots=True)
class WindowEnd(Coord):
    """`expression + sign * bound`, unbounded where the bound is `any`; `checked`: a negative bound is an error."""

    expression: ir.Expression
    bound: ir.Expression
    sign: int
    checked: bool = True


@dataclass(frozen=True, slots=True)
class Enclosing(Coord):
    """The number of the instance of `outer` around the token's instance of `region`."""

    region: str
    outer: str


class Order(Enum):
    """How the key's coordinate relates to the query's coordinate plus a shift."""

    AT_LEAST = ">="
    AT_MOST = "<="
    EQUAL = "=="


class Term:
    """A condition on a query and a key."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Always(Term):
    """Every pair."""


@dataclass(frozen=True, slots=True)
class Never(Term):
    """No pair."""


@dataclass(frozen=True, slots=True)
class And(Term):
    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Or(Term):
    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Not(Term):
    part: Term


@dataclass(frozen=True, slots=True)
class Filter(Term):
    """A condition on one token: of the query, or of the key."""

    of_query: bool
    condition: ir.Expression


@dataclass(frozen=True, slots=True)
class Present(Term):
    """The token has a value of this expression."""

    of_query: bool
    expression: ir.Expression


@dataclass(frozen=True, slots=True)
class Compare(Term):
    """key coordinate `order` query coordinate + shift; false where one is absent."""

    query: Coord
    key: Coord
    shift: int
    order: Order


@dataclass(frozen=True, slots=True)
class Enclosed(Term):
    """Query and key lie in common instances as far as both have them."""

    enclosing: ir.Enclosing


@dataclass(frozen=True, slots=True)
class Special(Term):
    """Disc, box, path, rectangles, interval lists or random keys."""

    relation: ir.Relation


@dataclass(frozen=True, slots=True)
class Opaque(Term):
    """A condition with no better way than to evaluate it for pairs of different tokens."""

    condition: ir.Expression


ALWAYS = Always()
NEVER = Never()


def conjunction(*parts: Term) -> Term:
    """All parts, flattened."""
    flat: list[Term] = []
    for part in parts:
        if isinstance(part, Never):
            return NEVER
        if isinstance(part, And):
            flat += part.parts
        elif not isinstance(part, Always):
            flat.append(part)
    if not flat:
        return ALWAYS
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def disjunction(*parts: Term) -> Term:
    """Any part, flattened."""
    flat: list[Term] = []
    for part in parts:
        if isinstance(part, Always):
            return ALWAYS
        if isinstance(part, Or):
            flat += part.parts
        elif not isinstance(part, Never):
            flat.append(part)
    if not flat:
        return NEVER
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def negation(part: Term) -> Term:
    """Not the part."""
    match part:
        case Always():
            return NEVER
        case Never():
            return ALWAYS
        case Not(part=inner):
            return inner
    return Not(part)
