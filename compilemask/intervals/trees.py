"""`path(parents)`: keys on the way from the query's node to the root.

Row form asks for every ancestor. Numbered in depth-first order, the descendants of a node are one range, so the
column form asks for one range of the queries' numbers.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import plan as plans
from compilemask.intervals import terms
from compilemask.intervals.by_value import different
from compilemask.intervals.join import Keys, Requests
from compilemask.intervals.plan import Plan
from compilemask.intervals.solve import Conjunction, Form, Solver
from compilemask.intervals.vector import Tokens, value_error
from compilemask.intervals.vectors import evaluate
from compilemask.language import program as ir
from compilemask.language.program import Side
from compilemask.language.values import ListValue

Ints = NDArray[np.int64]


def path_plan(solver: Solver, relation: ir.Path, joined: Conjunction, form: Form) -> Plan:
    """The plan of a path; where the parents depend on the query, one for each list."""
    parents = evaluate(relation.parents, dict.fromkeys(Side, Tokens(solver.queries, joined.queries)))
    if parents.values.ndim == 0:
        return _of_parents(solver, relation, parents.values[()], joined, form)
    first, number = different([parents.values], parents.values.size)
    found: list[Plan] = []
    for place, value in enumerate(parents.values[first].tolist()):
        chosen = number == place
        if parents.present is not None:
            chosen &= parents.present
        part = Conjunction(joined.queries, joined.keys, [dataclasses.replace(pair) for pair in joined.equal])
        part.keep(True, chosen)
        if part.queries.size:
            found.append(_of_parents(solver, relation, value, part, form))
    return plans.union(found) if found else plans.Nothing(*solver.shape(form))


def _of_parents(solver: Solver, relation: ir.Path, value: object, joined: Conjunction, form: Form) -> Plan:
    from compilemask.intervals.specials import classed, repeated

    if not isinstance(value, ListValue) or value.array is None:
        raise value_error("the parents of `path` are no list of numbers", relation.parents.span)
    tree = Tree(value.array.astype(np.int64), relation)
    coord = terms.Expressed((relation.by.parts[0].expression,))
    query = solver.coordinate(coord, Tokens(solver.queries, joined.queries))
    key = solver.coordinate(coord, Tokens(solver.keys, joined.keys))
    asking, asked, count = classed(joined, relation.by, query, key)
    lost = (asking.values < 0) | (asking.values >= tree.parents.size)
    if lost.any():
        node = int(asking.values[lost][0])
        raise value_error(f"node {node} has no entry among {tree.parents.size} parents", relation.span)
    inside = (asked.values >= 0) & (asked.values < tree.parents.size)
    asked.slots, asked.values = asked.slots[inside], asked.values[inside]
    asked.classes = None if asked.classes is None else asked.classes[inside]
    if not asking.slots.size or not asked.slots.size:
        return plans.Nothing(*solver.shape(form))
    ancestors = tree.depth[asking.values] + 1
    if form is Form.ROW and int(ancestors.sum()) > 8 * (asking.slots.size + asked.slots.size) + 1024:
        return plans.Turned(_of_parents(solver, relation, value, joined, Form.COLUMN))
    if form is Form.ROW:
        slots, classes, _ = repeated(asking, ancestors)
        nodes = tree.climb(asking.values, ancestors)
        keys = Keys(asked.slots, asked.classes, count, asked.values)
        return solver.join(Requests(slots, classes, nodes, nodes), keys, form)
    keys = Keys(asking.slots, asking.classes, count, tree.number[asking.values])
    low = tree.number[asked.values]
    high = low + tree.size[asked.values] - 1
    return solver.join(Requests(asked.slots, asked.classes, low, high), keys, form)


class Tree:
    """Depth, depth-first number and subtree size of every node."""

    def __init__(self, parents: Ints, relation: ir.Path) -> None:
        self.parents = parents
        count = parents.size
        if (parents >= count).any() or (parents < -1).any():
            raise value_error("a parent is outside of the list of `path`", relation.parents.span)
        self.depth = np.zeros(count, np.int64)
        level = np.flatnonzero(parents < 0)
        children = np.argsort(parents, kind="stable")
        begin = np.searchsorted(parents[children], np.arange(count))
        number_of = np.searchsorted(parents[children], np.arange(count), side="right") - begin
        levels = []
        while level.size:
            levels.append(level)
            counts = number_of[level]
            place = np.repeat(begin[level], counts) + _within(counts)
            below = children[place]
            self.depth[below] = len(levels)
            level = below
        if sum(part.size for part in levels) != count:
            raise value_error("the parents of `path` form a circle", relation.parents.span)
        self.size = np.ones(count, np.int64)
        for part in reversed(levels[1:]):
            np.add.at(self.size, parents[part], self.size[part])
        self.number = np.zeros(count, np.int64)
        for part in levels:
            # Siblings follow each other in `part`: a node's number is its parent's + 1 + sizes of earlier siblings.
            before = np.cumsum(self.size[part]) - self.size[part]
            first = np.flatnonzero(np.diff(parents[part], prepend=-2) != 0)
            which = np.cumsum(np.diff(parents[part], prepend=-2) != 0) - 1
            base = np.where(parents[part] < 0, 0, self.number[parents[part]] + 1)
            self.number[part] = base + before - before[first][which]

    def climb(self, nodes: Ints, counts: Ints) -> Ints:
        """Every node followed by its ancestors; `counts` = depth + 1."""
        result = np.empty(int(counts.sum()), np.int64)
        place = np.cumsum(counts) - counts
        current = nodes
        while current.size:
            result[place] = current
            current = self.parents[current]
            alive = current >= 0
            current, place = current[alive], place[alive] + 1
        return result


def _within(counts: Ints) -> Ints:
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(before, counts)
