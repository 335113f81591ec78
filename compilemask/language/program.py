"""The bound program: a mask file with all sizes known, all names resolved and every `let` inlined.

It is what the oracle (`meaning`) evaluates one cell at a time and what `intervals` lowers for whole axes. Nothing in
here refers to a parameter: parameters are constants, `head` and `batch` are constants, `when` has been decided.

Absent values. A coordinate that a token lacks is absent. Arithmetic, lookups and functions with an absent operand are
absent; a comparison with an absent operand is false; an absent condition is false; a relation whose coordinate is
absent for either token is false. `and`, `or` and `if` evaluate from left to right and stop as soon as the result is
known. Conditions and relations are two-valued: `not` turns false into true even where something was absent.

Errors. Binding has evaluated whatever depends on one token, for every token that a rule selects (narrowed by the
conditions on one token that stand before it), and refused the program where that fails: a list index out of range, a
division by zero, an overflow, values of kinds that do not compare. A lowering may take what it cannot compute for other
tokens as absent. What depends on both tokens at once can still fail, and then is an error wherever it is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.values import Value
from compilemask.source import Diagnostic, Source, Span


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


class End(Enum):
    FIRST = "first"
    LAST = "last"


class Edge(Enum):
    """What a box does at the border: it is cut there, or it moves inwards and keeps its number of keys."""

    CUT = "cut"
    SHIFT = "shift"


class Lean(Enum):
    """Which side of an even box is longer; ODD where the size is odd and nothing leans."""

    BEHIND = "behind"
    AHEAD = "ahead"
    ODD = "odd"


@dataclass(frozen=True, slots=True)
class Bound:
    """Base of the nodes; the span is where the text says it and takes no part in equality."""

    span: Span | None = field(repr=False, compare=False)


# ---------------------------------------------------------------- expressions


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


# ---------------------------------------------------------------- selectors (sides THIS, padding never selected)


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


# ---------------------------------------------------------------- coordinates that relations compare


@dataclass(frozen=True, slots=True)
class Part:
    """One coordinate that a relation compares: `expression` (side THIS) is evaluated for the query and for the key.

    `enclosing` is set where it is a plain region number with parents: a pair that does not satisfy it is false.
    `extent_region`: over which tokens a box takes its extent: None for the key's innermost instance, else all instances
    of that region within the parent of the key's own (the part counts instances, so one instance has no extent).
    """

    expression: Expression
    enclosing: Enclosing | None = None
    extent_region: str | None = None


@dataclass(frozen=True, slots=True)
class By(Bound):
    """What a relation compares: one coordinate, or several, compared lexicographically. Any part absent: false."""

    parts: tuple[Part, ...]


# ---------------------------------------------------------------- relations


@dataclass(frozen=True, slots=True)
class Relation(Bound):
    """True or false for a query and a key; both are selected tokens, hence never padding."""


@dataclass(frozen=True, slots=True)
class AllPairs(Relation):
    """`all`."""


@dataclass(frozen=True, slots=True)
class NoPairs(Relation):
    """`none`."""


@dataclass(frozen=True, slots=True)
class Same(Relation):
    """`same C`, `self`, `within R`: q.C == k.C, part by part. Values may be of any type."""

    by: By


@dataclass(frozen=True, slots=True)
class Causal(Relation):
    """k.C <= q.C."""

    by: By


@dataclass(frozen=True, slots=True)
class Before(Relation):
    """k.C < q.C."""

    by: By


@dataclass(frozen=True, slots=True)
class Window(Relation):
    """-ahead <= q.C - k.C <= behind, one part. `behind` and `ahead` are numbers >= 0 or `any` (no bound).

    Both may use the query's coordinates; absent: false.
    """

    behind: Expression
    ahead: Expression
    by: By


@dataclass(frozen=True, slots=True)
class Disc(Relation):
    """Sum over parts of (q.C - k.C)^2 < radius^2, or <= where `inclusive`; radius >= 0, it may use the query's side."""

    radius: Expression
    inclusive: bool
    by: By


@dataclass(frozen=True, slots=True)
class BoxSide:
    """One coordinate of a box. size >= 1 keys, None: the whole axis; dilation, stride >= 1.

    Let q, k be the coordinates and E the key's extent (`Part.extent_region`): largest value there + 1.
    k must have q's residue modulo dilation: k % dilation == q % dilation. Count positions in steps of dilation:
    p = q // dilation, j = k // dilation, and e = ceil((E - q % dilation) / dilation) positions of that residue.
    Queries in groups of stride share the window of one member: p = min(p // stride * stride + middle, e - 1), with
    middle = stride // 2, or stride - 1 where causal.
    behind = size // 2 and ahead = size - 1 - behind where lean is BEHIND or ODD, the other way round where AHEAD.
    CUT: p - behind <= j <= p + ahead. SHIFT: start = clamp(p - behind, 0, max(e - size, 0)), start <= j < start + size.
    Causal, either edge: p - size < j <= q // dilation, so a query never looks ahead inside its group (NATTEN).
    """

    size: int | None
    edge: Edge
    lean: Lean
    dilation: int
    stride: int
    causal: bool


@dataclass(frozen=True, slots=True)
class Box(Relation):
    """Every coordinate lies in its side's range; `by.parts[i]` goes with `sides[i]`."""

    sides: tuple[BoxSide, ...]
    by: By


@dataclass(frozen=True, slots=True)
class Path(Relation):
    """k.C is q.C or one of its ancestors. `parents[c]` is c's parent, -1 for a root; it may be a list by query.

    Parents are checked (no circle, in range) where they are constant. One part.
    """

    parents: Expression
    by: By


@dataclass(frozen=True, slots=True, eq=False)
class Rectangles(Relation):
    """Some row (q0, q1, k0, k1, low, high) has q0 <= q.C < q1, k0 <= k.C < k1 and low <= k.C - q.C <= high.

    Unbounded diagonals are INT64_MIN and INT64_MAX. One part; `index` unless the text says `by`.
    """

    rows: NDArray[np.int64]  # [n, 6]
    by: By

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rectangles) and self.by == other.by and np.array_equal(self.rows, other.rows)

    def __hash__(self) -> int:
        return hash((self.by, self.rows.shape, self.rows[:4].tobytes()))


@dataclass(frozen=True, slots=True, eq=False)
class IntervalLists(Relation):
    """k.C lies in one of the intervals [start, end) of entry q.C; CSR: entry i holds offsets[i]:offsets[i + 1].

    Entries may touch, overlap and come in any order. A q.C outside of the entries sees nothing. One part, `index`
    unless the text says `by`.
    """

    offsets: NDArray[np.int64]  # [entries + 1]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    by: By

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IntervalLists)
            and self.by == other.by
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.ends, other.ends)
        )

    def __hash__(self) -> int:
        return hash((self.by, len(self.offsets), len(self.starts), self.starts[:8].tobytes()))


@dataclass(frozen=True, slots=True)
class RandomKeys(Relation):
    """k.C is one of the `count` distinct values of C on the key axis (padding aside) with the smallest draw.

    draw(q, v) = splitmix64(splitmix64(splitmix64(seed) xor q.C) xor v), unsigned 64 bit; ties go to the smaller value.
    splitmix64(z): z += 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) *
    0x94D049BB133111EB; z ^ z >> 31, all modulo 2^64 (Steele, Lea, Flood 2014). Values are >= 0. One part.
    """

    count: int
    seed: int
    by: By


@dataclass(frozen=True, slots=True)
class Both(Relation):
    """`and`; `a except b` is Both(a, Complement(b)); `r within R` is Both(r, Same(R))."""

    parts: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Either(Relation):
    """`or`."""

    parts: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Complement(Relation):
    """`not`."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class Condition(Relation):
    """A condition over the coordinates of the query and of the key (sides QUERY and KEY)."""

    expression: Expression


# ---------------------------------------------------------------- rules and program


@dataclass(frozen=True, slots=True)
class Rule(Bound):
    """`who sees whom : how` or, where `shows` is false, `who cannot see whom : how`.

    `number` counts the rules and limits of the file from 1, in the order in which they run.
    """

    number: int = field(compare=False)
    shows: bool
    who: Selector
    whom: Selector
    how: Relation


@dataclass(frozen=True, slots=True)
class Limit(Bound):
    """`limit : how`: visible only if it holds too."""

    number: int = field(compare=False)
    how: Relation


@dataclass(frozen=True, slots=True)
class RuleList:
    """The rules that run for one head of one sample, in their order, limits among them.

    visible(q, k) = neither is padding, the last rule whose who holds q, whose whom holds k and whose how holds for the
    pair shows, and every limit holds.
    """

    rules: tuple[Rule | Limit, ...]


@dataclass(frozen=True, slots=True)
class Order(Bound):
    """`order S stored by C`: the kernel sorts the tokens of S by C, stably, in the slots that S has, on both axes.

    `selector` and `coordinate` are None for `order best`. Never changes the mask.
    """

    selector: Selector | None
    coordinate: By | None


@dataclass(frozen=True, slots=True)
class Variant:
    """One distinct mask: two axes (the same object where the file has one layout) and the rules."""

    queries: Axis
    keys: Axis
    rules: RuleList
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole mask, bound. `variant[b][h]` is the place in `variants` of sample b and head h.

    A single row or column broadcasts: `batch` and `heads` are 1 where the file fixes neither. All variants have the
    same lengths. `diagnostics` holds warnings and notes only.
    """

    name: str
    title: str
    source: Source
    batch: int
    heads: int
    variants: tuple[Variant, ...]
    variant: tuple[tuple[int, ...], ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def query_length(self) -> int:
        return self.variants[0].queries.length

    @property
    def key_length(self) -> int:
        return self.variants[0].keys.length

    def variant_of(self, batch: int = 0, head: int = 0) -> Variant:
        """The mask of one sample and head; a program of one sample or one head serves every number."""
        row = self.variant[batch if self.batch > 1 else 0]
        return self.variants[row[head if self.heads > 1 else 0]]
