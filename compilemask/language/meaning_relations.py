"""Whether a relation holds for one query and one key."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from compilemask.language import arithmetic
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.meaning_values import Cell, Token, common_parents, evaluate, true
from compilemask.language.program import Side
from compilemask.language.values import ANY, Value

_WORD = 2**64 - 1


def holds(relation: ir.Relation, cell: Cell) -> bool:
    """Whether a relation holds for a query and a key."""
    match relation:
        case ir.AllPairs():
            return True
        case ir.NoPairs():
            return False
        case ir.Both(_, parts):
            return all(holds(part, cell) for part in parts)
        case ir.Either(_, parts):
            return any(holds(part, cell) for part in parts)
        case ir.Complement(_, inner):
            return not holds(inner, cell)
        case ir.Condition(_, expression):
            return true(expression, cell)
    return _COMPARED[type(relation)](relation, cell)


def _pairs(by: ir.By, cell: Cell) -> list[tuple[Value, Value]] | None:
    """The query's and the key's value of every part; None where one is absent or parents differ."""
    pairs: list[tuple[Value, Value]] = []
    for part in by.parts:
        q = evaluate(part.expression, cell.token(Side.QUERY))
        k = evaluate(part.expression, cell.token(Side.KEY))
        if q is None or k is None or (part.enclosing is not None and not common_parents(part.enclosing, cell)):
            return None
        pairs.append((q, k))
    return pairs


def _numbers(by: ir.By, cell: Cell) -> list[tuple[int, int]] | None:
    pairs = _pairs(by, cell)
    if pairs is None:
        return None
    return [(arithmetic.number(q, "a coordinate"), arithmetic.number(k, "a coordinate")) for q, k in pairs]


def _same(relation: ir.Same, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and all(arithmetic.equal(q, k) for q, k in pairs)


def _causal(relation: ir.Causal, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and not _query_first(pairs)


def _before(relation: ir.Before, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and _query_first([(k, q) for q, k in pairs])


def _query_first(pairs: list[tuple[Value, Value]]) -> bool:
    """Whether the first values are lexicographically smaller than the second ones."""
    for first, second in pairs:
        if not arithmetic.equal(first, second):
            return arithmetic.less(first, second)
    return False


def _window(relation: ir.Window, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    behind, ahead = evaluate(relation.behind, cell), evaluate(relation.ahead, cell)
    if pairs is None or behind is None or ahead is None:
        return False
    for side, value in (("behind", behind), ("ahead", ahead)):
        if value is not ANY and arithmetic.number(value, f"`{side}`") < 0:
            raise EvaluationError(f"`{side}` is {value}: a window counts keys beside the query's own", slot=cell.q)
    distance = pairs[0][0] - pairs[0][1]
    return not arithmetic.less(behind, distance) and not arithmetic.less(ahead, -distance)


def _disc(relation: ir.Disc, cell: Cell) -> bool:
    pairs, radius = _numbers(relation.by, cell), evaluate(relation.radius, cell)
    if pairs is None or radius is None:
        return False
    reach = arithmetic.number(radius, "the radius")
    if reach < 0:
        raise EvaluationError(f"the radius is {reach}", slot=cell.q)
    squared = sum((q - k) ** 2 for q, k in pairs)
    return isqrt(squared) < reach or (relation.inclusive and squared == reach * reach)


def _box(relation: ir.Box, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    for side, part, (q, k) in zip(relation.sides, relation.by.parts, pairs, strict=True):
        if side.size is not None and not _in_side(side, q, k, extent(part, cell.token(Side.KEY))):
            return False
        if (q - k) % side.dilation:
            return False
    return True


def extent(part: ir.Part, key: Token) -> int:
    """The largest value of a box's coordinate among the tokens that share the key's region, plus 1."""
    axis = key.axis
    group = axis.innermost() if part.extent_region is None else axis.siblings(part.extent_region)
    slots = np.flatnonzero((group == group[key.slot]) & ~axis.padding)
    values = [evaluate(part.expression, Token(axis, int(slot))) for slot in slots]
    return 1 + max(value for value in values if type(value) is int)


def _in_side(side: ir.BoxSide, q: int, k: int, extent: int) -> bool:
    residue = q % side.dilation
    positions = -((residue - extent) // side.dilation)
    own, j, size = q // side.dilation, k // side.dilation, side.size or 0
    middle = side.stride - 1 if side.causal else side.stride // 2
    p = min(own // side.stride * side.stride + middle, positions - 1)
    if side.causal:
        return p - size < j <= own
    behind = size // 2 if side.lean is not ir.Lean.AHEAD else size - 1 - size // 2
    ahead = size - 1 - behind
    if side.edge is ir.Edge.CUT:
        return p - behind <= j <= p + ahead
    start = min(max(p - behind, 0), max(positions - size, 0))
    return start <= j < start + size


def _path(relation: ir.Path, cell: Cell) -> bool:
    pairs, parents = _numbers(relation.by, cell), evaluate(relation.parents, cell)
    if pairs is None or parents is None:
        return False
    node, wanted = pairs[0]
    up = arithmetic.numbers(parents, "the parents")
    for _ in range(len(up) + 1):
        if node == wanted:
            return True
        if not 0 <= node < len(up):
            raise EvaluationError(f"node {node} has no entry among {len(up)} parents", slot=cell.q)
        node = up[node]
        if node == -1:
            return False
    raise EvaluationError("the parents run in a circle", slot=cell.q)


def _rectangles(relation: ir.Rectangles, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    q, k = pairs[0]
    return any(
        q0 <= q < q1 and k0 <= k < k1 and low <= k - q <= high for q0, q1, k0, k1, low, high in relation.rows.tolist()
    )


def _intervals(relation: ir.IntervalLists, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None or not 0 <= pairs[0][0] < len(relation.offsets) - 1:
        return False
    q, k = pairs[0]
    return any(
        int(relation.starts[i]) <= k < int(relation.ends[i])
        for i in range(int(relation.offsets[q]), int(relation.offsets[q + 1]))
    )


def _random(relation: ir.RandomKeys, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    q, k = pairs[0]
    tokens = [Token(cell.keys, slot) for slot in range(cell.keys.length) if not cell.keys.padding[slot]]
    found = {evaluate(relation.by.parts[0].expression, token) for token in tokens}
    values = sorted(value for value in found if type(value) is int)
    drawn = sorted(values, key=lambda value: (draw(relation.seed, q, value), value))
    return k in drawn[: relation.count]


def draw(seed: int, q: int, value: int) -> int:
    """The draw of key value `value` for query value `q`, unsigned 64 bit."""
    return splitmix64(splitmix64(splitmix64(seed) ^ (q & _WORD)) ^ (value & _WORD))


def splitmix64(z: int) -> int:
    """One step of splitmix64 (Steele, Lea, Flood 2014)."""
    z = (z + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


_COMPARED: dict[type, Callable[..., bool]] = {
    ir.Same: _same,
    ir.Causal: _causal,
    ir.Before: _before,
    ir.Window: _window,
    ir.Disc: _disc,
    ir.Box: _box,
    ir.Path: _path,
    ir.Rectangles: _rectangles,
    ir.IntervalLists: _intervals,
    ir.RandomKeys: _random,
}
