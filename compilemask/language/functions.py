"""The functions of the language for single values: lists, counts, interleaved bits, grids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from compilemask.language import effort
from compilemask.language.arithmetic import (
    AbsentValueError,
    EvaluationError,
    checked,
    equal,
    less,
    list_of,
    makes,
    number,
    numbers,
)
from compilemask.language.program import Function
from compilemask.language.values import ANY, INT64_MAX, Grid, ListValue, Value, show

HILBERT_BITS = 16


def call(function: Function, arguments: Sequence[Value]) -> Value:
    """The value of a function."""
    least, most = ARGUMENT_COUNTS[function]
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"at least {least}"
        noun = "argument" if wanted == "1" else "arguments"
        raise EvaluationError(f"`{function.value}` takes {wanted} {noun}, not {len(arguments)}")
    entries = sum(argument.total for argument in arguments if isinstance(argument, ListValue))
    effort.spend(effort.AN_ENTRY * entries if function is not Function.LEN else 0)
    return _FUNCTIONS[function](*arguments)


def _len(values: Value) -> Value:
    return len(list_of(values, "the argument of `len`"))


def _sum(values: Value) -> Value:
    exact = _exact(values)
    if exact is not None:
        return int(exact.sum())
    return checked(sum(numbers(values, "the argument of `sum`")))


def _extreme(name: str, later: Callable[[Value, Value], bool]) -> Callable[..., Value]:
    def choose(*arguments: Value) -> Value:
        entries: Sequence[Value] = arguments
        if len(arguments) == 1:
            values = list_of(arguments[0], f"the only argument of `{name}`")
            if values.array is not None and values.array.dtype == np.int64 and len(values):
                return int(values.array.min() if name == "min" else values.array.max())
            entries = values.items
        if not entries:
            raise EvaluationError(f"`{name}` of an empty list has no value", f"write `{name}(list + [0])`")
        for entry in entries:
            if entry is not ANY:
                number(entry, f"an argument of `{name}`")
        best = entries[0]
        for entry in entries[1:]:
            best = entry if later(best, entry) else best
        return best

    return choose


def _abs(value: Value) -> Value:
    return checked(abs(number(value, "the argument of `abs`")))


def _range(first: Value, second: Value | None = None) -> Value:
    start = 0 if second is None else number(first, "the start of `range`")
    stop = number(first if second is None else second, "the end of `range`")
    makes(stop - start)
    return ListValue(np.arange(start, max(start, stop), dtype=np.int64))


def _diff(values: Value) -> Value:
    exact = _exact(values)
    if exact is not None:
        return ListValue(np.diff(exact))
    entries = numbers(values, "the argument of `diff`")
    return ListValue([checked(b - a) for a, b in itertools.pairwise(entries)])


def _exact(values: Value) -> NDArray[np.int64] | None:
    """The entries as an array if no sum of them, of any sign, leaves 64 bits."""
    entries = values.array if isinstance(values, ListValue) else None
    if entries is None or not len(entries):
        return None
    largest = max(abs(int(entries.min())), abs(int(entries.max())))
    return entries.astype(np.int64) if largest * len(entries) < INT64_MAX // 2 else None


def _cumsum(values: Value) -> Value:
    exact = _exact(values)
    if exact is not None:
        return ListValue(np.cumsum(exact))
    return ListValue([checked(total) for total in itertools.accumulate(numbers(values, "the argument of `cumsum`"))])


def _runs(values: Value) -> Value:
    entries = list_of(values, "the argument of `runs`")
    if entries.array is not None:
        starts = np.flatnonzero(np.append(True, entries.array[1:] != entries.array[:-1])[: len(entries)])
        return ListValue(np.append(starts[1:], len(entries))[: len(starts)].astype(np.int64) - starts.astype(np.int64))
    return ListValue([sum(1 for _ in group) for _, group in itertools.groupby(entries)])


def _count(values: Value, wanted: Value) -> Value:
    entries = np.array(numbers(values, "the list of `count`"), dtype=np.int64)
    if (entries[1:] < entries[:-1]).any():
        raise EvaluationError(
            "the list of `count` is not sorted", "`count(list, x)` counts the entries of a sorted list <= x"
        )
    return int((entries <= number(wanted, "what `count` looks for")).sum())


def _find(values: Value, wanted: Value) -> Value:
    if isinstance(values, ListValue) and values.array is not None and len(values) and type(wanted) is type(values[0]):
        places = np.flatnonzero(values.array == wanted)
        if len(places):
            return int(places[0])
    for place, entry in enumerate(list_of(values, "the list of `find`")):
        if equal(entry, wanted):
            return place
    raise AbsentValueError(f"{show(wanted)} is not in the list of `find`")


def _morton(*coordinates: Value) -> Value:
    parts = [_natural(part, "morton", 63 // len(coordinates)) for part in coordinates]
    result = 0
    for bit in range(63 // len(parts)):
        for place, part in enumerate(reversed(parts)):
            result |= (part >> bit & 1) << (bit * len(parts) + place)
    return result


def _natural(value: Value, name: str, bits: int) -> int:
    result = number(value, f"an argument of `{name}`")
    if not 0 <= result < 2**bits:
        raise EvaluationError(f"an argument of `{name}` is {result}, expected 0 to {2**bits - 1}")
    return result


def _hilbert(row: Value, column: Value) -> Value:
    y, x = _natural(row, "hilbert", HILBERT_BITS), _natural(column, "hilbert", HILBERT_BITS)
    place = 0
    for bit in range(HILBERT_BITS - 1, -1, -1):
        right, down = x >> bit & 1, y >> bit & 1
        place += (3 * right ^ down) << 2 * bit
        if not down:
            if right:
                x, y = (2**bit - 1) ^ (x & (2**bit - 1)), (2**bit - 1) ^ (y & (2**bit - 1))
            x, y = y, x
    return place


def _grid(*extents: Value) -> Value:
    shape = tuple(number(extent, "an extent of `grid`") for extent in extents)
    if min(shape) < 0:
        raise EvaluationError(f"a grid of {' x '.join(str(extent) for extent in shape)} has a negative extent")
    return Grid(shape)


MANY = 1000


ARGUMENT_COUNTS = {
    Function.LEN: (1, 1),
    Function.SUM: (1, 1),
    Function.MIN: (1, MANY),
    Function.MAX: (1, MANY),
    Function.ABS: (1, 1),
    Function.RANGE: (1, 2),
    Function.DIFF: (1, 1),
    Function.CUMSUM: (1, 1),
    Function.RUNS: (1, 1),
    Function.COUNT: (2, 2),
    Function.FIND: (2, 2),
    Function.MORTON: (2, 3),
    Function.HILBERT: (2, 2),
    Function.GRID: (1, 3),
}


_FUNCTIONS: dict[Function, Callable[..., Value]] = {
    Function.LEN: _len,
    Function.SUM: _sum,
    Function.MIN: _extreme("min", lambda best, entry: less(entry, best)),
    Function.MAX: _extreme("max", less),
    Function.ABS: _abs,
    Function.RANGE: _range,
    Function.DIFF: _diff,
    Function.CUMSUM: _cumsum,
    Function.RUNS: _runs,
    Function.COUNT: _count,
    Function.FIND: _find,
    Function.MORTON: _morton,
    Function.HILBERT: _hilbert,
    Function.GRID: _grid,
}
