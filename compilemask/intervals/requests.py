"""What a join is asked: rows by slot, and for each a range of one coordinate of the keys of one class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Places = NDArray[np.integer]
REQUESTS_AT_ONCE = 1 << 17


class Asking(Protocol):
    """What a join answers: requests, made some at a time."""

    @property
    def size(self) -> int:
        """Number of requests."""

    def portions(self) -> Iterator[Requests]:
        """All requests, by ascending rows where rows ask once."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Rows by slot, their class in 0..classes - 1 (None: one class) and inclusive bounds (scalars broadcast)."""

    rows: Places
    classes: Places | None
    low: Places
    high: Places

    @property
    def size(self) -> int:
        """Number of requests."""
        return int(self.rows.size)

    def portions(self) -> Iterator[Requests]:
        """All requests, REQUESTS_AT_ONCE at a time."""
        for begin in range(0, self.size, REQUESTS_AT_ONCE):
            yield self.part(slice(begin, begin + REQUESTS_AT_ONCE))

    def part(self, chosen: slice | Ints) -> Requests:
        """Some of the requests."""
        return Requests(
            self.rows[chosen],
            None if self.classes is None else self.classes[chosen],
            self.low[chosen] if self.low.ndim else self.low,
            self.high[chosen] if self.high.ndim else self.high,
        )


@dataclass(slots=True)
class Side:
    """One side of a relation: slots, class (None: one class) and coordinate of every token that has one."""

    slots: Ints
    classes: Ints | None
    values: Ints


@dataclass(frozen=True, slots=True)
class Keys:
    """What requests search: slots in the order in which they lie, class in 0..class_count - 1, and coordinate."""

    slots: Ints
    classes: Ints | None
    class_count: int
    values: Ints
