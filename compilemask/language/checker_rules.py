"""Checks of one bound rule against the tokens it selects: everything that one token alone can get wrong.

A condition on one token narrows what the parts behind it are checked for (`and`, `or`, `if` from left to right); a
relation between two tokens does not. What passes here evaluates without error for every selected pair, so a lowering
may take a value that it cannot compute as absent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compilemask.language import columns
from compilemask.language import program as ir
from compilemask.language.analysis import constant_in_runs, walk
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_scope import Scope, evaluating, token_words
from compilemask.language.checker_values import (
    KIND_WORDS,
    Tokens,
    check_condition,
    check_token,
    refuse_mixed,
    tokens_after,
)
from compilemask.language.distinct import distinct
from compilemask.language.findings import reject
from compilemask.language.program import Side
from compilemask.language.values import ListValue, Unbounded

Slots = NDArray[np.int64]


def check_rule(scope: Scope, rule: ir.Rule | ir.Limit) -> None:
    """Refuse what some selected token cannot evaluate, and note what the selectors hold."""
    if isinstance(rule, ir.Limit):
        slots = [_slots(scope, ir.AllTokens(rule.span), axis) for axis in ("queries", "keys")]
    else:
        slots = [_slots(scope, rule.who, "queries"), _slots(scope, rule.whom, "keys")]
        _warn_long_ends(scope, rule.who, "queries")
        _warn_long_ends(scope, rule.whom, "keys")
        for selector, axis, found in ((rule.who, "queries", slots[0]), (rule.whom, "keys", slots[1])):
            scope.findings.note_selection(selector.span, len(found) > 0, _reachable(scope, selector, axis))
    _relation(rule.how, Tokens(scope, slots[0], slots[1], scope.fixed_by_limit))


def _slots(scope: Scope, selector: ir.Selector, axis_name: str) -> Slots:
    axis = scope.axes[axis_name]
    key = (id(axis), selector)
    if key not in scope.selections:
        with evaluating(selector.span, axis):
            scope.selections[key] = np.flatnonzero(columns.selected(selector, axis)).astype(np.int64)
    return scope.selections[key]


def _reachable(scope: Scope, selector: ir.Selector, axis_name: str) -> bool:
    """Whether the regions that a selector names hold any tokens, so that selecting none is the selector's doing."""
    match selector:
        case ir.NumberedTokens(_, path) | ir.RangeTokens(_, path):
            return len(_slots(scope, ir.RegionTokens(selector.span, path), axis_name)) > 0
        case ir.WhereTokens(of=of):
            return len(_slots(scope, of, axis_name)) > 0
        case ir.EndTokens(_, _, count, _, of):
            return not isinstance(count, ir.Constant) and _reachable(scope, of, axis_name)
        case ir.UnionTokens(_, parts):
            return any(_reachable(scope, part, axis_name) for part in parts)
    return False


def _warn_long_ends(scope: Scope, selector: ir.Selector, axis_name: str) -> None:
    """Warn of `first n` where n is larger than every instance: it selects all of them."""
    for part in walk(selector):
        if not isinstance(part, ir.EndTokens) or not isinstance(part.count, ir.Constant):
            continue
        slots = _slots(scope, part.of, axis_name)
        sizes = scope.axes[axis_name].column(CoordinateKind.SIZE, part.region).values[slots]
        count, most = part.count.value, int(sizes.max(initial=0))
        if type(count) is int and 0 < most < count:
            scope.findings.warn(
                "longer-than-all",
                f"`{part.end.value} {count}` takes all: no `{part.region}` has more than {most} tokens",
                part.span,
            )


# ---------------------------------------------------------------- relations


def _relation(relation: ir.Relation, tokens: Tokens) -> None:
    if not len(tokens.queries) or not len(tokens.keys):
        return
    match relation:
        case ir.Both(_, parts):
            fixed = tokens.fixed or any(isinstance(part, ir.Same) for part in parts)
            tokens = replace(tokens, fixed=fixed)
            for part in parts:
                _relation(part, tokens)
                tokens = _after(part, tokens, held=True)
        case ir.Either(_, parts):
            for part in parts:
                _relation(part, tokens)
                tokens = _after(part, tokens, held=False)
        case ir.Complement(_, inner):
            _relation(inner, tokens)
            if isinstance(inner, ir.Same):
                _warn_not_same(inner, tokens)
        case ir.Condition(_, expression):
            check_condition(expression, tokens)
        case _:
            _compared(relation, tokens)


def _after(part: ir.Relation, tokens: Tokens, held: bool) -> Tokens:
    """The tokens for which the parts behind a one-sided condition are evaluated."""
    if isinstance(part, ir.Complement):
        return _after(part.relation, tokens, not held)
    if not isinstance(part, ir.Condition):
        return tokens
    return tokens_after(part.expression, tokens, held)


def _compared(relation: ir.Relation, tokens: Tokens) -> None:
    by = getattr(relation, "by", None)
    if isinstance(by, ir.By):
        for part in by.parts:
            kinds: set[type] = set()
            for side in (Side.QUERY, Side.KEY):
                kinds |= check_token(part.expression, side, tokens)
            _check_kinds(relation, part, kinds)
    match relation:
        case ir.Window(_, behind, ahead):
            for name, expression in (("behind", behind), ("ahead", ahead)):
                _check_reach(name, expression, tokens)
        case ir.Disc(_, radius):
            _check_reach("radius", radius, tokens)
            _warn_instances(relation, relation.by, "disc", tokens)
        case ir.Box():
            _check_box(relation, tokens)
        case ir.Path():
            _check_path(relation, tokens)
        case ir.RandomKeys():
            _check_random(relation, tokens)


_ORDERED = (ir.Causal, ir.Before)


def _check_kinds(relation: ir.Relation, part: ir.Part, kinds: set[type]) -> None:
    """Refuse values that do not compare: of different kinds, or without an order where one is needed."""
    refuse_mixed(kinds, part.expression.span)
    allowed = (int, Unbounded, ListValue) if isinstance(relation, _ORDERED) else (int, Unbounded)
    wrong = next((kind for kind in kinds if kind not in allowed), None)
    if wrong is not None and not isinstance(relation, ir.Same):
        what = KIND_WORDS[wrong]
        raise reject(
            "no-order", f"this compares {what}, and a number is needed", part.expression.span, "use `same` for it"
        )


def _check_reach(name: str, expression: ir.Expression, tokens: Tokens) -> None:
    if isinstance(expression, ir.Constant):
        return
    axis = tokens.scope.axes["queries"]
    with evaluating(expression.span, axis):
        found = columns.column_of(expression, axis, tokens.queries)
    if found.values.dtype != np.int64:
        return
    negative = np.flatnonzero((found.values < 0) & found.mask())
    if len(negative):
        slot = int(tokens.queries[negative[0]])
        raise reject(
            "negative-window",
            f"`{name}` is {int(found.values[negative[0]])} for {token_words(axis, slot)}",
            expression.span,
            f"0 is the least: `max(0, ...)`, or exclude these tokens with `where`; {len(negative)} tokens in all",
        )


def _warn_not_same(relation: ir.Same, tokens: Tokens) -> None:
    for part in relation.by.parts:
        for side in (Side.QUERY, Side.KEY):
            axis, slots = tokens.side(side)
            found = columns.column_of(part.expression, axis, slots)
            if found.present is not None and found.present.any():
                slot = int(slots[np.flatnonzero(~found.present)[0]])
                tokens.scope.findings.warn(
                    "not-same-of-absent",
                    f"`not same` is true for tokens that lack the coordinate, such as {token_words(axis, slot)}",
                    relation.span,
                    "for tokens that have it and differ, write `q.C != k.C`",
                )
                return


# ---------------------------------------------------------------- shapes


def _warn_instances(relation: ir.Relation, by: ir.By, word: str, tokens: Tokens) -> None:
    kinds = {part.expression.kind for part in by.parts if isinstance(part.expression, ir.Coordinate)}
    if (
        tokens.fixed
        or len(kinds) != len(by.parts)
        or not kinds <= {CoordinateKind.T, CoordinateKind.Y, CoordinateKind.X}
    ):
        return
    axis, slots = tokens.side(Side.KEY)
    instances = distinct(axis.innermost()[slots])
    grids = instances[(axis.runs.shape[instances] >= 0).any(axis=1)] if len(instances) else instances
    if len(grids) > 1:
        tokens.scope.findings.warn(
            "several-instances",
            f"this {word} also joins tokens of different grids: {len(grids)} of them are selected",
            relation.span,
            f"to stay inside one, write `{word}(...) within REGION`",
        )


def _check_box(box: ir.Box, tokens: Tokens) -> None:
    _warn_instances(box, box.by, "box", tokens)
    axis, slots = tokens.side(Side.KEY)
    for side, part in zip(box.sides, box.by.parts, strict=True):
        expression = part.expression
        if side.size is None or side.causal or side.size == 1 or not isinstance(expression, ir.Coordinate):
            continue
        column = axis.column(expression.kind, expression.region)
        values = column.values[slots] if column.present is None else column.values[slots][column.present[slots]]
        extent = int(values.max(initial=-1)) + 1
        if side.size > extent > 0:
            tokens.scope.findings.warn(
                "box-larger-than-axis",
                f"the box is {side.size} wide, and `{expression.kind.value}` has {extent} values only",
                box.span,
                "`any` says the whole axis",
            )


def _check_path(path: ir.Path, tokens: Tokens) -> None:
    axis, slots = tokens.side(Side.QUERY)
    if constant_in_runs(path.parents) and constant_in_runs(path.by.parts[0].expression):
        slots, _ = columns.one_per_run(axis, slots)
    with evaluating(path.span, axis):
        nodes = columns.column_of(path.by.parts[0].expression, axis, slots)
        if isinstance(path.parents, ir.Constant):
            parents = path.parents.value
            sizes = np.full(len(slots), len(parents) if isinstance(parents, ListValue) else 0, dtype=np.int64)
        else:
            lists = columns.column_of(path.parents, axis, slots)
            sizes = np.array([len(entry) if isinstance(entry, ListValue) else 2**62 for entry in lists.values.tolist()])
    if nodes.values.dtype != np.int64:
        raise reject("not-a-number", "`path` compares node numbers", path.by.span)
    wrong = np.flatnonzero(nodes.mask() & ((nodes.values < 0) | (nodes.values >= sizes)))
    if len(wrong):
        node, size = int(nodes.values[wrong[0]]), int(sizes[wrong[0]])
        raise reject(
            "parents-too-short",
            f"{token_words(axis, int(slots[wrong[0]]))} is node {node}, and there are {size} parents",
            path.span,
            "one parent per node, -1 for a root",
        )


def _check_random(random: ir.RandomKeys, tokens: Tokens) -> None:
    expression = random.by.parts[0].expression
    for side in (Side.QUERY, Side.KEY):
        axis, slots = tokens.side(side)
        real = np.flatnonzero(~axis.padding) if side is Side.KEY else slots
        with evaluating(random.by.span, axis):
            found = columns.column_of(expression, axis, real)
        if found.values.dtype != np.int64:
            raise reject("not-a-number", "`random` draws numbers", random.by.span)
        values = found.values[found.mask()]
        if len(values) and int(values.min()) < 0:
            raise reject(
                "negative-draw", f"`random` draws numbers from 0, and {int(values.min())} occurs", random.by.span
            )
        if side is Side.KEY and random.count > (values_there := distinct(values).size):
            raise reject(
                "too-many-draws", f"`count` is {random.count}, and the keys have {values_there} values", random.span
            )
