"""What must hold of a pair of a query and a key: comparisons with their values, and relations of their own kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import terms
from compilemask.intervals.codes import combine, numbers
from compilemask.intervals.terms import Term

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Pair:
    """A comparison with its values: [queries], [keys]."""

    compare: terms.Compare
    query: NDArray[Any]
    key: NDArray[Any]


@dataclass(slots=True)
class Conjunction:
    """Comparisons and specials that must all hold, over some queries and keys."""

    queries: Ints  # slots
    keys: Ints
    equal: list[Pair] = field(default_factory=list)
    ranges: list[Pair] = field(default_factory=list)
    specials: list[Term] = field(default_factory=list)

    def keep(self, of_query: bool, kept: NDArray[np.bool_]) -> None:
        """Drop queries or keys."""
        if kept.all():
            return
        for pair in self.equal + self.ranges:
            if of_query:
                pair.query = pair.query[kept]
            else:
                pair.key = pair.key[kept]
        if of_query:
            self.queries = self.queries[kept]
        else:
            self.keys = self.keys[kept]


def ordered(pair: Pair) -> tuple[Ints, Ints]:
    """Query and key values as numbers that can be compared."""
    if pair.query.ndim == 2:
        parts = [(pair.query[:, i], pair.key[:, i]) for i in range(pair.query.shape[1])]
        query, key, _ = combine(parts)
        return query, key
    return numbers(pair.query, None), numbers(pair.key, None)
