"""What operators and functions give for single values: 64-bit integers, checked; everything else is an error in words.

A boolean is not a number and a number is not a condition. `any` may be compared, added to and subtracted from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from compilemask.language.program import ArithmeticOperator, ComparisonOperator, Function
from compilemask.language.values import ANY, INT64_MAX, INT64_MIN, Grid, ListValue, Unbounded, Value, describe, show

LONGEST_LIST = 2**24
HILBERT_BITS = 16


class EvaluationError(Exception):
    """An expression has no value: the message says why, `hint` what to do about it, `slot` for which token."""

    def __init__(self, message: str, hint: str | None = None, slot: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slot = slot


class AbsentValueError(EvaluationError):
    """The value does not exist, for example `find` of an entry that a list lacks: absent for a token."""


def checked(value: int) -> int:
    """The value, if it fits 64 bits."""
    if not INT64_MIN <= value <= INT64_MAX:
        raise EvaluationError(f"the result {value} does not fit 64 bits")
    return value


def number(value: Value, what: str) -> int:
    """The value as an integer, or an error that names `what`."""
    if type(value) is int:
        return value
    hint = "write `1 if condition else 0`" if type(value) is bool else None
    raise EvaluationError(f"{what} is {describe(value)}, expected a number", hint)


def condition(value: Value, what: str) -> bool:
    """The value as a condition, or an error that names `what`."""
    if type(value) is bool:
        return value
    hint = "a number is no condition: compare it with `== 1`" if type(value) is int else None
    raise EvaluationError(f"{what} is {describe(value)}, expected a condition", hint)


def list_of(value: Value, what: str) -> ListValue:
    """The value as a list, or an error that names `what`."""
    if isinstance(value, ListValue):
        return value
    raise EvaluationError(f"{what} is {describe(value)}, expected a list")


def arithmetic(operator: ArithmeticOperator, left: Value, right: Value) -> Value:
    """`left operator right`."""
    if isinstance(left, ListValue) or isinstance(right, ListValue):
        return _list_arithmetic(operator, left, right)
    if left is ANY or right is ANY:
        return _unbounded_arithmetic(operator, left, right)
    a = number(left, f"the left side of `{operator.value}`")
    b = number(right, f"the right side of `{operator.value}`")
    match operator:
        case ArithmeticOperator.ADD:
            return checked(a + b)
        case ArithmeticOperator.SUBTRACT:
            return checked(a - b)
        case ArithmeticOperator.MULTIPLY:
            return checked(a * b)
    if b == 0:
        raise EvaluationError(f"`{a} {operator.value} 0` divides by zero")
    return checked(a // b if operator is ArithmeticOperator.FLOOR_DIVIDE else a % b)


def _unbounded_arithmetic(operator: ArithmeticOperator, left: Value, right: Value) -> Value:
    allowed = operator is ArithmeticOperator.ADD or (operator is ArithmeticOperator.SUBTRACT and right is not ANY)
    if allowed and all(value is ANY or type(value) is int for value in (left, right)):
        return ANY
    raise EvaluationError(
        f"`{show(left)} {operator.value} {show(right)}` has no value",
        "`any` may be stored, compared, added to a number and lessened by one; nothing else",
    )


def _list_arithmetic(operator: ArithmeticOperator, left: Value, right: Value) -> Value:
    if operator is ArithmeticOperator.ADD and isinstance(left, ListValue) and isinstance(right, ListValue):
        return _join(left, right)
    if operator is ArithmeticOperator.MULTIPLY:
        values, times = (left, right) if isinstance(left, ListValue) else (right, left)
        if isinstance(values, ListValue) and type(times) is int:
            return _repeat(values, times)
    raise EvaluationError(
        f"`{operator.value}` does not work on {describe(left)} and {describe(right)}",
        "lists can be joined with `+` and repeated with `* number`",
    )


def _join(left: ListValue, right: ListValue) -> ListValue:
    bounded(left.total + right.total)
    if left.array is not None and right.array is not None and left.array.dtype == right.array.dtype:
        return ListValue(np.concatenate([left.array, right.array]).astype(left.array.dtype))
    return ListValue(left.items + right.items)


def bounded(entries: int) -> None:
    """Refuse a list that would be too long, before it is made."""
    if entries > LONGEST_LIST:
        raise EvaluationError(f"the list would have {entries:,} entries, at most {LONGEST_LIST:,} are allowed")


def _repeat(values: ListValue, times: int) -> ListValue:
    if times < 0:
        raise EvaluationError(f"a list cannot be repeated {times} times")
    bounded(values.total * times)
    if values.array is not None:
        return ListValue(np.tile(values.array, times))
    return ListValue(values.items * times)


# ---------------------------------------------------------------- comparisons


def compare(operator: ComparisonOperator, left: Value, right: Value) -> bool:
    """`left operator right`; tuples and lists element by element, `any` above every number."""
    match operator:
        case ComparisonOperator.IN:
            return contains(list_of(right, "the right side of `in`"), left)
        case ComparisonOperator.NOT_IN:
            return not contains(list_of(right, "the right side of `not in`"), left)
        case ComparisonOperator.EQUAL:
            return equal(left, right)
        case ComparisonOperator.NOT_EQUAL:
            return not equal(left, right)
        case ComparisonOperator.LESS:
            return less(left, right)
        case ComparisonOperator.LESS_EQUAL:
            return not less(right, left)
        case ComparisonOperator.GREATER:
            return less(right, left)
        case _:
            return not less(left, right)


def equal(left: Value, right: Value) -> bool:
    """Equality of two values of one kind."""
    _same_kind(left, right)
    if isinstance(left, ListValue) and isinstance(right, ListValue):
        return len(left) == len(right) and all(equal(a, b) for a, b in zip(left, right, strict=True))
    return left == right


def less(left: Value, right: Value) -> bool:
    """`left < right`: numbers, `any`, and lists of equal length from left to right."""
    _same_kind(left, right)
    match left, right:
        case bool(), bool():
            raise EvaluationError("conditions have no order", "compare them with `==` or `!=`")
        case int(), int():
            return left < right
        case ListValue(), ListValue():
            if len(left) != len(right):
                raise EvaluationError(f"{describe(left)} is compared with {describe(right)}")
            return next((less(a, b) for a, b in zip(left, right, strict=True) if not equal(a, b)), False)
        case str(), _:
            raise EvaluationError("strings have no order", "compare them with `==` or `!=`")
        case _:
            return right is ANY and left is not ANY


def contains(values: ListValue, wanted: Value) -> bool:
    """Whether some entry of the list equals the wanted value."""
    if values.array is not None and len(values) > 16 and type(wanted) is type(values[0]):
        return bool((values.array == wanted).any())
    return any(equal(wanted, entry) for entry in values)


def _same_kind(left: Value, right: Value) -> None:
    if _kind(left) != _kind(right):
        raise EvaluationError(
            f"{describe(left)} ({show(left)}) is compared with {describe(right)} ({show(right)})",
            "write `1 if condition else 0` to make a number of a condition"
            if bool in (type(left), type(right))
            else None,
        )


def _kind(value: Value) -> type:
    return int if isinstance(value, Unbounded) else type(value)


# ---------------------------------------------------------------- lists and functions


def lookup(values: Value, index: Value, *, from_end: bool) -> Value:
    """`values[index]`; a negative index counts from the end only where `from_end` (it depends on no token)."""
    entries = list_of(values, "what is indexed")
    place = number(index, "the index")
    if from_end and -len(entries) <= place < 0:
        place += len(entries)
    if 0 <= place < len(entries):
        return entries[place]
    if place < 0 and not from_end:
        raise EvaluationError(
            f"the index is {place}",
            "an index that depends on a token never counts from the end: exclude it with `where`",
        )
    raise EvaluationError(f"index {place} is outside of {describe(entries)}")


def slice_of(values: Value, start: Value | None, stop: Value | None, *, from_end: bool) -> Value:
    """`values[start:stop]`, clipped to the list; negative ends count from the end only where `from_end`."""
    entries = list_of(values, "what is sliced")
    ends = [None if end is None else number(end, "an end of the slice") for end in (start, stop)]
    if not from_end and any(end is not None and end < 0 for end in ends):
        raise EvaluationError("a slice end that depends on a token is negative")
    if entries.array is not None:
        return ListValue(entries.array[ends[0] : ends[1]])
    return ListValue(entries.items[ends[0] : ends[1]])


def numbers(value: Value, what: str) -> list[int]:
    """The entries of a list of integers; booleans count 0 and 1."""
    entries = list_of(value, what)
    if entries.array is not None:
        return [int(entry) for entry in entries.array.tolist()]
    return [number(entry, f"an entry of {what}") for entry in entries]


def call(function: Function, arguments: Sequence[Value]) -> Value:
    """The value of a function."""
    least, most = ARGUMENT_COUNTS[function]
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"at least {least}"
        noun = "argument" if wanted == "1" else "arguments"
        raise EvaluationError(f"`{function.value}` takes {wanted} {noun}, not {len(arguments)}")
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
    bounded(stop - start)
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
