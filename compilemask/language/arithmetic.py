"""What operators and functions give for single values: 64-bit integers, checked; everything else is an error in words.

A boolean is not a number and a number is not a condition. `any` may be compared, added to and subtracted from.
"""

from __future__ import annotations

import numpy as np

from compilemask.language import effort
from compilemask.language.program import ArithmeticOperator, ComparisonOperator
from compilemask.language.values import ANY, INT64_MAX, INT64_MIN, ListValue, Unbounded, Value, describe, show

LONGEST_LIST = 2**24


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
    makes(left.total + right.total)
    if left.array is not None and right.array is not None and left.array.dtype == right.array.dtype:
        return ListValue(np.concatenate([left.array, right.array]).astype(left.array.dtype))
    return ListValue(left.items + right.items)


def bounded(entries: int, what: str = "the list", hint: str | None = None) -> None:
    """Refuse a list that would be too long, before it is made."""
    if entries > LONGEST_LIST:
        raise EvaluationError(f"{what} would have {entries:,} entries, at most {LONGEST_LIST:,} are allowed", hint)


def makes(entries: int) -> None:
    """Refuse a list that would be too long, before it is made, and count the work of making it."""
    bounded(entries)
    effort.spend(effort.AN_ENTRY * max(entries, 0))


def _repeat(values: ListValue, times: int) -> ListValue:
    if times < 0:
        raise EvaluationError(f"a list cannot be repeated {times} times")
    makes(values.total * times)
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
        effort.spend(effort.ONE_BY_ONE * min(len(left), len(right)))
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
        effort.spend(len(values))
        return bool((values.array == wanted).any())
    effort.spend(effort.ONE_BY_ONE * len(values))
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
