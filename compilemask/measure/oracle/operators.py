"""Operators on vectors of language values; a result is absent where an operand is, or where there is none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import arithmetic as single
from compilemask.language.program import ArithmeticOperator, ComparisonOperator
from compilemask.measure.oracle.vectors import Vector, constant, elementwise, table_of, truth

Bools = NDArray[np.bool_]

_COMPARE: dict[ComparisonOperator, np.ufunc] = {
    ComparisonOperator.LESS: np.less,
    ComparisonOperator.LESS_EQUAL: np.less_equal,
    ComparisonOperator.EQUAL: np.equal,
    ComparisonOperator.NOT_EQUAL: np.not_equal,
    ComparisonOperator.GREATER_EQUAL: np.greater_equal,
    ComparisonOperator.GREATER: np.greater,
}
_ARITHMETIC: dict[ArithmeticOperator, np.ufunc] = {
    ArithmeticOperator.ADD: np.add,
    ArithmeticOperator.SUBTRACT: np.subtract,
    ArithmeticOperator.MULTIPLY: np.multiply,
    ArithmeticOperator.FLOOR_DIVIDE: np.floor_divide,
    ArithmeticOperator.MODULO: np.mod,
}


def arithmetic(operator: ArithmeticOperator, left: Vector, right: Vector) -> Vector:
    """`left operator right`, 64-bit integers or whatever `language.arithmetic` allows."""
    if left.values.dtype == object or right.values.dtype == object:
        return elementwise(lambda a, b: single.arithmetic(operator, a, b), left, right)
    present = left.present & right.present
    if operator in (ArithmeticOperator.FLOOR_DIVIDE, ArithmeticOperator.MODULO):
        present = present & (right.values != 0)
        right = Vector(np.where(right.values == 0, 1, right.values), right.present)
    return Vector(_ARITHMETIC[operator](left.values, right.values), present)


def looked_up(values: Vector, index: Vector) -> Vector:
    """`values[index]`; absent where the index lies outside."""
    table = table_of(values)
    if table is None and values.values.ndim == 2 and values.values.shape[1] == 1 and index.values.shape[-1] != 1:
        return _looked_up_by_row(values, index)
    if table is None or table.array is None or len(table) == 0:
        return elementwise(lambda a, b: single.lookup(a, b, from_end=False), values, index)
    inside = (index.values >= 0) & (index.values < len(table))
    return Vector(table.array[np.where(inside, index.values, 0)], index.present & inside)


def _looked_up_by_row(values: Vector, index: Vector) -> Vector:
    """Every query has a list of its own: one query after another."""
    rows = values.values.shape[0]
    places = np.broadcast_to(index.values, (rows, index.values.shape[-1]))
    there = np.broadcast_to(index.present, places.shape)
    lists_there = np.broadcast_to(values.present, (rows, 1))
    parts = [
        looked_up(constant(values.values[i, 0]), Vector(places[i], there[i] & lists_there[i]))
        if lists_there[i, 0]
        else Vector(np.zeros(places.shape[1], np.int64), np.zeros(places.shape[1], np.bool_))
        for i in range(rows)
    ]
    present = np.stack([np.broadcast_to(part.present, places.shape[1:]) for part in parts])
    return Vector(np.stack([part.values for part in parts]), present)


def compared(operator: ComparisonOperator, left: Vector, right: Vector) -> Bools:
    """`left operator right`, False where either is absent."""
    present = left.present & right.present
    if operator in (ComparisonOperator.IN, ComparisonOperator.NOT_IN):
        table = table_of(right)
        if table is not None and table.array is not None and left.values.dtype != object:
            found = np.isin(left.values, table.array)
            return present & (found if operator is ComparisonOperator.IN else ~found)
        if table is None and right.values.ndim == 2 and left.values.shape[-1] != 1:
            return _by_row(operator, left, right)
    elif left.values.dtype != object and right.values.dtype != object:
        result: Bools = present & _COMPARE[operator](left.values, right.values)
        return result
    return truth(elementwise(lambda a, b: single.compare(operator, a, b), left, right))


def _by_row(operator: ComparisonOperator, left: Vector, right: Vector) -> Bools:
    rows = right.values.shape[0]
    values = np.broadcast_to(left.values, (rows, left.values.shape[-1]))
    there = np.broadcast_to(left.present, values.shape) & np.broadcast_to(right.present, (rows, 1))
    return np.stack(
        [
            compared(operator, Vector(values[i], there[i]), constant(right.values[i, 0]))
            if there[i].any()
            else np.zeros(values.shape[1], np.bool_)
            for i in range(rows)
        ]
    )
