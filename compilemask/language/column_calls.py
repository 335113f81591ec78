"""Functions of many tokens at once, where an array operation gives the value that the function gives one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import effort, functions
from compilemask.language import program as ir
from compilemask.language.column_parts import Flags, Values, both
from compilemask.language.curves import hilbert, morton
from compilemask.language.values import ListValue


def at_once(expression: ir.Call, arguments: tuple[Values, ...]) -> Values | None:
    """The values of a function; None where it is computed value by value."""
    function, count = expression.function, len(arguments)
    if any(argument.values.dtype != np.int64 for argument in arguments):
        return _searched(expression, arguments) if function in _SEARCHES and count == 2 else None
    present = None
    for argument in arguments:
        present = both(present, argument.present)
    numbers = [argument.values.astype(np.int64, copy=False) for argument in arguments]
    if count == 2 and function in (ir.Function.MIN, ir.Function.MAX):
        chosen = np.minimum(*numbers) if function is ir.Function.MIN else np.maximum(*numbers)
        return Values(chosen, present)
    if count in _CURVES.get(function, ()):
        effort.spend(effort.A_CURVE * max(part.size for part in numbers), expression.span)
        place = morton(numbers, present) if function is ir.Function.MORTON else hilbert(numbers, present)
        return None if place is None else Values(place, present)
    return None


_SEARCHES = (ir.Function.COUNT, ir.Function.FIND)
_CURVES = {ir.Function.MORTON: (2, 3), ir.Function.HILBERT: (2,)}


def _searched(expression: ir.Call, arguments: tuple[Values, ...]) -> Values | None:
    """`count` and `find` of numbers in a constant list of numbers."""
    table = expression.arguments[0]
    if not isinstance(table, ir.Constant) or not isinstance(table.value, ListValue):
        return None
    entries, wanted = table.value.array, arguments[1]
    if entries is None or entries.dtype != np.int64 or wanted.values.dtype != np.int64 or not len(entries):
        return None
    effort.spend(effort.AN_ENTRY * len(entries))
    if expression.function is ir.Function.COUNT:
        functions.call(ir.Function.COUNT, (table.value, 0))  # refuses a list that is not sorted
        return Values(np.searchsorted(entries, wanted.values, side="right").astype(np.int64), wanted.present)
    return Values(*_places(entries.astype(np.int64, copy=False), wanted))


def _places(entries: NDArray[np.int64], wanted: Values) -> tuple[NDArray[np.int64], Flags | None]:
    """The first place of every value that is among the entries."""
    order = np.argsort(entries, kind="stable")
    places = np.minimum(np.searchsorted(entries[order], wanted.values), len(entries) - 1)
    found = order[places].astype(np.int64)
    return found, both(wanted.present, entries[found] == wanted.values)
