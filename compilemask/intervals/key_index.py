"""Keys sorted by (class, coordinate, slot), so that a request is one slice of their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear
from compilemask.intervals.requests import Keys, Requests
from compilemask.language.distinct import distinct

Ints = NDArray[np.int64]
Narrow = NDArray[np.int32]
Places = NDArray[np.integer]
NOTHING: Ints = np.zeros((), np.int64)


class Ranks:
    """Order-preserving small numbers for the values of a coordinate."""

    def __init__(self, values: Ints) -> None:
        self.least = int(values.min()) if values.size else 0
        largest = int(values.max()) if values.size else 0
        self.values: Ints | None = None
        self.size = largest - self.least + 1
        if self.size > 4 * values.size + 1024:
            self.values = distinct(values)
            self.size = self.values.size

    def of(self, values: Ints) -> Ints:
        """The rank of values that occur."""
        if self.values is None:
            return values - self.least
        return np.searchsorted(self.values, values).astype(np.int64)

    def first_at_least(self, bound: Places) -> Places:
        """The first rank whose value is >= bound; `size` where there is none."""
        if self.values is None:
            return np.clip(bound, self.least, self.least + self.size) - self.least
        return np.searchsorted(self.values, bound, side="left").astype(np.int64)

    def first_above(self, bound: Places) -> Places:
        """The first rank whose value is > bound."""
        if self.values is None:
            return np.clip(bound, self.least - 1, self.least + self.size - 1) - (self.least - 1)
        return np.searchsorted(self.values, bound, side="right").astype(np.int64)


class KeyIndex:
    """Keys (slots ascending) made ready for requests."""

    def __init__(self, keys: Keys) -> None:
        slots, classes, class_count, values = keys.slots, keys.classes, keys.class_count, keys.values
        self.slots = slots
        self.classes = classes
        self.class_count = class_count
        self.ranks = Ranks(values)
        self.rank = self.ranks.of(values)
        codes = self.rank if classes is None else classes * self.ranks.size + self.rank
        self.sorted_slots: Narrow = slots.astype(np.int32)
        if not linear.is_sorted(codes):
            order = np.argsort(codes, kind="stable")
            codes = codes[order]
            self.sorted_slots = self.sorted_slots[order]
        self.codes = codes
        self.places: Narrow | None = None
        space = class_count * self.ranks.size
        if space <= 4 * slots.size + (1 << 16):
            self.places = np.zeros(space + 1, np.int32)
            np.cumsum(np.bincount(codes, minlength=space), out=self.places[1:])
        step = np.diff(self.sorted_slots)
        broken = step != 1
        self.unbroken = not broken.any()
        self.apart = bool(broken.all())
        self.ascending = self._ascend_in_classes(np.flatnonzero(step < 0))
        self.run: Narrow = np.zeros(slots.size, np.int32)
        np.cumsum(broken, out=self.run[1:])
        self.run_begin: Narrow = np.concatenate(([0], np.flatnonzero(broken) + 1, [slots.size])).astype(np.int32)

    def _ascend_in_classes(self, falls: Ints) -> bool:
        """Whether slots fall between classes only."""
        if self.classes is None:
            return not falls.size
        of_class = self.codes[falls] // self.ranks.size
        return not (of_class == self.codes[falls + 1] // self.ranks.size).any()

    def forget(self) -> None:
        """Drop what only planning needs: many plans are alive at once."""
        self.slots = self.codes = self.rank = NOTHING
        self.classes = self.places = self.ranks.values = None

    def slices(self, requests: Requests) -> tuple[Narrow, Narrow]:
        """The slice [first, last) of the sorted order for every request; empty where first >= last."""
        low = self.ranks.first_at_least(requests.low)
        high = self.ranks.first_above(requests.high)
        if requests.classes is not None:
            base = requests.classes * self.ranks.size
            low, high = base + low, base + high
        if self.places is not None:
            first, last = self.places.take(low), self.places.take(high)  # faster than indexing by narrow numbers
        else:
            first = np.searchsorted(self.codes, low).astype(np.int32)
            last = np.searchsorted(self.codes, high).astype(np.int32)
        size = requests.rows.shape
        return np.broadcast_to(first, size), np.broadcast_to(last, size)
