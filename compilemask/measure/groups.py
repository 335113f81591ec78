"""Which samples and heads of a mask go into one kernel call, so that every distinct mask is in some call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CELLS = 4  # samples x heads of a call

Table = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Group:
    """Samples and heads of a mask, ascending; a call has every head of every sample."""

    samples: tuple[int, ...]
    heads: tuple[int, ...]


def groups(table: Table, numbers: int) -> list[Group]:
    """Groups of at most 4 cells that hold the first `numbers` distinct masks of `table` [samples, heads].

    Where samples differ a group has samples that do, and so for heads: taking one for the other then shows.
    """
    missing = set(range(numbers))
    found = []
    while missing:
        group = _group(table, missing)
        found.append(group)
        missing -= set(table[np.ix_(group.samples, group.heads)].ravel().tolist())
    return found


def _group(table: Table, missing: set[int]) -> Group:
    """A group that holds the first of the missing masks, and what else it has room for."""
    sample, head = np.argwhere(table == min(missing))[0].tolist()
    samples_differ, heads_differ = (bool((table != first).any()) for first in (table[:1], table[:, :1]))
    if samples_differ and heads_differ:
        return _square(table, sample, head, missing)
    samples = _line(table[:, head], missing) if samples_differ else (sample,)
    return Group(samples, _line(table[sample], missing) if heads_differ else (head,))


def _line(numbers: Table, missing: set[int]) -> tuple[int, ...]:
    """Where up to four of the missing masks are on the only axis along which masks differ; two masks at least."""
    known, first = np.unique(numbers, return_index=True)
    wanted = sorted(zip(known.tolist(), first.tolist(), strict=True), key=lambda one: one[0] not in missing)
    count = min(CELLS, max(2, len(missing)))
    return tuple(sorted(place for _, place in wanted[:count]))


def _square(table: Table, sample: int, head: int, missing: set[int]) -> Group:
    """Two samples and two heads, such that both the samples and the heads differ, with most of the missing masks."""
    row, column, here = table[sample], table[:, head, None], table[sample, head]
    samples_differ = (column != here) | (table != row)
    heads_differ = (row != here) | (table != column)
    wanted = np.isin(table, list(missing))
    new = wanted + wanted[sample].astype(int) + wanted[:, head, None]
    best = np.argmax(np.where(samples_differ & heads_differ, 1 + new, 0))
    other, other_head = np.unravel_index(best, table.shape)
    return Group(tuple(sorted((sample, int(other)))), tuple(sorted((head, int(other_head)))))
