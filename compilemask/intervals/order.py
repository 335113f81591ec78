"""Token order: in which order the kernel keeps queries and keys. It never changes the mask, only its tiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.interval_set import Intervals

Permutation = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class TokenOrder:
    """Slot i of the kernel holds the caller's token `queries[i]`, `keys[i]`; None is the caller's own order."""

    queries: Permutation | None = None
    keys: Permutation | None = None

    @property
    def moves(self) -> bool:
        """Whether any token lies elsewhere than the caller has it."""
        return self.queries is not None or self.keys is not None

    def turned(self) -> TokenOrder:
        """The order of the transposed mask."""
        return TokenOrder(self.keys, self.queries)

    def back(self) -> TokenOrder:
        """The order that undoes this one."""
        queries, keys = inverse(self.queries), inverse(self.keys)
        narrow = [None if one is None else one.astype(np.int32) for one in (queries, keys)]
        return TokenOrder(narrow[0], narrow[1])

    def move(self, intervals: Intervals) -> Intervals:
        """A mask in row form with its queries and keys put in this order."""
        if self.queries is not None:
            intervals = intervals.permute_rows(self.queries)
        return intervals if self.keys is None else intervals.permute_columns(self.keys)


UNMOVED = TokenOrder()


def inverse(order: Permutation | None) -> NDArray[np.int64] | None:
    """Where every token of the caller lies."""
    if order is None:
        return None
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    return places
