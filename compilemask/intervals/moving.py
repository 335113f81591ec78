"""Runs in another order of the columns: cut where neighbours part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import UsageError
from compilemask.intervals import linear

MOST_RUNS = 1 << 25
LONG = 64  # runs that an order cuts into more pieces than this are looked at one by one where rows share them
SHARED = 8

Narrow = NDArray[np.int32]


def pieces(starts: Narrow, ends: Narrow, order: NDArray[np.integer]) -> tuple[Narrow, Narrow, Narrow]:
    """For every piece, in no particular order: which run it is of, start and end in the order.

    Raises UsageError where there would be more than MOST_RUNS.
    """
    stretch, begins, place = stretches(order)
    first = stretch[starts]
    count = stretch[ends - 1] - first + 1
    alike = _LongRuns.among(starts, ends, count, place)
    if alike is not None:
        count[alike.runs] = 0
    refuse_more_than_most(int(count.sum(dtype=np.int64)), "in this token order")
    own = np.repeat(np.arange(starts.size, dtype=np.int32), count)
    piece = linear.narrow_ranges(first, count)
    begin = np.maximum(begins[piece], starts[own])
    end = np.minimum(begins[piece + 1], ends[own])
    start = place[begin]
    end += start - begin
    return (own, start, end) if alike is None else alike.with_pieces(own, start, end)


def stretches(order: NDArray[np.integer]) -> tuple[Narrow, Narrow, Narrow]:
    """Columns that stay neighbours: stretch of every column, first column of every stretch, place of every column."""
    place = np.empty(order.size, np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    parted = np.diff(place) != 1
    stretch = np.zeros(order.size, np.int32)
    np.cumsum(parted, out=stretch[1:])
    begins = np.concatenate(([0], np.flatnonzero(parted) + 1, [order.size])).astype(np.int32)
    return stretch, begins, place


@dataclass(frozen=True, slots=True)
class _LongRuns:
    """Long runs that many rows share: each is moved once, and its pieces are joined where they touch again."""

    runs: NDArray[np.int64]
    kind: NDArray[np.int64]  # [runs]
    offsets: NDArray[np.int64]  # [kinds + 1]
    starts: Narrow  # [pieces] those of kind i are offsets[i]:offsets[i + 1]
    ends: Narrow

    @staticmethod
    def among(starts: Narrow, ends: Narrow, pieces: Narrow, place: Narrow) -> _LongRuns | None:
        """The shared ones of the runs that would be cut into so many pieces; None where there are none."""
        runs = np.flatnonzero(pieces > LONG)
        if runs.size < 2:
            return None
        different, kind = np.unique(starts[runs].astype(np.int64) << 32 | ends[runs], return_inverse=True)
        if SHARED * different.size > runs.size:
            return None
        counts, begin, end = [0], [], []
        for code in different.tolist():
            there = np.sort(place[code >> 32 : code & 0xFFFFFFFF])
            parted = np.flatnonzero(np.diff(there) != 1)
            begin.append(there[np.concatenate(([0], parted + 1))])
            end.append(there[np.concatenate((parted, [there.size - 1]))] + np.int32(1))
            counts.append(parted.size + 1)
        return _LongRuns(runs, kind.reshape(-1), np.cumsum(counts), np.concatenate(begin), np.concatenate(end))

    def with_pieces(self, own: Narrow, start: Narrow, end: Narrow) -> tuple[Narrow, Narrow, Narrow]:
        """The pieces of the other runs and of these."""
        counts = np.diff(self.offsets)[self.kind]
        refuse_more_than_most(int(counts.sum()), "in this token order")
        long = np.repeat(self.runs, counts).astype(np.int32)
        piece = linear.ranges(self.offsets[:-1][self.kind], counts)
        return (
            np.concatenate((own, long)),
            np.concatenate((start, self.starts[piece])),
            np.concatenate((end, self.ends[piece])),
        )


def refuse_more_than_most(runs: int, where: str) -> None:
    """Raise UsageError for more than MOST_RUNS."""
    if runs > MOST_RUNS:
        raise UsageError(f"{where} the mask has some {runs:,} runs, at most {MOST_RUNS:,} are allowed")
