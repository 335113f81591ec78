"""What a token's `pos` is (`align`, `position`) and in which slot it lies (`stored by`, `queries are`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import columns, syntax
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import Axis, Column, CoordinateKind
from compilemask.language.bind_coordinates import components
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_names import coordinate
from compilemask.language.bind_scope import Context, Mode, Scope, evaluating, token_words
from compilemask.language.column_parts import Values
from compilemask.language.findings import reject
from compilemask.language.program import Side
from compilemask.language.values import ListValue, Value
from compilemask.source import Span

Ints = NDArray[np.int64]


def token_coordinates(
    scope: Scope, node: syntax.Expression, axes: tuple[str, ...], without: tuple[str, ...], reason: str
) -> tuple[ir.Expression, ...]:
    """One coordinate or a tuple of them, for the tokens of these axes."""
    context = Context(Mode.TOKEN, Side.THIS, axes, without=without, without_reason=reason)
    nodes = node.items if isinstance(node, syntax.TupleOf) else (node,)
    parts: list[ir.Expression] = []
    for item in nodes:
        bound = (
            coordinate(scope, item.name, item.span, context)
            if isinstance(item, syntax.Name)
            else expression(scope, item, context)
        )
        parts += components(bound)
    return tuple(parts)


# ---------------------------------------------------------------- stored by


def stored(scope: Scope, axis: Axis, layout: syntax.Layout) -> Axis:
    """The axis with every region that is `stored by` a coordinate sorted by it, instance by instance."""
    leaves = list(_leaves(layout.items))
    written = np.arange(axis.length, dtype=np.int64)
    changed = False
    name = "keys" if layout.axis == "keys" else "queries"
    for place, leaf in enumerate(leaves):
        if leaf.stored_by is None:
            continue
        reason = "the storage order decides it"
        parts = token_coordinates(scope, leaf.stored_by, (name,), ("index",), reason)
        slots = np.flatnonzero(axis.spread(axis.runs.leaf) == place)
        keys = sort_keys(parts, axis, slots, leaf.stored_by.span)
        run = axis.run_of()[slots]
        written[slots] = slots[sorted_places([run, *keys])]
        changed = True
    return axis.stored(written) if changed else axis


def _leaves(items: tuple[syntax.Item, ...]) -> list[syntax.Leaf]:
    found: list[syntax.Leaf] = []
    for item in items:
        if isinstance(item, syntax.Leaf):
            found.append(item)
        elif isinstance(item, syntax.Group):
            found += _leaves(item.items)
    return found


def sort_keys(parts: tuple[ir.Expression, ...], axis: Axis, slots: Ints, span: Span) -> list[Ints]:
    """The values that tokens are sorted by, first part first; an absent value is an error."""
    keys: list[Ints] = []
    for part in parts:
        with evaluating(span, axis):
            found = columns.column_of(part, axis, slots)
        if found.present is not None:
            slot = int(slots[np.flatnonzero(~found.present)[0]])
            raise reject("absent-order", f"{token_words(axis, slot)} has no value to be sorted by", span)
        if found.values.dtype != np.object_:
            keys.append(found.values.astype(np.int64))
            continue
        keys += _list_keys(found.values.tolist(), span)
    return keys


def sorted_places(keys: list[Ints]) -> Ints:
    """The places in ascending order of the keys, the first key first, stably."""
    code = np.zeros(len(keys[0]), dtype=np.int64)
    size = 1
    for key in keys:
        low = int(key.min(initial=0))
        extent = int(key.max(initial=0)) - low + 1
        size *= extent
        if size >= 2**62:
            return np.lexsort(tuple(reversed(keys)))
        code = code * extent + (key - low)
    return np.argsort(code, kind="stable")


def _list_keys(values: list[Value], span: Span) -> list[Ints]:
    lists = [value.array for value in values if isinstance(value, ListValue) and value.array is not None]
    if len(lists) != len(values) or len({len(entry) for entry in lists}) > 1:
        raise reject("order-kind", "tokens are sorted by numbers, or by tuples of numbers of one length", span)
    table = np.array(lists, dtype=np.int64)
    return [table[:, place] for place in range(table.shape[1])]


# ---------------------------------------------------------------- position


def positioned(scope: Scope, axis: Axis, statement: syntax.Position, name: str) -> Axis:
    """The axis with `pos` as a `position` statement says."""
    context = Context(
        Mode.TOKEN,
        Side.THIS,
        (name,),
        without=("pos",),
        without_reason="`position` says what `pos` is",
    )
    bound = expression(scope, statement.value, context)
    with evaluating(statement.value.span, axis):
        real = np.flatnonzero(~axis.padding)
        found = columns.column_of(bound, axis, real)
    if found.values.dtype != np.int64:
        raise reject("not-a-number", "a position is a number", statement.value.span)
    values, present = _everywhere(axis, bound, real, found)
    return axis.positioned(Column(values, None if present.all() else present))


def _everywhere(axis: Axis, bound: ir.Expression, real: Ints, found: Values) -> tuple[Ints, NDArray[np.bool_]]:
    """Positions of all slots; padding has one where the expression gives it one."""
    values = np.zeros(axis.length, dtype=np.int64)
    present = np.zeros(axis.length, dtype=np.bool_)
    values[real], present[real] = found.values, found.mask()
    padding = np.flatnonzero(axis.padding)
    if len(padding):
        try:
            rest = columns.column_of(bound, axis, padding)
        except EvaluationError:
            return values, present
        if rest.values.dtype == np.int64:
            values[padding], present[padding] = rest.values, rest.mask()
    return values, present


# ---------------------------------------------------------------- align


def aligned(scope: Scope, queries: Axis, keys: Axis, statement: syntax.Align) -> Axis:
    """The query axis moved to where `align` puts it; the keys keep their places."""
    if statement.within is None:
        return _aligned_whole(queries, keys, statement.side == "end")
    region = statement.within
    for name in ("queries", "keys"):
        if region not in scope.axis_names[name].regions:
            raise reject(
                "unknown-region", f"`align ... within {region}`: the {name} have no region `{region}`", statement.span
            )
    return _aligned_within(scope, queries, keys, region, statement.side == "end")


def _aligned_whole(queries: Axis, keys: Axis, end: bool) -> Axis:
    pos = queries.column(CoordinateKind.POS)
    ends = [_end_position(axis, end) for axis in (queries, keys)]
    if ends[0] is None or ends[1] is None:
        return queries.positioned(Column(pos.values, np.zeros(queries.length, dtype=np.bool_)))
    return queries.positioned(Column(pos.values + (ends[1] - ends[0]), pos.present))


def _end_position(axis: Axis, end: bool) -> int | None:
    values = axis.column(CoordinateKind.POS).values[~axis.padding]
    if not len(values):
        return None
    return int(values.max() if end else values.min())


def _aligned_within(scope: Scope, queries: Axis, keys: Axis, region: str, end: bool) -> Axis:
    names = scope.axis_names
    common = sorted(names["queries"].around(region) & names["keys"].around(region))
    codes = _instance_codes(queries, keys, (*common, region), region)
    ends = [_instance_ends(axis, region, code, end) for axis, code in zip((queries, keys), codes, strict=True)]
    pos = queries.column(CoordinateKind.POS)
    instance = queries.instance(region)
    shift = np.zeros(len(queries.runs.regions[region].number) + 1, dtype=np.int64)
    found = np.zeros(len(shift), dtype=np.bool_)
    key_code, key_end, _ = ends[1]
    query_code, query_end, query_ids = ends[0]
    order = np.argsort(key_code, kind="stable")
    place = np.searchsorted(key_code[order], query_code)
    hit = place < len(order)
    hit[hit] = key_code[order][place[hit]] == query_code[hit]
    shift[query_ids[hit]] = key_end[order][place[hit]] - query_end[hit]
    found[query_ids[hit]] = True
    present = found[instance] & (instance >= 0)
    return queries.positioned(Column(pos.values + shift[instance], None if present.all() else present))


def _instance_codes(queries: Axis, keys: Axis, names: tuple[str, ...], region: str) -> tuple[Ints, Ints]:
    """One number per token that is equal on both axes where all these regions have equal numbers."""
    code = [np.zeros(axis.length, dtype=np.int64) for axis in (queries, keys)]
    for name in names:
        numbers = [
            axis.enclosing(region, name) if name != region else axis.column(CoordinateKind.NUMBER, name).values
            for axis in (queries, keys)
        ]
        size = 2 + max(int(values.max(initial=-1)) for values in numbers)
        code = [before * size + values + 1 for before, values in zip(code, numbers, strict=True)]
    return code[0], code[1]


def _instance_ends(axis: Axis, region: str, code: Ints, end: bool) -> tuple[Ints, Ints, Ints]:
    """Per instance that has tokens: its code, the position of its first or last real token, its id."""
    instance = axis.instance(region)
    tokens = np.flatnonzero((instance >= 0) & ~axis.padding)
    pos = axis.column(CoordinateKind.POS).values[tokens]
    order = np.lexsort((-pos if end else pos, instance[tokens]))
    held = instance[tokens][order]
    first = np.flatnonzero(np.append(True, held[1:] != held[:-1])) if len(held) else np.zeros(0, dtype=np.int64)
    chosen = tokens[order[first]]
    return code[chosen], axis.column(CoordinateKind.POS).values[chosen], instance[chosen]
