"""Discs and boxes: every row asks, for each value of the leading coordinates, for one range of the last coordinate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear, terms
from compilemask.intervals import plan as plans
from compilemask.intervals.codes import first_of_each, joint_codes, numbers
from compilemask.intervals.conjunction import Conjunction
from compilemask.intervals.coordinates import coordinate
from compilemask.intervals.grid_requests import Asked, Points, equal_boxes, equal_discs
from compilemask.intervals.layers import ROWS_A_KIND
from compilemask.intervals.limits import check_runs
from compilemask.intervals.plan import Plan
from compilemask.intervals.requests import Keys, Requests
from compilemask.intervals.solve import Form, Solver
from compilemask.intervals.vector import Tokens, value_error
from compilemask.intervals.vectors import evaluate
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.program import Side

Ints = NDArray[np.int64]
Places = NDArray[np.integer]


def _points(solver: Solver, by: ir.By, joined: Conjunction) -> tuple[Points, Points]:
    """Queries and keys with all coordinates; equal classes have equal numbers on both sides."""
    from compilemask.intervals.codes import combine

    pairs = [(pair.query, pair.key) for pair in joined.equal]
    if pairs:
        query_class, key_class, _ = combine(pairs)
    else:
        query_class, key_class = np.zeros(joined.queries.size, np.int64), np.zeros(joined.keys.size, np.int64)
    made = []
    for axis, slots, classes in (
        (solver.queries, joined.queries, query_class),
        (solver.keys, joined.keys, key_class),
    ):
        columns = []
        present = np.ones(slots.size, np.bool_)
        for part in by.parts:
            vector = coordinate(terms.Expressed((part.expression,)), Tokens(axis, slots))
            columns.append(numbers(vector.values, part.expression.span))
            if vector.present is not None:
                present &= vector.present
        made.append(Points(slots, classes, np.stack(columns, axis=1)).part(present))
    return made[0], made[1]


def disc_plan(solver: Solver, relation: ir.Disc, joined: Conjunction, form: Form) -> Plan:
    """Squared distance below, or up to, radius^2."""
    query, key = _points(solver, relation.by, joined)
    if not query.slots.size or not key.slots.size:
        return plans.Nothing(*solver.shape(form))
    if form is Form.COLUMN:
        if not isinstance(relation.radius, ir.Constant):
            return plans.Turned(disc_plan(solver, relation, joined, Form.ROW))
        query, key = key, query
    radius = evaluate(relation.radius, dict.fromkeys(Side, Tokens(solver.queries, query.slots)))
    amount = np.broadcast_to(numbers(radius.values, relation.span), query.slots.shape)
    if radius.present is not None:
        kept = np.broadcast_to(radius.present, query.slots.shape)
        query, amount = query.part(kept), amount[kept]
    if amount.size and int(amount.min()) < 0:
        raise value_error(f"the radius of the disc is {int(amount.min())}", relation.span, "a radius is 0 or more")
    room = amount * amount - (0 if relation.inclusive else 1)
    kept = room >= 0
    query, room = query.part(kept), room[kept]
    dimensions = query.values.shape[1]
    if room.size and dimensions > 1 and (room == room[0]).all():
        asked = equal_discs(query, key, int(room[0]), relation.span)
        if asked is not None:
            return _ask_side_by_side(solver, asked, key, form)
    own = np.arange(query.slots.size)
    classes, key_classes = query.classes, key.classes
    for axis in range(dimensions - 1):
        reach = _root(room)
        center = query.values[own, axis]
        least, most = int(key.values[:, axis].min()), int(key.values[:, axis].max())
        low, high = np.maximum(center - reach, least), np.minimum(center + reach, most)
        counts = np.maximum(high - low + 1, 0)
        check_runs(counts, relation.span)
        value = linear.ranges(low, counts)
        room = np.repeat(room, counts) - (value - np.repeat(center, counts)) ** 2
        own, classes = np.repeat(own, counts), np.repeat(classes, counts)
        size = most - least + 1
        classes, key_classes = classes * size + (value - least), key_classes * size + (key.values[:, axis] - least)
    reach = _root(room)
    center = query.values[own, -1]
    return _ask(solver, query.slots[own], classes, center - reach, center + reach, key, key_classes, form)


def _root(values: Ints) -> Ints:
    """Integer square roots of numbers >= 0."""
    table_size = int(values.max(initial=0)) + 1
    if table_size <= 1 << 20:
        table = np.floor(np.sqrt(np.arange(table_size, dtype=np.float64))).astype(np.int64)
        return table[values]
    root = np.sqrt(values.astype(np.float64)).astype(np.int64)
    root -= root * root > values
    root += (root + 1) * (root + 1) <= values
    return root


def _ask(
    solver: Solver, rows: Ints, classes: Places, low: Places, high: Places, key: Points, key_classes: Ints, form: Form
) -> Plan:
    """Requests for ranges of the last coordinate."""
    if not rows.size:
        return plans.Nothing(*solver.shape(form))
    most = int(max(key_classes.max(), classes.max()))
    if most > 1 << 24:
        classes, key_classes, most = joint_codes(classes, key_classes)
    keys = Keys(key.slots, key_classes, most + 1, key.values[:, -1])
    return solver.join(Requests(rows, classes, low, high), keys, form)


def _ask_side_by_side(solver: Solver, asked: Asked, key: Points, form: Form) -> Plan:
    """The same for requests that are made in portions."""
    keys = Keys(key.slots, asked.key_classes, asked.class_count, key.values[:, -1])
    return solver.join(asked.requests, keys, form)


# ---------------------------------------------------------------- boxes


def box_plan(solver: Solver, relation: ir.Box, joined: Conjunction) -> Plan:
    """A product of one range per coordinate, in row form."""
    query, key = _points(solver, relation.by, joined)
    if not query.slots.size or not key.slots.size:
        return plans.Nothing(*solver.shape(Form.ROW))
    alike = first_of_each((query.classes, *query.values.T), query.slots.size // ROWS_A_KIND)
    if alike is None:
        return _box_of_points(solver, relation, query, key)
    first, kind = alike
    asking = Points(query.slots[first], query.classes[first], query.values[first])
    return solver.spread(_box_of_points(solver, relation, asking, key), query.slots, first, kind)


def _box_of_points(solver: Solver, relation: ir.Box, query: Points, key: Points) -> Plan:
    extents = np.stack([_extents(solver.keys, part, key.slots) for part in relation.by.parts], axis=1)
    reach = query.values.max(axis=0)
    moves = [i for i, side in enumerate(relation.sides) if _needs_extent(side, int(reach[i]), extents[:, i])]
    if not moves or (extents == extents[0]).all():
        return _box_of_extent(solver, relation, query, key, extents[0])
    found: list[Plan] = []
    for extent in np.unique(extents[:, moves], axis=0):
        chosen = (extents[:, moves] == extent).all(axis=1)
        whole = extents[0].copy()
        whole[moves] = extent
        found.append(_box_of_extent(solver, relation, query, key.part(chosen), whole))
    return plans.union(found)


def _needs_extent(side: ir.BoxSide, largest_query: int, extents: Ints) -> bool:
    if side.size is None:
        return False
    moves = side.stride > 1 or (side.edge is ir.Edge.SHIFT and not side.causal)
    return moves or largest_query >= int(extents.min())


def _extents(axis: Axis, part: ir.Part, slots: Ints) -> Ints:
    """Largest value + 1 of the coordinate in the region of every key."""
    group = axis.innermost() if part.extent_region is None else axis.siblings(part.extent_region)
    tokens = np.flatnonzero(group >= 0)
    vector = evaluate(part.expression, dict.fromkeys(Side, Tokens(axis, tokens)))
    values = np.broadcast_to(numbers(vector.values, part.expression.span), tokens.shape)
    if vector.present is not None:
        kept = np.broadcast_to(vector.present, tokens.shape)
        tokens, values = tokens[kept], values[kept]
    largest = np.full(int(group.max(initial=0)) + 1, -1, np.int64)
    np.maximum.at(largest, group[tokens], values)
    return largest[group[slots]] + 1


def side_range(side: ir.BoxSide, query: Ints, extent: int) -> tuple[Ints, Ints]:
    """The range [low, high] of key // dilation for every query coordinate; see `BoxSide`."""
    assert side.size is not None
    positions = query // side.dilation
    room = -(-(extent - query % side.dilation) // side.dilation)
    middle = side.stride - 1 if side.causal else side.stride // 2
    own = positions
    positions = np.minimum(positions // side.stride * side.stride + middle, room - 1)
    if side.causal:
        return positions - side.size + 1, own
    longer, shorter = side.size // 2, side.size - 1 - side.size // 2
    behind, ahead = (shorter, longer) if side.lean is ir.Lean.AHEAD else (longer, shorter)
    if side.edge is ir.Edge.SHIFT:
        start = np.clip(positions - behind, 0, np.maximum(room - side.size, 0))
        return start, start + side.size - 1
    return positions - behind, positions + ahead


def _box_of_extent(solver: Solver, relation: ir.Box, query: Points, key: Points, extent: Ints) -> Plan:
    query_class, key_class, steps = query.classes, key.classes, key.values.copy()
    low, high = np.empty_like(query.values), np.empty_like(query.values)
    for axis, side in enumerate(relation.sides):
        if side.dilation > 1:
            query_class = query_class * side.dilation + query.values[:, axis] % side.dilation
            key_class = key_class * side.dilation + key.values[:, axis] % side.dilation
            query_class, key_class = _small(query_class, key_class)
            steps[:, axis] //= side.dilation
        if side.size is None:
            low[:, axis], high[:, axis] = steps[:, axis].min(), steps[:, axis].max()
        else:
            low[:, axis], high[:, axis] = side_range(side, query.values[:, axis], int(extent[axis]))
    query, key = Points(query.slots, query_class, query.values), Points(key.slots, key_class, steps)
    asked = equal_boxes(query, key, low, high, relation.span)
    if asked is not None:
        return _ask_side_by_side(solver, asked, key, Form.ROW)
    return _ask_one_by_one(solver, relation, query, key, low, high)


def _ask_one_by_one(solver: Solver, relation: ir.Box, query: Points, key: Points, low: Ints, high: Ints) -> Plan:
    own = np.arange(query.slots.size)
    classes, key_classes = query.classes, key.classes
    for axis in range(len(relation.sides) - 1):
        values = key.values[:, axis]
        least, most = int(values.min()), int(values.max())
        first, last = np.maximum(low[own, axis], least), np.minimum(high[own, axis], most)
        counts = np.maximum(last - first + 1, 0)
        check_runs(counts, relation.span)
        value = linear.ranges(first, counts)
        own, classes = np.repeat(own, counts), np.repeat(classes, counts)
        size = most - least + 1
        classes, key_classes = _small(classes * size + (value - least), key_classes * size + (values - least))
    return _ask(solver, query.slots[own], classes, low[own, -1], high[own, -1], key, key_classes, Form.ROW)


def _small(classes: Ints, key_classes: Ints) -> tuple[Ints, Ints]:
    if max(int(classes.max(initial=0)), int(key_classes.max(initial=0))) < 1 << 40:
        return classes, key_classes
    return joint_codes(classes, key_classes)[:2]
