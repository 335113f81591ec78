"""Functions of single values applied to arrays: once per different tuple of operands, not once per token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.vector import Bools, Vector, both
from compilemask.language import effort
from compilemask.language.arithmetic import AbsentValueError

Codes = NDArray[np.int64]


def by_value(function: Callable[..., Any], operands: Sequence[Vector], active: Bools | None) -> Vector:
    """The function's values where all operands are present and `active`; absent elsewhere and where it says so."""
    present = active
    for operand in operands:
        present = both(present, operand.present)
    shapes = [operand.values.shape for operand in operands]
    shape = np.broadcast_shapes(*shapes, () if present is None else present.shape)
    live = np.ones(shape, np.bool_) if present is None else np.broadcast_to(present, shape)
    columns = [np.broadcast_to(operand.values, shape)[live] for operand in operands]
    effort.spend(effort.AN_OBJECT * live.size)
    first, number = different([column for column, own in zip(columns, shapes, strict=True) if own], int(live.sum()))
    effort.spend(effort.ONE_BY_ONE * first.size)
    found = [_applied(function, [column[place] for column in columns]) for place in first.tolist()]
    values = narrow(found)
    results = np.zeros(shape, values.dtype)
    results[live] = values[number]
    known = np.array([value is not None for value in found], np.bool_)
    if live.all() and known.all():
        return Vector(results, None)
    there = live.copy()
    there[live] = known[number]
    return Vector(results, there)


def _applied(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    try:
        return function(*(value.item() if isinstance(value, np.generic) else value for value in arguments))
    except AbsentValueError:
        return None


def narrow(found: Sequence[Any]) -> NDArray[Any]:
    """Values as integers or conditions where all (but absent ones, None) are; else as objects."""
    kinds = {type(value) for value in found if value is not None}
    if kinds <= {int}:
        return np.array([0 if value is None else value for value in found], np.int64)
    if kinds == {bool}:
        return np.array([bool(value) for value in found], np.bool_)
    return boxed(found)


def boxed(values: Sequence[Any]) -> NDArray[Any]:
    """Values as objects, one by one: numpy would take lists among them for rows."""
    box = np.empty(len(values), object)
    for place, value in enumerate(values):
        box[place] = value
    return box


def different(columns: Sequence[NDArray[Any]], size: int) -> tuple[Codes, Codes]:
    """The first place of every different tuple, and for every place the number of its tuple.

    Objects differ where they are not the same object, so equal ones may be told apart.
    """
    code = np.zeros(size, np.int64)
    first = np.zeros(min(size, 1), np.int64)
    for column in columns:
        if column.dtype == object:
            effort.spend(effort.AN_OBJECT * size)
            column = np.fromiter(map(id, column.tolist()), np.int64, size)
        values, inverse = np.unique(column, return_inverse=True)
        joint = code * max(1, values.size) + inverse.reshape(-1)
        _, first, code = np.unique(joint, return_index=True, return_inverse=True)
        code = code.reshape(-1).astype(np.int64)
    return first, code
