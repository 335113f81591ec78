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
from compilemask.intervals.requests import Requests
from compilemask.source import Span

Ints = NDArray[np.int64]
Narrow = NDArray[np.int32]
Places = NDArray[np.integer]
LARGEST = 2**30  # codes and bounds below fit 32 bits with room to spare
MOST_CLASSES = 1 << 24
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
class GridRequests:
    """Requests [row, offset] where `valid`: class own[row] + step[offset], last coordinate in [low[row], high[row]].

    With a `reach`, bounds are low[row] - reach[offset] and high[row] + reach[offset].
    """

    rows: Narrow
    own: Narrow
    step: Narrow
    valid: NDArray[np.bool_]
    counts: Places  # [rows] valid ones
    low: Narrow
    high: Narrow
    reach: Narrow | None = None

    @property
    def size(self) -> int:
        """Number of requests."""
        return int(self.counts.sum())

    def portions(self) -> Iterator[Requests]:
        """Requests of some rows at a time, so that what is worked on stays in the cache."""
        for part in _portions(self.valid):
            counts, valid = self.counts[part], self.valid[part]
            chosen = slice(None) if int(counts.sum()) == valid.size else valid.reshape(-1)
            if self.reach is None:
                low, high = np.repeat(self.low[part], counts), np.repeat(self.high[part], counts)
            else:
                low = (self.low[part, None] - self.reach).reshape(-1)[chosen]
                high = (self.high[part, None] + self.reach).reshape(-1)[chosen]
            classes = (self.own[part, None] + self.step).reshape(-1)[chosen]
            yield Requests(np.repeat(self.rows[part], counts), classes, low, high)


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests and the classes of the keys, 0..class_count - 1."""

    requests: GridRequests
    key_classes: Ints
    class_count: int


@dataclass(frozen=True, slots=True)
class _Codes:
    """Numbers 0..space - 1 for a class and the leading coordinates: least value and number of values of each."""

    least: tuple[int, ...]
    sizes: tuple[int, ...]
    space: int

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
    """Codes for the keys' coordinates; None where there is one only, or where there would be too many."""
    leading = key.values[:, :-1]
    if not leading.shape[1]:
        return None
    least, most = leading.min(axis=0).tolist(), leading.max(axis=0).tolist()
    sizes = tuple(b - a + 1 for a, b in zip(least, most, strict=True))
    space = 1 + int(max(query.classes.max(), key.classes.max()))
    for size in sizes:
        space *= size
    largest = max(int(np.abs(query.values).max()), int(np.abs(key.values).max()))
    return _Codes(tuple(least), sizes, space) if space <= MOST_CLASSES and largest < LARGEST else None


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
        value, step = (query.values[:, axis] - least).astype(np.int32), steps[:, axis].astype(np.int32)
        for part in _portions(valid):
            place = value[part, None] + step
            valid[part] &= place.view(np.uint32) < np.uint32(size)
    counts = np.count_nonzero(valid, axis=1)
    check_runs(counts, span)
    reach = np.array([isqrt(one) for one in left.tolist()], np.int32)
    center = query.values[:, -1].astype(np.int32)
    own, step = codes.of(query.classes, query.values), codes.step(steps)
    requests = GridRequests(
        query.slots.astype(np.int32), own.astype(np.int32), step.astype(np.int32), valid, counts, center, center, reach
    )
    return Asked(requests, codes.of(key.classes, key.values), codes.space)


def _portions(valid: NDArray[np.bool_]) -> Iterator[slice]:
    """Rows of about CELLS_AT_ONCE cells, so that what is worked on stays in the cache."""
    rows = max(1, CELLS_AT_ONCE // max(1, valid.shape[1]))
    for begin in range(0, valid.shape[0], rows):
        yield slice(begin, begin + rows)


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
    own, step = codes.of(query.classes, low), codes.step(steps)
    requests = GridRequests(
        query.slots.astype(np.int32),
        own.astype(np.int32),
        step.astype(np.int32),
        valid,
        each,
        low[:, -1].astype(np.int32),
        high[:, -1].astype(np.int32),
    )
    return Asked(requests, codes.of(key.classes, key.values), codes.space)
