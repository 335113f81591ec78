"""Values of many tokens: how they are kept, put together, and made one by one where no array operation does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.language import arithmetic as scalar
from compilemask.language import effort
from compilemask.language.arithmetic import AbsentValueError, EvaluationError
from compilemask.language.values import ListValue, Value

A_LIST = 6  # entries that a list by itself takes the memory of

Slots = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Values(NamedTuple):
    """A value per token: int64 numbers, bool conditions, or objects (strings, lists, `any`); `present` None: all."""

    values: NDArray[np.int64] | NDArray[np.bool_] | NDArray[np.object_]
    present: Flags | None

    def mask(self) -> Flags:
        """Which values are present."""
        return np.ones(len(self.values), dtype=np.bool_) if self.present is None else self.present

    def true(self) -> Flags:
        """A condition as flags: absent is false."""
        flags = self.values.astype(np.bool_) if self.values.dtype == np.bool_ else _conditions(self)
        return flags if self.present is None else flags & self.present


def each(function: Callable[..., Value], arguments: tuple[Values, ...], slots: Slots) -> Values:
    """The function value by value, where all arguments are present."""
    present: Flags | None = None
    for argument in arguments:
        present = both(present, argument.present)
    keep = np.ones(len(slots), dtype=np.bool_) if present is None else present.copy()
    effort.spend(effort.ONE_BY_ONE * int(keep.sum()))
    columns = [argument.values.tolist() for argument in arguments]
    results: list[Value] = []
    entries = 0
    for place in np.flatnonzero(keep).tolist():
        try:
            results.append(function(*(column[place] for column in columns)))
            if type(results[-1]) is ListValue:
                entries += results[-1].total + A_LIST
                scalar.bounded(entries, "the lists of all tokens together", "make one list and look numbers up in it")
        except AbsentValueError:
            keep[place] = False
        except EvaluationError as error:
            raise EvaluationError(error.message, error.hint, int(slots[place])) from None
    return assembled(len(slots), [(np.flatnonzero(keep), pack(results))])


def pack(results: list[Value]) -> Values:
    """Values as the narrowest kind of array that holds them."""
    if all(type(result) is int for result in results):
        return Values(np.array(results, dtype=np.int64), None)
    if all(type(result) is bool for result in results):
        return Values(np.array(results, dtype=np.bool_), None)
    return Values(objects(results), None)


def assembled(length: int, pieces: list[tuple[NDArray[np.intp], Values]]) -> Values:
    """Values of disjoint sets of places put together; places in no set are absent."""
    filled = [(places, values) for places, values in pieces if len(places)]
    kinds = {values.values.dtype for _, values in filled}
    kind: np.dtype[np.generic] = kinds.pop() if len(kinds) == 1 else np.dtype(np.object_ if kinds else np.int64)
    result = np.zeros(length, dtype=kind)
    present = np.zeros(length, dtype=np.bool_)
    for places, values in filled:
        result[places] = values.values if kind != np.object_ else objects(values.values.tolist())
        present[places] = values.mask()
    return Values(result, None if present.all() else present)


def both(left: Flags | None, right: Flags | None) -> Flags | None:
    if left is None or right is None:
        return left if right is None else right
    return left & right


def objects(items: list[Value] | tuple[Value, ...]) -> NDArray[np.object_]:
    """The values as an object array, lists staying lists."""
    array = np.empty(len(items), dtype=np.object_)
    for place, item in enumerate(items):
        array[place] = item
    return array


def numbers_of(found: Values, what: str) -> NDArray[np.int64]:
    if found.values.dtype == np.int64:
        return found.values.astype(np.int64, copy=False)
    present = found.mask()
    result = np.zeros(len(found.values), dtype=np.int64)
    result[present] = [scalar.number(value, what) for value in found.values[present].tolist()]
    return result


def _conditions(found: Values) -> Flags:
    present = found.mask()
    result = np.zeros(len(found.values), dtype=np.bool_)
    result[present] = [scalar.condition(value, "this") for value in found.values[present].tolist()]
    return result
