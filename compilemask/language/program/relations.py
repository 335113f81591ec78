"""Relations of the bound program, and the coordinates that they compare."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from compilemask.language.program.expressions import Bound, Enclosing, Expression


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
