"""Requests of discs and boxes made side by side: every row asks for as many values of its leading coordinates.

Rows away from the borders ask alike, so the requests of all rows are one sum of what a row has and what a request
adds. Where rows ask for very different numbers, nothing is made and they are to be counted one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.limits import MOST_RUNS, check_runs
from compilemask.source import Span

Ints = NDArray[np.int64]
Narrow = NDArray[np.int32]
LARGEST = 2**30  # codes and bounds below fit 32 bits with room to spare
MOST_OFFSETS = 1 << 16
CELLS_AT_ONCE = 1 << 16


@dataclass(slots=True)
class Points:
    """Tokens of one side that have all coordinates: slots, class of the conjunction and [tokens, parts] values."""

    slots: Ints
    classes: Ints
    values: Ints

    def part(self, chosen: NDArray[np.bool_]) -> Points:
        """Some of the tokens."""
        if chosen.all():
            return self
        return Points(self.slots[chosen], self.classes[chosen], self.values[chosen])


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests (row, class and range of the last coordinate) and the classes of the keys."""

    rows: Narrow
    classes: Narrow
    low: Narrow
    high: Narrow
    key_classes: Ints


@dataclass(frozen=True, slots=True)
class _Codes:
    """Numbers for a class and the leading coordinates: least value and number of values of each."""

    least: tuple[int, ...]
    sizes: tuple[int, ...]

    def of(self, classes: Ints, values: Ints) -> Ints:
        """[tokens] codes; leading coordinates outside of the keys' give codes of no meaning."""
        codes = classes
        for axis, (least, size) in enumerate(zip(self.least, self.sizes, strict=True)):
            codes = codes * size + (values[:, axis] - least)
        return codes

    def step(self, steps: Ints) -> Ints:
        """[offsets] what steps along the leading coordinates add to a code."""
        added = np.zeros(steps.shape[0], np.int64)
        for axis, size in enumerate(self.sizes):
            added = added * size + steps[:, axis]
        return added


def _codes(query: Points, key: Points) -> _Codes | None:
    """Codes for the keys' coordinates; None where there is one only, or where they do not fit 32 bits."""
    leading = key.values[:, :-1]
    if not leading.shape[1]:
        return None
    least, most = leading.min(axis=0).tolist(), leading.max(axis=0).tolist()
    sizes = tuple(b - a + 1 for a, b in zip(least, most, strict=True))
    space = 1 + int(max(query.classes.max(), key.classes.max()))
    for size in sizes:
        space *= size
    largest = max(int(np.abs(query.values).max()), int(np.abs(key.values).max()))
    return _Codes(tuple(least), sizes) if max(space, largest) < LARGEST else None


def equal_discs(query: Points, key: Points, room: int, span: Span | None) -> Asked | None:
    """Requests for squared distances up to `room` >= 0."""
    codes = _codes(query, key)
    if codes is None or room >= LARGEST:
        return None
    ranges = []
    for axis, (least, size) in enumerate(zip(codes.least, codes.sizes, strict=True)):
        values = query.values[:, axis]
        radius = isqrt(room)
        low = max(-radius, least - int(values.max()))
        high = min(radius, least + size - 1 - int(values.min()))
        ranges.append(range(low, high + 1))
    if not all(ranges) or np.prod([len(one) for one in ranges], dtype=np.float64) > MOST_OFFSETS:
        return None
    steps = np.array(list(product(*ranges)), np.int64)
    left = room - (steps * steps).sum(axis=1)
    steps, left = steps[left >= 0], left[left >= 0]
    if not steps.size or query.slots.size * steps.shape[0] > 2 * MOST_RUNS:
        return None
    valid = np.ones((query.slots.size, steps.shape[0]), np.bool_)
    for axis, (least, size) in enumerate(zip(codes.least, codes.sizes, strict=True)):
        own, step = (query.values[:, axis] - least).astype(np.int32), steps[:, axis].astype(np.int32)
        for part in _portions(valid):
            place = own[part, None] + step
            valid[part] &= place.view(np.uint32) < np.uint32(size)
    counts = np.count_nonzero(valid, axis=1)
    check_runs(counts, span)
    reach = np.array([isqrt(one) for one in left.tolist()], np.int32)
    center = query.values[:, -1].astype(np.int32)
    return Asked(
        np.repeat(query.slots.astype(np.int32), counts),
        _sums(
            codes.of(query.classes, query.values).astype(np.int32), codes.step(steps).astype(np.int32), valid, counts
        ),
        _sums(center, -reach, valid, counts),
        _sums(center, reach, valid, counts),
        codes.of(key.classes, key.values),
    )


def _portions(valid: NDArray[np.bool_]) -> Iterator[slice]:
    """Rows of about CELLS_AT_ONCE cells, so that what is worked on stays in the cache."""
    rows = max(1, CELLS_AT_ONCE // max(1, valid.shape[1]))
    for begin in range(0, valid.shape[0], rows):
        yield slice(begin, begin + rows)


def _sums(own: Narrow, step: Narrow, valid: NDArray[np.bool_], counts: NDArray[np.integer]) -> Narrow:
    """own[row] + step[i] of the valid cells [row, i], row after row; `counts` [rows] of them."""
    sums = np.empty(int(counts.sum()), np.int32)
    done = 0
    for part in _portions(valid):
        cells = own[part, None] + step
        number = int(counts[part].sum())
        sums[done : done + number] = cells.reshape(-1) if number == cells.size else cells[valid[part]]
        done += number
    return sums


def equal_boxes(query: Points, key: Points, low: Ints, high: Ints, span: Span | None) -> Asked | None:
    """Requests for the product of the ranges [low[q, i], high[q, i]]; `query.values` are not looked at."""
    codes = _codes(Points(query.slots, query.classes, low), key)
    if codes is None or int(np.abs(high).max()) >= LARGEST:
        return None
    least = np.array(codes.least)
    low[:, :-1] = np.maximum(low[:, :-1], least)
    counts = np.maximum(np.minimum(high[:, :-1], least + np.array(codes.sizes) - 1) - low[:, :-1] + 1, 0)
    each = counts.prod(axis=1)
    check_runs(each, span)
    widths = counts.max(axis=0)
    width, total = int(widths.prod()), int(each.sum())
    if not total or width > MOST_OFFSETS or query.slots.size * width > 2 * total + 1024:
        return None
    steps = np.indices(widths.tolist()).reshape(widths.size, -1).T
    valid = np.ones((query.slots.size, width), np.bool_)
    for axis in np.flatnonzero((counts != widths).any(axis=0)).tolist():
        valid &= steps[:, axis] < counts[:, axis, None]
    return Asked(
        np.repeat(query.slots.astype(np.int32), each),
        _sums(codes.of(query.classes, low).astype(np.int32), codes.step(steps).astype(np.int32), valid, each),
        np.repeat(low[:, -1].astype(np.int32), each),
        np.repeat(high[:, -1].astype(np.int32), each),
        codes.of(key.classes, key.values),
    )
