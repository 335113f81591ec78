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
from compilemask.intervals.conjunction import Conjunction
from compilemask.intervals.coordinates import coordinate
from compilemask.intervals.plan import Plan
from compilemask.intervals.requests import Keys, Requests
from compilemask.intervals.solve import Form, Solver
from compilemask.intervals.vector import Tokens, value_error
from compilemask.intervals.vectors import evaluate
from compilemask.language import program as ir
from compilemask.language.program import Side
from compilemask.language.values import ListValue

Ints = NDArray[np.int64]

FEW_A_LEVEL = 64  # fewer nodes a level than this: going through them one by one is faster than level by level


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
    query = coordinate(coord, Tokens(solver.queries, joined.queries))
    key = coordinate(coord, Tokens(solver.keys, joined.keys))
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
        self.depth = _depths(parents, relation)
        order = np.argsort(self.depth, kind="stable")
        cuts = np.flatnonzero(np.diff(self.depth[order])) + 1
        if cuts.size * FEW_A_LEVEL > count:
            self.size, self.number = _numbered_one_by_one(parents.tolist(), order.tolist())
        else:
            self.size, self.number = _numbered_by_level(parents, np.split(order, cuts))

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


def _depths(parents: Ints, relation: ir.Path) -> Ints:
    """How many ancestors every node has, by following ever longer ways at once."""
    depth = (parents >= 0).astype(np.int64)
    ancestor = parents.copy()
    for _ in range(int(parents.size).bit_length() + 1):
        going = np.flatnonzero(ancestor >= 0)
        if not going.size:
            return depth
        beyond = ancestor[going]
        depth[going] += depth[beyond]
        ancestor[going] = ancestor[beyond]
    raise value_error("the parents of `path` form a circle", relation.parents.span)


def _numbered_by_level(parents: Ints, levels: list[Ints]) -> tuple[Ints, Ints]:
    """Subtree sizes and depth-first numbers; `levels` are the nodes of every depth, ascending."""
    size = np.ones(parents.size, np.int64)
    for part in reversed(levels[1:]):
        np.add.at(size, parents[part], size[part])
    number = np.zeros(parents.size, np.int64)
    for level in levels:
        # Siblings follow each other in `part`: a node's number is its parent's + 1 + sizes of earlier siblings.
        part = level[np.argsort(parents[level], kind="stable")]
        before = np.cumsum(size[part]) - size[part]
        new = np.diff(parents[part], prepend=-2) != 0
        base = np.where(parents[part] < 0, 0, number[parents[part]] + 1)
        number[part] = base + before - before[np.flatnonzero(new)][np.cumsum(new) - 1]
    return size, number


def _numbered_one_by_one(parents: list[int], order: list[int]) -> tuple[Ints, Ints]:
    """The same for trees of many levels with few nodes each; `order` are the nodes by depth, then ascending."""
    count = len(parents)
    size = [1] * (count + 1)  # the last entry stands for the parent of the roots
    for node in reversed(order):
        size[parents[node]] += size[node]
    number = [0] * count
    following = [0] * (count + 1)
    for node in order:
        parent = parents[node]
        number[node] = following[parent]
        following[parent] += size[node]
        following[node] = number[node] + 1
    return np.array(size[:count], np.int64), np.array(number, np.int64)
