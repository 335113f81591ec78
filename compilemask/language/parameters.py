"""Values that a mask is given from Python, JSON or the command line, made values of the language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.language.values import ANY, INT64_MAX, INT64_MIN, ListValue, Unbounded, Value, told

LONGEST_LIST = 2**24
MOST_LISTS = 2**20  # in a list, or an array of several dimensions
DEEPEST_LIST = 16
SHORT_LIST = 64


def to_value(given: object) -> Value:
    """An integer, boolean, string, None (`any`), nested sequence, array or tensor as a value.

    Raises ValueError with the reason in words for anything else; arrays and tensors are copied.
    """
    return _value(given, 0, _Room())


class _Room:
    """How much a value may still hold: a short text can stand for a large one, as `[[[1] * 4000] * 4000] * 4000`."""

    def __init__(self) -> None:
        self.entries = LONGEST_LIST
        self.lists = MOST_LISTS

    def take(self, entries: int) -> None:
        """Make a list of so many entries."""
        self.lists -= 1
        self.entries -= entries
        if self.entries < 0:
            raise ValueError(f"a list of more than {LONGEST_LIST} entries, those of lists in it included")
        if self.lists < 0:
            raise ValueError(f"more than {MOST_LISTS:,} lists; an array holds rows of the same length in one")


def _value(given: object, depth: int, room: _Room) -> Value:
    if depth > DEEPEST_LIST:
        raise ValueError(f"lists nested more than {DEEPEST_LIST} deep")
    match given:
        case None | Unbounded():
            return ANY
        case bool() | str():
            return given
        case int():
            return _integer(given)
        case ListValue():
            return given
        case np.ndarray():
            return _array(given)
        case np.generic():
            return _array(np.asarray(given))
        case list() | tuple() | range():
            return _sequence(given, depth, room)
    return _other(given, depth, room)


def _integer(given: int) -> int:
    if not INT64_MIN <= given <= INT64_MAX:
        raise ValueError(f"the number {told(given)}, which does not fit 64 bits")
    return int(given)


def _sequence(given: Sequence[object], depth: int, room: _Room) -> Value:
    if len(given) > LONGEST_LIST:
        raise ValueError(f"a list of {len(given)} entries, at most {LONGEST_LIST} are allowed")
    room.take(len(given))
    if all(type(entry) is int for entry in given):
        return _integers(given)
    made = ListValue([_value(entry, depth + 1, room) for entry in given])
    if made.total > LONGEST_LIST:
        raise ValueError(f"a list of {made.total} entries, at most {LONGEST_LIST} are allowed")
    return made


def _integers(given: Sequence[Any]) -> ListValue:
    """A flat list of integers; a short one stays a tuple, which is faster to make."""
    if len(given) <= SHORT_LIST:
        return ListValue([_integer(entry) for entry in given])
    try:
        return ListValue(np.array(given, dtype=np.int64))
    except OverflowError:
        raise ValueError(f"the number {told(max(given, key=abs))}, which does not fit 64 bits") from None


def _array(given: NDArray[np.generic]) -> Value:
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError("a masked array, which has no value where it is masked; fill it first")
    if given.dtype.kind not in "iub":
        hint = "; convert them to integers first" if given.dtype.kind == "f" else ""
        raise ValueError(f"an array of {given.dtype}, expected integers or booleans{hint}")
    if given.size > LONGEST_LIST:
        raise ValueError(f"an array of {given.size} entries, at most {LONGEST_LIST} are allowed")
    if given.ndim > 1 and int(np.prod(given.shape[:-1])) > MOST_LISTS:
        rows = " x ".join(map(str, given.shape))
        raise ValueError(f"an array of {rows}: at most {MOST_LISTS:,} rows are allowed")
    if given.dtype == np.uint64 and given.size and int(given.max()) > INT64_MAX:
        raise ValueError(f"the number {int(given.max())}, which does not fit 64 bits")
    if given.ndim == 0:
        return bool(given) if given.dtype == np.bool_ else int(given)
    if given.ndim == 1:
        return ListValue(given.astype(np.bool_) if given.dtype == np.bool_ else given.astype(np.int64))
    return ListValue([_array(row) for row in given])


def _other(given: object, depth: int, room: _Room) -> Value:
    """A tensor, by its own way to numpy; a float, a mapping or anything else is refused."""
    detach = getattr(given, "detach", None)
    if callable(detach):
        return _value(detach().cpu().numpy(), depth, room)
    if isinstance(given, float):
        raise ValueError(f"the number {given}; the language has integers only")
    raise ValueError(f"a value of type {type(given).__name__}")
