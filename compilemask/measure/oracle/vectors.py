"""Arrays of language values that may be absent."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.language.arithmetic import EvaluationError
from compilemask.language.values import ANY, ListValue, Value

UNBOUNDED = np.int64(2**62)
"""What `any` is where only numbers are compared: beyond every coordinate, and far from overflow."""


class Vector(NamedTuple):
    """Values and where they exist; both broadcast. Integers and conditions are packed, all else is an object array."""

    values: NDArray[Any]
    present: NDArray[np.bool_]


def constant(value: Value) -> Vector:
    """One value for all cells."""
    for kind, dtype in ((int, np.int64), (bool, np.bool_)):
        if type(value) is kind:
            return Vector(np.array(value, dtype), np.array(True))
    held = np.empty((), object)
    held[()] = value
    return Vector(held, np.array(True))


def elementwise(function: Callable[..., Value], *vectors: Vector) -> Vector:
    """The function of every combination of values, absent where an argument is or where it has no value."""
    present = reduce(np.logical_and, (vector.present for vector in vectors))
    shape = np.broadcast_shapes(*(v.values.shape for v in vectors), present.shape)
    present = np.broadcast_to(present, shape).copy()
    columns = [np.broadcast_to(v.values, shape).reshape(-1) for v in vectors]
    results = np.empty(present.size, object)
    flat = present.reshape(-1)
    for i in np.flatnonzero(flat).tolist():
        try:
            results[i] = function(*(_plain(column[i]) for column in columns))
        except EvaluationError:
            flat[i] = False
    return packed(results.reshape(shape), flat.reshape(shape))


def packed(values: NDArray[Any], present: NDArray[np.bool_]) -> Vector:
    """Object values as integers or conditions where all that exist are."""
    kinds = {type(value) for value in values[np.broadcast_to(present, values.shape)].tolist()}
    for kind, dtype in ((int, np.int64), (bool, np.bool_)):
        if kinds == {kind}:
            filled = np.where(present, values, kind(0))
            return Vector(filled.astype(dtype), present)
    return Vector(values, present)


def numbers(vector: Vector) -> Vector:
    """The same with `any` as a number beyond all others."""
    if vector.values.dtype != object:
        return Vector(vector.values.astype(np.int64), vector.present)
    flat = [UNBOUNDED if value is ANY else value if type(value) is int else 0 for value in vector.values.reshape(-1)]
    return Vector(np.array(flat, np.int64).reshape(vector.values.shape), vector.present)


def truth(vector: Vector) -> NDArray[np.bool_]:
    """True where a condition exists and holds."""
    return vector.present & vector.values.astype(np.bool_)


def condition(values: NDArray[np.bool_]) -> Vector:
    """A condition that exists everywhere."""
    return Vector(values, np.array(True))


def table_of(vector: Vector) -> ListValue | None:
    """The list, where all cells have the same one."""
    if vector.values.ndim == 0 and isinstance(vector.values[()], ListValue):
        table: ListValue = vector.values[()]
        return table
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, np.integer) else value
