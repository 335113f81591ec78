"""Relations that are not one range: they ask for several ranges a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError
from compilemask.intervals import linear, terms
from compilemask.intervals import plan as plans
from compilemask.intervals.boxes import box_plan, disc_plan
from compilemask.intervals.codes import combine, first_of_each, numbers
from compilemask.intervals.conjunction import Conjunction
from compilemask.intervals.coordinates import coordinate
from compilemask.intervals.draws import splitmix64
from compilemask.intervals.layers import ROWS_A_KIND
from compilemask.intervals.limits import check_cells, check_requests
from compilemask.intervals.opaque import opaque_plan
from compilemask.intervals.plan import Plan
from compilemask.intervals.requests import Keys, Requests, Side
from compilemask.intervals.solve import Form, Solver
from compilemask.intervals.terms import Term
from compilemask.intervals.trees import path_plan
from compilemask.intervals.vector import Tokens
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.distinct import distinct

Ints = NDArray[np.int64]
DRAWS_AT_ONCE = 1 << 22
DRAW_STEPS = 8  # for every pair that is drawn


def special_plan(solver: Solver, part: Term, joined: Conjunction, form: Form) -> Plan:
    """The plan of a relation that is not one comparison, within the equal classes of its conjunction."""
    if isinstance(part, terms.Or):
        return solver.plan(part, joined.queries, joined.keys, form)
    if isinstance(part, terms.Opaque):
        plan = opaque_plan(solver, part.condition, joined)
        return plan if form is Form.ROW else plans.Turned(plan)
    assert isinstance(part, terms.Special)
    match part.relation:
        case ir.Disc():
            return disc_plan(solver, part.relation, joined, form)
        case ir.Box():
            plan = box_plan(solver, part.relation, joined)
        case ir.Path():
            return path_plan(solver, part.relation, joined, form)
        case ir.Rectangles():
            return _rectangles(solver, part.relation, joined, form)
        case ir.IntervalLists():
            plan = _interval_lists(solver, part.relation, joined)
        case ir.RandomKeys():
            plan = _random(solver, part.relation, joined)
        case _:
            raise InternalError(f"relation {part.relation} is not known")
    return plan if form is Form.ROW else plans.Turned(plan)


def sides(solver: Solver, by: ir.By, joined: Conjunction) -> tuple[Side, Side, int]:
    """Queries and keys that have the relation's one coordinate, their classes, and the number of classes."""
    coord = terms.Expressed((by.parts[0].expression,))
    query = coordinate(coord, Tokens(solver.queries, joined.queries))
    key = coordinate(coord, Tokens(solver.keys, joined.keys))
    return classed(joined, by, query, key)


def classed(joined: Conjunction, by: ir.By, query: Any, key: Any) -> tuple[Side, Side, int]:
    """As `sides`, for coordinates at hand."""
    pairs: list[tuple[NDArray[Any], NDArray[Any]]] = [(pair.query, pair.key) for pair in joined.equal]
    query_class, key_class, count = combine(pairs) if pairs else (None, None, 1)
    span = by.parts[0].expression.span
    made = []
    for slots, classes, vector in ((joined.queries, query_class, query), (joined.keys, key_class, key)):
        values = numbers(vector.values, span)
        if vector.present is not None:
            slots, values = slots[vector.present], values[vector.present]
            classes = None if classes is None else classes[vector.present]
        made.append(Side(slots, classes, values))
    return made[0], made[1], count


def repeated(side: Side, counts: Ints) -> tuple[Ints, Ints | None, Ints]:
    """Slots and classes of tokens repeated, and the token of every repetition."""
    own = np.repeat(np.arange(side.slots.size), counts)
    return side.slots[own], None if side.classes is None else side.classes[own], own


def _rectangles(solver: Solver, relation: ir.Rectangles, joined: Conjunction, form: Form) -> Plan:
    query, key, count = sides(solver, relation.by, joined)
    q0, q1, k0, k1, low, high = relation.rows.T
    if form is Form.COLUMN:
        query, key = key, query
        q0, q1, k0, k1 = k0, k1, q0, q1
        low, high = -np.maximum(high, -(2**62)), -np.maximum(low, -(2**62))
    order = np.argsort(query.values, kind="stable")
    ordered = query.values[order]
    first, last = np.searchsorted(ordered, q0), np.searchsorted(ordered, q1)
    counts = np.maximum(last - first, 0)
    check_requests(int(counts.sum()), relation.span)
    token = order[linear.ranges(first, counts)]
    own = np.repeat(np.arange(q0.size), counts)
    place = query.values[token]
    bound = 2**61
    at_least = np.maximum(k0[own], place + np.clip(low, -bound, bound)[own])
    at_most = np.minimum(k1[own] - 1, place + np.clip(high, -bound, bound)[own])
    classes = None if query.classes is None else query.classes[token]
    return solver.join(
        Requests(query.slots[token], classes, at_least, at_most), Keys(key.slots, key.classes, count, key.values), form
    )


def _interval_lists(solver: Solver, relation: ir.IntervalLists, joined: Conjunction) -> Plan:
    query, key, count = sides(solver, relation.by, joined)
    entries = relation.offsets.size - 1
    inside = (query.values >= 0) & (query.values < entries)
    entry = np.where(inside, query.values, 0)
    counts = np.where(inside, np.diff(relation.offsets)[entry], 0) if entries else np.zeros(entry.size, np.int64)
    check_requests(int(counts.sum()), relation.span)
    slots, classes, _ = repeated(query, counts)
    place = linear.ranges(relation.offsets[:-1][entry], counts) if entries else np.zeros(0, np.int64)
    requests = Requests(slots, classes, relation.starts[place], relation.ends[place] - 1)
    return solver.join(requests, Keys(key.slots, key.classes, count, key.values), Form.ROW)


def _random(solver: Solver, relation: ir.RandomKeys, joined: Conjunction) -> Plan:
    query, key, count = sides(solver, relation.by, joined)
    columns = [query.values] if query.classes is None else [query.classes, query.values]
    alike = first_of_each(columns, query.slots.size // ROWS_A_KIND)
    if alike is None:
        return _random_of(solver, relation, query, key, count)
    first, kind = alike
    asking = Side(query.slots[first], None if query.classes is None else query.classes[first], query.values[first])
    return solver.spread(_random_of(solver, relation, asking, key, count), query.slots, first, kind)


def _random_of(solver: Solver, relation: ir.RandomKeys, query: Side, key: Side, count: int) -> Plan:
    pool = _pool(solver, relation)
    asked, inverse = np.unique(query.values, return_inverse=True)
    check_cells(asked.size * pool.size, DRAW_STEPS + relation.count // 32, "`random`", relation.span)
    effort.spend(asked.size * pool.size * (DRAW_STEPS + relation.count // 32), relation.span)
    check_requests(query.slots.size * min(relation.count, pool.size), relation.span)
    chosen = _draws(relation.seed, asked, pool, relation.count)
    width = chosen.shape[1]
    slots, classes, _ = repeated(query, np.full(query.slots.size, width, np.int64))
    points = chosen[inverse.reshape(-1)].reshape(-1)
    return solver.join(
        Requests(slots, classes, points, points), Keys(key.slots, key.classes, count, key.values), Form.ROW
    )


def _pool(solver: Solver, relation: ir.RandomKeys) -> Ints:
    """The distinct values of the coordinate on the whole key axis, padding aside."""
    slots = np.flatnonzero(~solver.keys.padding)
    coord = terms.Expressed((relation.by.parts[0].expression,))
    vector = coordinate(coord, Tokens(solver.keys, slots))
    values = numbers(vector.values, relation.span)
    return distinct(values if vector.present is None else values[vector.present])


def _draws(seed: int, asked: Ints, pool: Ints, count: int) -> Ints:
    """[asked, count] the values of the pool with the smallest draws, ascending; no two draws are equal."""
    count = min(count, pool.size)
    chosen = np.zeros((asked.size, count), np.int64)
    if not count:
        return chosen
    base = splitmix64(np.array([seed % 2**64], np.uint64))
    step = max(1, DRAWS_AT_ONCE // pool.size)
    for i in range(0, asked.size, step):
        start = splitmix64(base ^ asked[i : i + step].astype(np.uint64))
        draws = splitmix64(start[:, None] ^ pool.astype(np.uint64)[None, :])
        chosen[i : i + step] = pool[np.sort(np.argpartition(draws, count - 1, axis=1)[:, :count], axis=1)]
    return chosen
