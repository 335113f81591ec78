"""Relations of a bound program, for every pair of some queries and some keys."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError
from compilemask.language import program as bound
from compilemask.language.axis import Axis
from compilemask.language.program import Side
from compilemask.language.values import ListValue
from compilemask.measure.oracle.expressions import (
    Environment,
    Tokens,
    common_parents,
    evaluate,
)
from compilemask.measure.oracle.operators import Bools
from compilemask.measure.oracle.vectors import Vector, elementwise, numbers, table_of, truth


class Pair(NamedTuple):
    """One coordinate of the query [m, 1] and of the key [1, n], and where both exist and lie in common parents."""

    query: Vector
    key: Vector
    valid: Bools


def holds(node: bound.Relation, where: Environment) -> Bools:
    """Where the relation holds, bool [m, n]."""
    return np.broadcast_to(_holds(node, where), _shape(where))


def _holds(node: bound.Relation, where: Environment) -> Bools:
    match node:
        case bound.AllPairs():
            return np.array(True)
        case bound.NoPairs():
            return np.array(False)
        case bound.Both():
            return reduce(np.logical_and, (holds(part, where) for part in node.parts))
        case bound.Either():
            return reduce(np.logical_or, (holds(part, where) for part in node.parts))
        case bound.Complement():
            return ~holds(node.relation, where)
        case bound.Condition():
            return truth(evaluate(node.expression, where))
        case bound.Same():
            return _same(_pairs(node.by, where))
        case bound.Causal():
            return _ordered(_pairs(node.by, where), strict=False)
        case bound.Before():
            return _ordered(_pairs(node.by, where), strict=True)
        case bound.Window():
            return _window(node, where)
    return _with_arguments(node, where)


def _with_arguments(node: bound.Relation, where: Environment) -> Bools:
    match node:
        case bound.Disc():
            return _disc(node, where)
        case bound.Box():
            return _box(node, where)
        case bound.Path():
            return _path(node, where)
        case bound.Rectangles():
            return _rectangles(node, where)
        case bound.IntervalLists():
            return _interval_lists(node, where)
        case bound.RandomKeys():
            return _random_keys(node, where)
    raise InternalError(f"the oracle does not know {type(node).__name__}")


def _pairs(by: bound.By, where: Environment) -> list[Pair]:
    return [_pair(part, where) for part in by.parts]


def _pair(part: bound.Part, where: Environment) -> Pair:
    query = evaluate(part.expression, Environment(this=where.query))
    key = evaluate(part.expression, Environment(this=where.key))
    valid = query.present & key.present
    if part.enclosing is not None:
        valid = valid & common_parents(part.enclosing, where)
    return Pair(query, key, valid)


def _integers(pair: Pair) -> tuple[NDArray[np.int64], NDArray[np.int64], Bools]:
    return numbers(pair.query).values, numbers(pair.key).values, pair.valid


def _valid(pairs: list[Pair]) -> Bools:
    return reduce(np.logical_and, (pair.valid for pair in pairs))


def _equal(pair: Pair) -> Bools:
    if pair.query.values.dtype == object or pair.key.values.dtype == object:
        return truth(elementwise(lambda a, b: a == b, pair.query, pair.key))
    result: Bools = pair.query.values == pair.key.values
    return result


def _same(pairs: list[Pair]) -> Bools:
    return reduce(np.logical_and, (_equal(pair) for pair in pairs)) & _valid(pairs)


def _ordered(pairs: list[Pair], *, strict: bool) -> Bools:
    """The key's coordinates come before the query's, compared from left to right."""
    result: Bools = np.array(not strict)
    for pair in reversed(pairs):
        q, k, _ = _integers(pair)
        result = (k < q) | ((k == q) & result)
    return result & _valid(pairs)


def _window(node: bound.Window, where: Environment) -> Bools:
    q, k, valid = _integers(_pair(node.by.parts[0], where))
    behind, ahead = numbers(evaluate(node.behind, where)), numbers(evaluate(node.ahead, where))
    distance = q - k
    return valid & behind.present & ahead.present & (distance <= behind.values) & (-ahead.values <= distance)


def _disc(node: bound.Disc, where: Environment) -> Bools:
    pairs = _pairs(node.by, where)
    radius = numbers(evaluate(node.radius, where))
    squares = [(q - k) ** 2 for q, k, _ in map(_integers, pairs)]
    total, limit = reduce(np.add, squares), radius.values**2
    return _valid(pairs) & radius.present & (total <= limit if node.inclusive else total < limit)


def _box(node: bound.Box, where: Environment) -> Bools:
    inside: Bools = np.array(True)
    for part, side in zip(node.by.parts, node.sides, strict=True):
        q, k, valid = _integers(_pair(part, where))
        extent = _extent(part, where.tokens(Side.KEY))
        inside = inside & valid & _in_side(side, q, k, extent)
    return inside


def _in_side(side: bound.BoxSide, q: NDArray[np.int64], k: NDArray[np.int64], extent: NDArray[np.int64]) -> Bools:
    """One coordinate of a box, word by word as `BoxSide` says."""
    residue = q % side.dilation
    own, j = q // side.dilation, k // side.dilation
    p = own
    positions = -(-(extent - residue) // side.dilation)
    same_residue: Bools = k % side.dilation == residue
    if side.stride > 1:
        middle = side.stride - 1 if side.causal else side.stride // 2
        p = np.minimum(p // side.stride * side.stride + middle, positions - 1)
    if side.size is None:
        return same_residue
    if side.causal:
        return same_residue & (p - side.size < j) & (j <= own)
    half = side.size // 2
    behind = side.size - 1 - half if side.lean is bound.Lean.AHEAD else half
    ahead = side.size - 1 - behind
    if side.edge is bound.Edge.CUT:
        return same_residue & (p - behind <= j) & (j <= p + ahead)
    start = np.clip(p - behind, 0, np.maximum(positions - side.size, 0))
    return same_residue & (start <= j) & (j < start + side.size)


def _extent(part: bound.Part, keys: Tokens) -> NDArray[np.int64]:
    """Largest value of the coordinate in the group of every key, plus 1."""
    axis = keys.axis
    whole = np.arange(axis.length, dtype=np.int64)
    values = numbers(evaluate(part.expression, Environment(this=Tokens(axis, whole))))
    group = axis.innermost() if part.extent_region is None else axis.siblings(part.extent_region)
    largest = np.full(int(group.max(initial=-1)) + 2, -1, np.int64)
    there = np.broadcast_to(values.present, whole.shape)
    np.maximum.at(largest, group[there], np.broadcast_to(values.values, whole.shape)[there])
    return largest[group[keys.slots]] + 1


def _shape(where: Environment) -> tuple[int, int]:
    """Queries and keys of the block."""
    return where.tokens(Side.QUERY).slots.shape[0], where.tokens(Side.KEY).slots.shape[1]


def _along_axes(pair: Pair, where: Environment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A coordinate of every query [m] and of every key [n]."""
    rows, columns = _shape(where)
    q = np.broadcast_to(numbers(pair.query).values, (rows, 1))[:, 0]
    return q, np.broadcast_to(numbers(pair.key).values, (1, columns))[0]


def _path(node: bound.Path, where: Environment) -> Bools:
    pair, parents = _pair(node.by.parts[0], where), evaluate(node.parents, where)
    q, k = _along_axes(pair, where)
    table, rows = table_of(parents), len(q)
    result = np.zeros(_shape(where), np.bool_)
    for i in range(rows):
        own = table
        if own is None:
            there = np.broadcast_to(parents.present, (rows, 1))[i, 0]
            own = np.broadcast_to(parents.values, (rows, 1))[i, 0] if there else ListValue([])
        result[i] = np.isin(k, _ancestors(own, int(q[i])))
    return result & pair.valid


def _ancestors(parents: ListValue, node: int) -> list[int]:
    found: list[int] = []
    while 0 <= node < len(parents) and len(found) <= len(parents):
        found.append(node)
        parent = parents[node]
        node = parent if isinstance(parent, int) else -1
    return found


def _rectangles(node: bound.Rectangles, where: Environment) -> Bools:
    pair = _pair(node.by.parts[0], where)
    q, k = _along_axes(pair, where)
    result = np.zeros(_shape(where), np.bool_)
    for i in range(len(q)):
        for q0, q1, k0, k1, low, high in node.rows[(node.rows[:, 0] <= q[i]) & (q[i] < node.rows[:, 1])].tolist():
            distance = k - q[i]
            result[i] |= (k0 <= k) & (k < k1) & (low <= distance) & (distance <= high) & (q0 < q1)
    return result & pair.valid


def _interval_lists(node: bound.IntervalLists, where: Environment) -> Bools:
    pair = _pair(node.by.parts[0], where)
    q, k = _along_axes(pair, where)
    result = np.zeros(_shape(where), np.bool_)
    for i in range(len(q)):
        if 0 <= q[i] < len(node.offsets) - 1:
            for place in range(int(node.offsets[q[i]]), int(node.offsets[q[i] + 1])):
                result[i] |= (node.starts[place] <= k) & (k < node.ends[place])
    return result & pair.valid


def _random_keys(node: bound.RandomKeys, where: Environment) -> Bools:
    pair = _pair(node.by.parts[0], where)
    q, k = _along_axes(pair, where)
    candidates = _candidates(node.by.parts[0], where.tokens(Side.KEY).axis)
    seed = _splitmix(np.array(node.seed & (2**64 - 1), np.uint64))
    result = np.zeros(_shape(where), np.bool_)
    for i in range(len(q)):
        draws = _splitmix(_splitmix(seed ^ q[i].astype(np.uint64)) ^ candidates.astype(np.uint64))
        chosen = candidates[np.argsort(draws, kind="stable")[: node.count]]
        result[i] = np.isin(k, chosen)
    return result & pair.valid


def _candidates(part: bound.Part, axis: Axis) -> NDArray[np.int64]:
    """The distinct values of a coordinate on the key axis, ascending."""
    slots = np.flatnonzero(~axis.padding)
    values = numbers(evaluate(part.expression, Environment(this=Tokens(axis, slots))))
    there = np.broadcast_to(values.present, slots.shape)
    return np.unique(np.broadcast_to(values.values, slots.shape)[there])


def _splitmix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One step of splitmix64 (Steele, Lea, Flood 2014), modulo 2^64."""
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
