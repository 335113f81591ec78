"""Lists indexed and searched by many values at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.by_value import boxed, by_value, different
from compilemask.intervals.vector import Bools, Vector, anywhere, both
from compilemask.language import arithmetic as scalar
from compilemask.language import effort
from compilemask.language.program import Function
from compilemask.language.values import ListValue


def constant_list(values: Vector) -> ListValue | None:
    """The one list that a vector stands for, if it does."""
    table = values.values[()] if values.values.ndim == 0 else None
    return table if isinstance(table, ListValue) else None


def lookup(values: Vector, index: Vector, active: Bools | None) -> Vector:
    """`values[index]`."""
    table = constant_list(values)
    if table is None or index.values.dtype != np.int64:
        return by_value(lambda x, y: scalar.lookup(x, y, from_end=False), [values, index], active)
    entries: NDArray[Any]
    entries = table.array if table.array is not None else boxed(table.items)
    outside = (index.values < 0) | (index.values >= len(table))
    present = both(values.present, index.present)
    place = index.values
    if outside.any():
        if anywhere(outside, active, present):
            wrong = np.broadcast_to(index.values, np.broadcast_shapes(outside.shape, _shape(active), _shape(present)))
            bad = wrong[np.broadcast_to(_joined(outside, active, present), wrong.shape)]
            scalar.lookup(table, int(bad.reshape(-1)[0]), from_end=False)
        present = both(present, ~outside)
        place = np.where(outside, 0, place)
    if not len(table):
        return Vector(np.zeros(place.shape, np.int64), np.zeros(place.shape, np.bool_))
    if place.ndim == 0:
        return Vector(entries[int(place) : int(place) + 1].reshape(()), present)
    return Vector(entries[place], present)


def nested_lookup(lists: Vector, row: Vector, index: Vector, active: Bools | None) -> Vector | None:
    """`lists[row][index]` where `lists` is a constant list of integer lists; None where it is not, or on an error."""
    table = constant_list(lists)
    if table is None or row.values.dtype != np.int64 or index.values.dtype != np.int64:
        return None
    rows = [entry.array for entry in table if isinstance(entry, ListValue) and entry.array is not None]
    if not rows or len(rows) != len(table) or any(entries.dtype != np.int64 for entries in rows):
        return None
    effort.spend(effort.AN_ENTRY * table.total)
    lengths = np.array([len(entries) for entries in rows], np.int64)
    present = both(lists.present, both(row.present, index.present))
    safe = np.clip(row.values, 0, len(rows) - 1)
    inside = (row.values == safe) & (index.values >= 0) & (index.values < lengths[safe])
    if not inside.all():
        if anywhere(~inside, active, present):
            return None
        present = both(present, inside)
    flat = np.concatenate([*rows, np.zeros(1, np.int64)])
    place = (np.cumsum(lengths) - lengths)[safe] + np.where(inside, index.values, 0)
    return Vector(flat[np.where(inside, place, flat.size - 1)], present)


def _joined(first: Bools, *masks: Bools | None) -> Bools:
    for mask in masks:
        first = first if mask is None else first & mask
    return first


def _shape(mask: Bools | None) -> tuple[int, ...]:
    return () if mask is None else mask.shape


def search(function: Function, arguments: list[Vector]) -> Vector | None:
    """`count` and `find` in a constant list of integers."""
    values, wanted = arguments
    table = constant_list(values)
    if table is None or table.array is None or table.array.dtype != np.int64:
        return None
    if wanted.values.dtype != np.int64 or not len(table):
        return None
    entries = table.array
    effort.spend(effort.AN_ENTRY * len(table))
    if function is Function.COUNT:
        if (np.diff(entries) < 0).any():
            return None
        return Vector(
            np.searchsorted(entries, wanted.values, side="right").astype(np.int64), both(values.present, wanted.present)
        )
    order = np.argsort(entries, kind="stable")
    place = np.minimum(np.searchsorted(entries[order], wanted.values), len(table) - 1)
    found = entries[order][place] == wanted.values
    return Vector(order[place].astype(np.int64), both(both(values.present, wanted.present), found))


def member_of_rows(table: ListValue, parts: Sequence[Vector]) -> Vector | None:
    """`(a, b) in [[1, 2], ...]` for numbers: each part by its place among the table's values; None for other lists."""
    rows = _rows_of(table, len(parts))
    if rows is None or any(part.values.dtype != np.int64 for part in parts):
        return None
    known: Any = np.ones((), np.bool_)
    code: Any = np.zeros((), np.int64)
    wanted = np.zeros(len(rows), np.int64)
    present: Bools | None = None
    for column, part in zip(rows.T, parts, strict=True):
        values, place = np.unique(column, return_inverse=True)
        found = np.minimum(np.searchsorted(values, part.values), values.size - 1)
        known = known & (values[found] == part.values)
        code, wanted = code * values.size + found, wanted * values.size + place.reshape(-1)
        present = both(present, part.present)
        kept, wanted = np.unique(wanted, return_inverse=True)
        code_place = np.minimum(np.searchsorted(kept, code), kept.size - 1)
        known = known & (kept[code_place] == code)
        code, wanted = code_place, wanted.reshape(-1)
    return Vector(np.asarray(known), present)


def member_of_each(wanted: Vector, lists: Vector, active: Bools | None, negated: bool) -> Bools | None:
    """`number in list`, or `not in`, where every token has a list of its own; None unless all are lists of numbers.

    False where an operand is absent or not `active`.
    """
    live = both(both(active, wanted.present), lists.present)
    shape = np.broadcast_shapes(wanted.values.shape, lists.values.shape, () if live is None else live.shape)
    result = np.zeros(shape, np.bool_)
    places = np.flatnonzero(np.ones(shape, np.bool_) if live is None else np.broadcast_to(live, shape))
    own = np.broadcast_to(lists.values, shape).reshape(-1)[places]
    numbers = np.broadcast_to(wanted.values, shape).reshape(-1)[places]
    first, which = different([own], own.size)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=first.size))
    begins = np.concatenate(([0], ends))[:-1]
    flat = result.reshape(-1)
    for entry, begin, end in zip(own[first], begins, ends, strict=True):
        if not isinstance(entry, ListValue):
            return None
        table = entry.array if len(entry) else np.zeros(0, np.int64)
        if table is None or table.dtype != np.int64:
            return None
        chosen = order[begin:end]
        flat[places[chosen]] = np.isin(numbers[chosen], table, invert=negated)
    return result


def _rows_of(value: ListValue, width: int) -> NDArray[np.int64] | None:
    """[entries, width] of a list of lists of numbers; None for any other value."""
    if not len(value):
        return None
    rows = [entry.array for entry in value.items if isinstance(entry, ListValue)]
    if len(rows) != len(value):
        return None
    numbers = [row for row in rows if row is not None and row.dtype == np.int64 and row.size == width]
    return np.stack(numbers).astype(np.int64) if len(numbers) == len(rows) else None
