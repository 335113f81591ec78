"""Selectors of the bound program: sets of tokens of one axis. Expressions have side THIS; padding is never selected."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from compilemask.language.program.expressions import Bound, Expression


class End(Enum):
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Selector(Bound):
    """A set of tokens of one axis. Padding is in none."""


@dataclass(frozen=True, slots=True)
class AllTokens(Selector):
    """`everything`."""


@dataclass(frozen=True, slots=True)
class RegionTokens(Selector):
    """Tokens of region `path[-1]` that lies inside `path[-2]` and so on: `Axis.in_path(path)`."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberedTokens(Selector):
    """Tokens of `path` whose number of `path[-1]` equals `index`, an expression of the token (constant as a rule).

    Numbers that the text counts from the end have become COUNT minus that; a number that no instance has selects none.
    """

    path: tuple[str, ...]
    index: Expression


@dataclass(frozen=True, slots=True)
class RangeTokens(Selector):
    """Tokens of `path` with start <= number of `path[-1]` < stop; None: no bound. Never counts from the end."""

    path: tuple[str, ...]
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class EndTokens(Selector):
    """`first n of A`: tokens of A with at < n; `last n of A`: at >= size - n; at and size are those of `region`.

    `region` is the last name of A's path, or EVERYTHING. An absent count selects nothing; a negative one is an error.
    """

    end: End
    count: Expression
    region: str
    of: Selector


@dataclass(frozen=True, slots=True)
class WhereTokens(Selector):
    """Tokens of `of` for which `condition` holds; it is evaluated for those tokens only."""

    of: Selector
    condition: Expression


@dataclass(frozen=True, slots=True)
class UnionTokens(Selector):
    """Tokens of any part."""

    parts: tuple[Selector, ...]
