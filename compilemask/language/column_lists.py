"""Lists that many tokens look into: one entry, a place in a list of lists, whether a list holds a value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.column_parts import Flags, Slots, Values, both, numbers_of, objects
from compilemask.language.values import ListValue, Value


def gather(table: ListValue, index: Values, slots: Slots) -> Values:
    places = _checked_places(index, np.full(len(slots), len(table), dtype=np.int64), slots)
    values = table.array if table.array is not None else objects(table.items)
    if not len(values):
        return Values(np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.bool_))
    return Values(values[places], index.present)


class NestedTable(NamedTuple):
    """A list of flat lists as one: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int64] | NDArray[np.bool_] | NDArray[np.object_]
    offsets: NDArray[np.int64]


def nested_table(table: Value) -> NestedTable | None:
    """A list of lists as one flat table, None where it is anything else."""
    if not isinstance(table, ListValue) or not len(table) or table.array is not None:
        return None
    rows = table.items
    if not all(isinstance(row, ListValue) for row in rows):
        return None
    lists = [row for row in rows if isinstance(row, ListValue)]
    effort.spend(effort.AN_ENTRY * table.total)
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    kinds = {row.array.dtype if row.array is not None else None for row in lists if len(row)}
    if len(kinds) == 1 and None not in kinds:
        flat = np.concatenate([row.array for row in lists if row.array is not None and len(row)])
        return NestedTable(flat, offsets)
    return NestedTable(objects([entry for row in lists for entry in row]), offsets)


def gather_nested(table: NestedTable, outer: Values, inner: Values, slots: Slots) -> Values:
    rows = _checked_places(outer, np.full(len(slots), len(table.offsets) - 1, dtype=np.int64), slots)
    present = both(outer.present, inner.present)
    places = _checked_places(Values(inner.values, present), table.offsets[rows + 1] - table.offsets[rows], slots)
    if not len(table.flat):
        return Values(np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.bool_))
    return Values(table.flat[np.minimum(table.offsets[rows] + places, len(table.flat) - 1)], present)


def _checked_places(index: Values, sizes: NDArray[np.int64], slots: Slots) -> NDArray[np.int64]:
    places = numbers_of(index, "the index")
    wrong = (places < 0) | (places >= sizes)
    if wrong.any():
        failing = wrong & index.mask()
        if failing.any():
            first = int(np.flatnonzero(failing)[0])
            place, size = int(places[first]), int(sizes[first])
            hint = (
                "an index that depends on a token never counts from the end: exclude -1 with `where`"
                if place < 0
                else None
            )
            raise EvaluationError(f"index {place} is outside of a list of {size}", hint, int(slots[first]))
        places = np.where(wrong, 0, places)
    return places


def contained(expression: ir.Comparison, left: Values) -> Flags | None:
    table = expression.right
    if not isinstance(table, ir.Constant) or not isinstance(table.value, ListValue):
        return None
    if not len(table.value):
        return np.zeros(len(left.values), dtype=np.bool_)
    if table.value.array is None or table.value.array.dtype != left.values.dtype:
        return None
    effort.spend(effort.AN_ENTRY * len(table.value))
    return np.isin(left.values, table.value.array)
