"""Reads the arrays by which other programs say a mask."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import UsageError
from compilemask.intervals import Intervals
from compilemask.language.bind_layout import MOST_TOKENS
from compilemask.language.bind_parameters import MOST_HEADS, MOST_SAMPLES
from compilemask.text_files import NOT_NPY, opened

MOST_CELLS = 1 << 32
FLASHMASK_BOUNDS = {True: (1, 2), False: (2, 4)}

Array = NDArray[Any]
Masks = tuple[tuple[Intervals, ...], ...]
"""One mask per batch entry and head: masks[batch][head]."""


class Form(Enum):
    """What an array says."""

    DENSE = "dense"
    ENDPOINTS = "endpoints"
    FLASHMASK = "flashmask"
    CU_SEQLENS = "cu_seqlens"


EXPECTED = {
    Form.DENSE: "booleans (or 0 and 1), [queries, keys] or [batch, heads, queries, keys], True = visible",
    Form.ENDPOINTS: "integers, [heads, an odd count, queries]: a query sees [0, F0), [F1, F2), ...",
    Form.FLASHMASK: "integers, [batch, heads, keys, 1, 2 or 4]: the queries that each key hides",
    Form.CU_SEQLENS: "integers, [documents + 1], that begin with 0 and never decrease",
}


def read_array(path: Path) -> Array:
    """The array of a `.npy` file, not yet in memory.

    Raises:
        UsageError: the file is missing, is no `.npy` file, or holds something else than booleans, integers or floats.
    """
    opened(path).close()  # numpy would wait for a pipe
    try:
        with np.errstate(over="ignore"):  # of sizes, which are refused then
            array: Array = np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except NOT_NPY:
        raise UsageError(f"{path} is no array that can be read; expected a .npy file as numpy.save writes it") from None
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{path} holds {array.dtype} values; expected booleans or integers")
    return array


def hidden_value(array: Array) -> float | None:
    """The value that hides in an additive mask of floats, beside 0, which shows; None for booleans and integers.

    Only -inf and the lowest number of the type are taken for it: any other number may be a bias that hides nothing.

    Raises:
        UsageError: the array holds other floats, or 0 alone, which may mean all or nothing.
    """
    if array.dtype.kind != "f":
        return None
    lowest = float(np.finfo(array.dtype).min)
    hidden: float | None = None
    for block in _blocks(array.reshape(-1, array.shape[-1]) if array.ndim and array.size else array.reshape(1, -1)):
        others = block[block != 0]
        if others.size and hidden is None:
            hidden = float(others[0])
        if others.size and (hidden not in (-math.inf, lowest) or not (others == hidden).all()):
            odd = next((x for x in others.tolist() if x not in (-math.inf, lowest)), None)
            what = f"such as {odd:.6g}" if odd is not None else f"both -inf and {lowest:.6g}"
            raise _not_additive(array, f"values {what}")
    if hidden is None and array.size:
        raise _not_additive(array, "zeros only, which may show all or nothing")
    return hidden


def _not_additive(array: Array, found: str) -> UsageError:
    return UsageError(
        f"the array holds {array.dtype} {found}; expected booleans, or a mask to add that holds 0 (visible) and "
        f"-inf or {float(np.finfo(array.dtype).min):.6g} (hidden); "
        "save `x == 0`, or whatever is True where a query sees a key"
    )


def guess(array: Array) -> Form | None:
    """The form that an array most likely has; None where none fits."""
    if array.dtype.kind == "f":
        return Form.DENSE if array.ndim in (2, 4) else None
    if array.dtype.kind == "b" and array.ndim in (2, 4):
        return Form.DENSE
    if array.ndim == 1:
        return Form.CU_SEQLENS
    if array.ndim == 4 and array.shape[-1] in (1, 2, 4):
        return Form.FLASHMASK
    if array.ndim == 3 and array.shape[1] % 2:
        return Form.ENDPOINTS
    return Form.DENSE if array.ndim in (2, 4) else None


def masks_of(array: Array, form: Form, *, causal: bool = False, length: int | None = None) -> Masks:
    """The mask of every batch entry and head. `causal` says how FlashMask was called; `length` is the number of keys
    (endpoints) or queries (FlashMask), which the array does not say; without it the mask is as square as it can be.

    Raises:
        UsageError: the array is not of the form; the message says what was found and expected.
    """
    match form:
        case Form.DENSE:
            return _dense(array)
        case Form.ENDPOINTS:
            return _endpoints(array, length)
        case Form.FLASHMASK:
            return _flashmask(array, length, causal=causal)
        case Form.CU_SEQLENS:
            raise ValueError("cu_seqlens are documents, not masks")


def documents_of(array: Array) -> list[int]:
    """The length of every document, from cumulative lengths.

    Raises:
        UsageError: the array is not of the form.
    """
    _need(array.ndim == 1 and array.size > 1 and array.dtype.kind in "iu", array, Form.CU_SEQLENS)
    ends = array.astype(np.int64)
    _need(int(ends[0]) == 0, array, Form.CU_SEQLENS, f"the first is {int(ends[0]):,}")
    falls = array[1:] < array[:-1]  # compared, not subtracted: a difference can wrap
    if falls.any():
        place = int(np.argmax(falls)) + 1
        _need(False, array, Form.CU_SEQLENS, f"entry {place:,} is smaller than the one before")
    _few(int(array[-1]), "tokens")
    return [int(length) for length in np.diff(ends)]


def _dense(array: Array) -> Masks:
    _need(array.ndim in (2, 4), array, Form.DENSE)
    if array.size > MOST_CELLS:
        raise UsageError(f"the array has {array.size:,} cells; at most {MOST_CELLS:,} are read")
    stack = array if array.ndim == 4 else array[None, None]
    _need(0 not in stack.shape[:2], array, Form.DENSE)
    _few_masks(stack)
    _few(stack.shape[2], "queries")
    _few(stack.shape[3], "keys")
    hidden_value(array)
    return tuple(tuple(_from_dense(one, array) for one in sample) for sample in stack)


def _from_dense(cells: Array, whole: Array) -> Intervals:
    """By blocks of rows, so that a large array is never in memory twice."""
    rows, columns = cells.shape
    parts = []
    for block in _blocks(cells):
        if block.dtype.kind == "f":
            parts.append(Intervals.from_dense(block == 0))  # an additive mask, as `hidden_value` has found
            continue
        if block.dtype.kind != "b":
            _need(bool(((block == 0) | (block == 1)).all()), whole, Form.DENSE, "it holds other values")
        parts.append(Intervals.from_dense(block.astype(np.bool_)))
    return Intervals.stacked(columns, parts) if parts else Intervals.empty(rows, columns)


def _blocks(cells: Array) -> Iterator[Array]:
    """Some rows after the other, in memory."""
    step = max(1, (1 << 26) // max(1, cells.shape[1]))
    for first in range(0, len(cells), step):
        yield np.asarray(cells[first : first + step])


def _endpoints(array: Array, length: int | None) -> Masks:
    stack = array[None] if array.ndim == 2 else array
    fits = stack.ndim == 3 and stack.shape[1] % 2 == 1 and stack.shape[0] > 0 and array.dtype.kind in "iu"
    _need(fits, array, Form.ENDPOINTS)
    _few_masks(stack[None])
    _few(stack.shape[2], "queries")
    values = stack.astype(np.int64)
    keys = _other_length(values, values.shape[2], length, Form.ENDPOINTS, "keys")
    return (tuple(_from_endpoints(one, keys) for one in values),)


def _from_endpoints(values: NDArray[np.int64], keys: int) -> Intervals:
    queries = values.shape[1]
    starts = np.concatenate((np.zeros((1, queries), np.int64), values[1::2]))
    ends = values[::2]
    row = np.broadcast_to(np.arange(queries), starts.shape)
    return Intervals.from_runs(queries, keys, row.ravel(), starts.ravel(), ends.ravel())


def _flashmask(array: Array, length: int | None, *, causal: bool) -> Masks:
    fits = array.ndim == 4 and array.dtype.kind in "iu" and 0 not in array.shape[:2]
    _need(fits and array.shape[-1] in (1, 2, 4), array, Form.FLASHMASK)
    _few_masks(array)
    _few(array.shape[2], "keys")
    bounds = FLASHMASK_BOUNDS[causal]
    if array.shape[-1] not in bounds:
        other = "causal" if not causal else "not causal"
        raise UsageError(f"{array.shape[-1]} bounds a key belong to a FlashMask call that is {other}; say so")
    values = array.astype(np.int64)
    queries = _other_length(values, values.shape[2], length, Form.FLASHMASK, "queries")
    return tuple(tuple(_from_bounds(one, queries, causal=causal) for one in sample) for sample in values)


def _from_bounds(bounds: NDArray[np.int64], queries: int, *, causal: bool) -> Intervals:
    """What is left of all queries, or of those from the key on, when the hidden stretches of each key are taken out."""
    keys = len(bounds)
    key = np.arange(keys)
    hidden = Intervals.empty(keys, queries)
    for start, end in _hidden(bounds, queries, causal=causal):
        hidden = hidden.union(Intervals.from_runs(keys, queries, key, start, np.maximum(start, end)))
    first = np.minimum(key, queries) if causal else np.zeros(keys, np.int64)
    shown = Intervals.from_bounds(queries, first, np.full(keys, queries)).difference(hidden)
    return shown.transpose()


def _hidden(
    bounds: NDArray[np.int64], queries: int, *, causal: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The stretches [start, end) of queries that each key hides (arXiv 2410.01359, table of bounds)."""
    columns = bounds.T
    last, first = np.full(len(bounds), queries), np.zeros(len(bounds), np.int64)
    if len(columns) == 1:
        yield columns[0], last
    elif len(columns) == 2 and causal:
        yield columns[0], columns[1]
    elif len(columns) == 2:
        yield columns[0], last
        yield first, columns[1]
    else:
        yield columns[0], columns[1]
        yield columns[2], columns[3]


def _other_length(values: NDArray[np.int64], known: int, length: int | None, form: Form, what: str) -> int:
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    if least < 0:
        raise UsageError(f"the array holds {least}; expected {EXPECTED[form]}, none below 0")
    found = max(known, most) if length is None else length
    if most > found:
        raise UsageError(f"the array speaks of {most:,} {what}, but there are {found:,}")
    _few(found, what)
    return found


def _few_masks(stack: Array) -> None:
    _few(stack.shape[0], "batch entries", MOST_SAMPLES)
    _few(stack.shape[1], "heads", MOST_HEADS)


def _few(count: int, what: str, most: int = MOST_TOKENS) -> None:
    """The language's own limits: a text beyond them would be refused when it is read."""
    if count > most:
        raise UsageError(f"the array speaks of {count:,} {what}; at most {most:,} are allowed")


def _need(holds: bool, array: Array, form: Form, why: str = "") -> None:
    if not holds:
        found = f"{array.dtype} {list(array.shape)}"
        reason = f": {why}" if why else ""
        raise UsageError(f"not {form.value}{reason}; found {found}; expected {EXPECTED[form]}")
