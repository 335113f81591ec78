"""Expressions of the bound program: values of one token, or of a query and a key."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from compilemask.language.axis import CoordinateKind
from compilemask.language.values import Value
from compilemask.source import Span

if TYPE_CHECKING:
    from compilemask.language.program.selectors import Selector


class Side(Enum):
    """Whose coordinate: the query's (`q.`), the key's (`k.`), or that of the one token at hand."""

    THIS = "this"
    QUERY = "q"
    KEY = "k"


class ArithmeticOperator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    FLOOR_DIVIDE = "//"
    MODULO = "%"


class ComparisonOperator(Enum):
    LESS = "<"
    LESS_EQUAL = "<="
    EQUAL = "=="
    NOT_EQUAL = "!="
    GREATER_EQUAL = ">="
    GREATER = ">"
    IN = "in"
    NOT_IN = "not in"


class Function(Enum):
    """Functions of values; `count(list, x)` = entries <= x of a sorted list, `find(list, x)` = first place of x."""

    LEN = "len"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    RANGE = "range"
    DIFF = "diff"
    CUMSUM = "cumsum"
    RUNS = "runs"
    COUNT = "count"
    FIND = "find"
    MORTON = "morton"
    HILBERT = "hilbert"
    GRID = "grid"


@dataclass(frozen=True, slots=True)
class Bound:
    """Base of the nodes; the span is where the text says it and takes no part in equality."""

    span: Span | None = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Expression(Bound):
    """A value for one token (sides THIS), or for a query and a key (sides QUERY and KEY)."""


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A value known at binding: literal, parameter, `head`, `batch`, or anything folded from them."""

    value: Value


@dataclass(frozen=True, slots=True)
class Coordinate(Expression):
    """A coordinate of the token on `side`, as `Axis.column(kind, region)` gives it.

    `region` is a region's name, `EVERYTHING` for `everything.at` / `.size`, or None: AT and SIZE of the innermost
    region, INDEX, POS, T, Y, X. NUMBER always has a region.
    """

    side: Side
    kind: CoordinateKind
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Case(Bound):
    """One line of a `let` by region: the value for tokens that the selector holds."""

    selector: Selector
    value: Expression


@dataclass(frozen=True, slots=True)
class Cases(Expression):
    """The value of the last case whose selector holds the token on `side`; absent if none does."""

    side: Side
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """Integers, 64 bit, checked. `//` floors, `%` has the divisor's sign.

    `+` also joins two lists and `*` repeats a list. `any + n` and `any - n` are `any`, other arithmetic on
    `any` is an error.
    """

    operator: ArithmeticOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative(Expression):
    """`-x`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Lookup(Expression):
    """`list[index]`; the index counts from 0 and must lie inside: it never wraps (constant ones are folded before)."""

    values: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice(Expression):
    """`list[start:stop]`, clipped to the list; None is the list's own end."""

    values: Expression
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of values."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class RunningTotal(Expression):
    """`cumsum` of a number or condition over tokens: the sum over the token and all written before it on its axis.

    `operand` has side THIS. Absent values and padding count 0; the total itself is absent where the operand is.
    """

    side: Side
    operand: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """`value if condition else otherwise`."""

    condition: Expression
    value: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Enclosing:
    """Numbers compare only inside common parents.

    Holds for a pair if, for every region name P in `names`, the instances of P around the query's instance of
    `query_region` and around the key's instance of `key_region` have equal numbers, or one of the two has no P around
    it: a = queries.enclosing(query_region, P), b = keys.enclosing(key_region, P); a < 0 or b < 0 or a == b.
    """

    query_region: str
    key_region: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """`left operator right`, true or false; chains are split into an AND of these.

    `enclosing` is set where both operands are plain region numbers of the query and of the key that have common
    parents: a pair that does not satisfy it compares false. IN and NOT_IN have a list on the right; tuples and lists
    compare element by element; `any` equals itself only and is larger than every number.
    """

    operator: ComparisonOperator
    left: Expression
    right: Expression
    enclosing: Enclosing | None = None


@dataclass(frozen=True, slots=True)
class AllOf(Expression):
    """Conditions joined by `and`, from left to right."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Expression):
    """Conditions joined by `or`, from left to right."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    """`not condition`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Listing(Expression):
    """`[a, b]` and `(a, b)`; absent if a part is."""

    parts: tuple[Expression, ...]


def on_side(expression: Expression, side: Side) -> Expression:
    """The same expression with every coordinate taken from `side`; selectors and totals keep side THIS inside."""
    changes: dict[str, Any] = {}
    for part in fields(expression):
        value = getattr(expression, part.name)
        if isinstance(value, Side):
            changes[part.name] = side
        elif isinstance(value, Expression) and not isinstance(expression, RunningTotal):
            changes[part.name] = on_side(value, side)
        elif isinstance(value, tuple) and value and isinstance(value[0], Expression):
            changes[part.name] = tuple(on_side(item, side) for item in value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Case):
            changes[part.name] = tuple(replace(item, value=on_side(item.value, side)) for item in value)
    return replace(expression, **changes) if changes else expression
