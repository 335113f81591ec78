"""The join that every relation comes down to: rows ask for keys whose coordinate lies in a range.

A request is (row, class, low, high): all keys of that class whose coordinate lies in [low, high]. Keys are sorted by
(class, coordinate, slot); a request is then one slice of that order, and the slice breaks into runs where the slots
are not consecutive. Where slices would break too often (a coordinate that starts again in every instance), keys stay
in slot order, cut into pieces in which class is constant and the coordinate never decreases; a request is then one
run per piece. Both cost what they emit; the cheaper one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.gathering import Gathering
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.key_index import KeyIndex
from compilemask.intervals.layers import ROWS_A_KIND, Repeated
from compilemask.intervals.requests import Asking, Requests

Ints = NDArray[np.int64]
Narrow = NDArray[np.int32]
Places = NDArray[np.integer]
RUNS_AT_ONCE = 1 << 17
RUNS_A_REQUEST = 4  # comparing requests of fewer runs costs as much as comparing the runs
RUNS_REPEATED = 16  # rows of fewer runs are made about as fast as they are found to be alike


class Join:
    """One join, planned: `cost` is how many runs it will emit before merging, `asked` how many requests these answer.

    `places`: where the rows that ask lie, where that is not where they are.
    """

    def __init__(self, keys: KeyIndex, asking: Asking, places: Ints | None = None) -> None:
        self.keys = keys
        self.cost = 0
        self.by_pieces: _Pieces | None = None
        self.rows, self.first, self.last = _answered_slices(keys, asking, places)
        self.asked = int(self.rows.size)
        if self.asked:
            self.cost = self._runs()
            self._plan_pieces(asking, places)
        if self.by_pieces is None:
            keys.forget()

    def _plan_pieces(self, asking: Asking, places: Ints | None) -> None:
        """Answer by pieces where slices break too often."""
        if self.cost <= 2 * self.asked + 1024:
            return
        pieces = _Pieces(self.keys)
        if 2 * pieces.least * self.asked >= self.cost:
            return
        cost = sum(int(pieces.counts(part).sum()) for part in _answered(self.keys, asking, places))
        if 2 * cost < self.cost:
            self.cost, self.by_pieces = cost, pieces
            pieces.requests = list(_answered(self.keys, asking, places))
            self.rows = self.first = self.last = np.zeros(0, np.int32)

    def emit(self, rows: int, columns: int) -> Intervals:
        """The joined cells as a mask of rows x columns."""
        if self.by_pieces is None and self._in_order():
            return self._emit_in_order(rows, columns)
        gathering = Gathering(rows, columns, self.cost)
        if self.by_pieces is not None:
            for runs in self.by_pieces.emit():
                gathering.add(*runs)
        else:
            for part, counts in self._portions():
                row, (start, end) = self.rows[part], self._slices(part, counts)
                gathering.add(row if row.size == start.size else np.repeat(row, counts), start, end)
        return gathering.mask()

    def _emit_in_order(self, rows: int, columns: int) -> Intervals:
        """The same where runs come in the order in which a mask keeps them."""
        offsets = np.zeros(rows + 1, np.int64)
        starts, ends = np.empty(self.cost, np.int32), np.empty(self.cost, np.int32)
        done = 0
        for part, counts in self._portions():
            row = self.rows[part]
            first = np.concatenate(([0], np.flatnonzero(row[1:] != row[:-1]) + 1))
            offsets[row[first] + 1] += np.add.reduceat(counts, first)
            start, end = self._slices(part, counts)
            starts[done : done + start.size], ends[done : done + start.size] = start, end
            done += start.size
        np.cumsum(offsets, out=offsets)
        return Intervals(rows, columns, offsets, starts, ends)

    def _in_order(self) -> bool:
        """Whether rows and the slots of a row ascend from request to request, with a gap, and slots within each."""
        if not self.keys.ascending:
            return False
        if self.cost < RUNS_A_REQUEST * self.asked:
            return linear.ascends(self.rows)
        slots = self.keys.sorted_slots
        for part in self._requests():
            row = self.rows[part.start : part.stop + 1]
            follows = row[1:] > row[:-1]
            if not follows.all():
                before, after = self.last[part.start : part.stop + 1][:-1], self.first[part.start : part.stop + 1][1:]
                follows |= (row[1:] == row[:-1]) & (slots.take(before - 1) + np.int32(1) < slots.take(after))
                if not follows.all():
                    return False
        return True

    def repeated(self, rows: int, columns: int) -> Repeated | None:
        """The joined cells where many rows ask for the same slice, of many runs; None where that is not so."""
        first = self.first
        if self.by_pieces is not None or self.cost < RUNS_REPEATED * rows or not linear.ascends(self.rows):
            return None
        last = np.zeros(self.keys.sorted_slots.size, np.int32)
        last[first] = self.last
        begins = np.flatnonzero(last).astype(np.int32)
        if begins.size * ROWS_A_KIND > rows or not (last[first] == self.last).all():
            return None
        different = copy(self)
        different.asked = begins.size
        different.rows, different.first, different.last = np.arange(begins.size, dtype=np.int32), begins, last[begins]
        different.cost = different._runs()
        number = np.zeros(last.size, np.int32)
        number[begins] = np.arange(begins.size)
        kind = np.full(rows, begins.size, np.int32)  # rows that do not ask are an empty row, behind the others
        kind[self.rows] = number[first]
        return Repeated(different.emit(begins.size + 1, columns), kind)

    def _runs(self) -> int:
        """Runs of all slices."""
        if self.keys.unbroken:
            return self.asked
        return sum(int(self._counts(part).sum(dtype=np.int64)) for part in self._requests())

    def _requests(self) -> Iterator[slice]:
        for begin in range(0, self.asked, RUNS_AT_ONCE):
            yield slice(begin, begin + RUNS_AT_ONCE)

    def _portions(self) -> Iterator[tuple[slice, Narrow]]:
        """Requests of about RUNS_AT_ONCE runs, and the runs that answer each."""
        for some in self._requests():
            counts = self._counts(some)
            for part in _portions(counts):
                yield slice(some.start + part.start, some.start + part.stop), counts[part]

    def _counts(self, part: slice) -> Narrow:
        """Runs that answer each of some requests; none is empty."""
        first, last = self.first[part], self.last[part]
        if self.keys.unbroken:
            return np.ones(first.size, np.int32)
        return self.keys.run.take(last - 1) - self.keys.run.take(first) + np.int32(1)

    def _slices(self, part: slice, counts: Narrow) -> tuple[Narrow, Narrow]:
        keys = self.keys
        first, last = self.first[part], self.last[part]
        if keys.unbroken or int(counts.max()) == 1:
            only = keys.sorted_slots.take(first)
            return only, only + (last - first)
        if keys.apart:
            only = keys.sorted_slots.take(linear.narrow_ranges(first, counts))
            return only, only + np.int32(1)
        own = np.repeat(np.arange(first.size, dtype=np.int32), counts)
        run = linear.narrow_ranges(keys.run[first], counts)
        begin = np.maximum(keys.run_begin.take(run), first.take(own))
        end = np.minimum(keys.run_begin.take(run + 1), last.take(own))
        start = keys.sorted_slots.take(begin)
        end += start - begin
        return start, end


def _answered(keys: KeyIndex, asking: Asking, places: Ints | None) -> Iterator[Requests]:
    """The requests that any key answers, by the places of their rows."""
    for part in asking.portions():
        first, last = keys.slices(part)
        moved = part if places is None else replace(part, rows=places[part.rows])
        some = first < last
        yield moved if some.all() else moved.part(np.flatnonzero(some))


def _answered_slices(keys: KeyIndex, asking: Asking, places: Ints | None) -> tuple[Narrow, Narrow, Narrow]:
    """Place of the row, and slice [first, last), of every request that any key answers."""
    size = asking.size if keys.slots.size else 0
    rows, first, last = (np.empty(size, np.int32) for _ in range(3))
    found = 0
    for part in asking.portions() if size else ():
        begin, end = keys.slices(part)
        row = part.rows if places is None else places[part.rows]
        some = begin < end
        if not some.all():
            begin, end, row = begin[some], end[some], row[some]
        there = slice(found, found + row.size)
        rows[there], first[there], last[there] = row, begin, end
        found = there.stop
    if 2 * found < size:
        return rows[:found].copy(), first[:found].copy(), last[:found].copy()
    return rows[:found], first[:found], last[:found]


def _portions(counts: NDArray[np.integer]) -> Iterator[slice]:
    """Requests in portions of about RUNS_AT_ONCE runs."""
    total = np.cumsum(counts, dtype=np.int64)
    begin = 0
    while begin < counts.size:
        done = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + RUNS_AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end


class _Pieces:
    """Keys in slot order, cut where slots are not consecutive, the class changes or the coordinate decreases."""

    def __init__(self, keys: KeyIndex) -> None:
        self.keys = keys
        cut = (keys.slots[1:] != keys.slots[:-1] + 1) | (keys.rank[1:] < keys.rank[:-1])
        if keys.classes is not None:
            cut |= keys.classes[1:] != keys.classes[:-1]
        begin = np.concatenate(([0], np.flatnonzero(cut) + 1))
        piece = np.zeros(keys.slots.size, np.int64)
        np.cumsum(cut, out=piece[1:])
        self.codes = piece * keys.ranks.size + keys.rank
        classes = np.zeros(begin.size, np.int64) if keys.classes is None else keys.classes[begin]
        self.order = np.argsort(classes, kind="stable")
        self.offsets = np.zeros(keys.class_count + 1, np.int64)
        np.cumsum(np.bincount(classes, minlength=keys.class_count), out=self.offsets[1:])

        per_class = np.diff(self.offsets)
        self.least = int(per_class[per_class > 0].min())  # so many pieces every class has at least
        self.requests: list[Requests] = []  # to be answered

    def counts(self, requests: Requests) -> Ints:
        """[requests] how many pieces may answer."""
        if requests.classes is None:
            return np.full(requests.rows.shape, self.order.size, np.int64)
        return self.offsets[requests.classes + 1] - self.offsets[requests.classes]

    def emit(self) -> Iterator[tuple[Places, Ints, Ints]]:
        """One run for every request and piece that answers it, in portions."""
        for requests in self.requests:
            for part in _portions(self.counts(requests)):
                yield self._runs(requests.part(part))

    def _runs(self, requests: Requests) -> tuple[Places, Ints, Ints]:
        ranks = self.keys.ranks
        counts = self.counts(requests)
        own = np.repeat(np.arange(requests.rows.size), counts)
        begin = np.zeros(requests.rows.size, np.int64) if requests.classes is None else self.offsets[requests.classes]
        base = self.order[linear.ranges(begin, counts)] * ranks.size
        low = np.broadcast_to(ranks.first_at_least(requests.low), requests.rows.shape)[own]
        high = np.broadcast_to(ranks.first_above(requests.high), requests.rows.shape)[own]
        first = np.searchsorted(self.codes, base + low)
        last = np.searchsorted(self.codes, base + high)
        some = first < last
        start = self.keys.slots[first[some]]
        end: Ints = start + (last - first)[some].astype(np.int64)
        return requests.rows[own[some]], start, end
