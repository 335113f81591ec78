"""Small numbers for values of two axes, so that equal values have equal numbers on both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.language import effort
from compilemask.language.values import ANY, describe, show
from compilemask.source import Diagnostic, Severity, Span

Ints = NDArray[np.int64]
UNBOUNDED = 2**61


def joint_codes(query: NDArray[Any], key: NDArray[Any]) -> tuple[Ints, Ints, int]:
    """Order-preserving codes 0..n - 1 of the values of both arrays, and n."""
    if query.dtype == object or key.dtype == object:
        return _object_codes(query, key)
    query, key = query.astype(np.int64), key.astype(np.int64)
    if not query.size or not key.size:
        return np.zeros(query.size, np.int64), np.zeros(key.size, np.int64), 1
    least, most = min(int(query.min()), int(key.min())), max(int(query.max()), int(key.max()))
    if most - least < 4 * (query.size + key.size) + 1024:
        return query - least, key - least, most - least + 1
    values, codes = np.unique(np.concatenate((query, key)), return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    return codes[: query.size], codes[query.size :], values.size


def check_kinds(query: NDArray[Any], key: NDArray[Any], span: Span | None) -> None:
    """Raise unless values of both sides may be compared for equality."""
    kinds = _kinds(query) | _kinds(key)
    if not query.size or not key.size or len(kinds) < 2:
        return
    first, second, *_ = kinds.values()
    message = f"{describe(first)} ({show(first)}) is compared with {describe(second)} ({show(second)})"
    raise MaskFileError([Diagnostic(Severity.ERROR, "evaluation", message, span)])


def _kinds(values: NDArray[Any]) -> dict[type, Any]:
    if values.dtype != object:
        return {type(value): value for value in values.reshape(-1)[:1].tolist()}
    effort.spend(effort.AN_OBJECT * values.size)
    return {int if value is ANY else type(value): value for value in values.reshape(-1).tolist()}


def _object_codes(query: NDArray[Any], key: NDArray[Any]) -> tuple[Ints, Ints, int]:
    effort.spend(effort.ONE_BY_ONE // 2 * (query.size + key.size))
    values = query.tolist() + key.tolist()
    distinct = set(values)
    ordered = sorted(distinct, key=_rank) if all(type(v) is int or v is ANY for v in distinct) else list(distinct)
    number = {value: i for i, value in enumerate(ordered)}
    codes = np.fromiter((number[value] for value in values), np.int64, len(values))
    return codes[: query.size], codes[query.size :], max(1, len(ordered))


def _rank(value: Any) -> int:
    return UNBOUNDED if value is ANY else int(value)


def combine(pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[Ints, Ints, int]:
    """Codes of tuples, lexicographic; at least one pair."""
    query, key, count = joint_codes(*pairs[0])
    for more in pairs[1:]:
        query_more, key_more, count_more = joint_codes(*more)
        query, key, count = query * count_more + query_more, key * count_more + key_more, count * count_more
        if count > 1 << 40 or count > 8 * (query.size + key.size) + (1 << 16):
            query, key, count = joint_codes(query, key)
    return query, key, count


def first_of_each(columns: Sequence[NDArray[np.integer]], at_most: int) -> tuple[Ints, NDArray[np.int32]] | None:
    """The first place of every different tuple of numbers, and for every place the number of its tuple.

    None where there are more than `at_most`, or where their numbers are too far apart to be counted.
    """
    places = columns[0].size
    if not places:
        return None
    code, size = np.zeros(places, np.int64), 1
    for column in columns:
        least = int(column.min())
        size *= int(column.max()) - least + 1
        if size > 4 * places + 1024:
            return None
        code = code * (int(column.max()) - least + 1) + (column - least)
    first = np.full(size, -1, np.int64)
    first[code[::-1]] = np.arange(places)[::-1]
    different = np.flatnonzero(first >= 0)
    if different.size > at_most:
        return None
    number = np.zeros(size, np.int32)
    number[different] = np.arange(different.size)
    return first[different], number[code]


def numbers(values: NDArray[Any], span: Span | None) -> Ints:
    """Values as integers, `any` above all; an error where they have no order."""
    if values.dtype == np.int64:
        return values
    effort.spend(effort.ONE_BY_ONE // 2 * values.size, span)
    if values.dtype == object and all(type(v) is int or v is ANY for v in values.tolist()):
        return np.fromiter((_rank(value) for value in values.tolist()), np.int64, values.size)
    if not values.size:
        return np.zeros(0, np.int64)
    message = f"{describe(values.reshape(-1)[:1].tolist()[0])} has no order"
    raise MaskFileError([Diagnostic(Severity.ERROR, "evaluation", message, span, "compare it with `same` or `==`")])
