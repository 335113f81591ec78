"""Runs in another order of the columns: cut where neighbours part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import TooLargeError
from compilemask.intervals import linear

MOST_RUNS = 1 << 25
LONG = 64  # runs that an order cuts into more pieces than this are looked at one by one where rows share them
SHARED = 8
KEPT = 1 << 20  # pieces of long runs that an order keeps
MOST_MOVED = 1 << 24  # tokens in all long runs that are looked at one by one, at some 20 bytes each

Narrow = NDArray[np.int32]


class MovedColumns:
    """An order of the columns, ready to cut runs: column j of the result is column order[j].

    `stretch` of every column: neighbours that stay neighbours, forwards or backwards, have one; `begins`: the first
    column of every stretch; `place` of every column in the order.
    """

    def __init__(self, order: NDArray[np.integer]) -> None:
        self.place: Narrow = np.empty(order.size, np.int32)
        self.place[order] = np.arange(order.size, dtype=np.int32)
        parted = np.abs(np.diff(self.place)) != 1  # places are different, so a stretch never turns round
        self.stretch: Narrow = np.zeros(order.size, np.int32)
        np.cumsum(parted, out=self.stretch[1:])
        self.begins: Narrow = np.concatenate(([0], np.flatnonzero(parted) + 1, [order.size])).astype(np.int32)
        self._long: dict[int, tuple[Narrow, Narrow]] = {}

    def counts(self, starts: Narrow, ends: Narrow) -> Narrow:
        """[runs] into how many pieces every run is cut."""
        return self.stretch[ends - 1] - self.stretch[starts] + np.int32(1)

    def made(self, starts: Narrow, ends: Narrow) -> int:
        """How many pieces `pieces` makes of all runs."""
        count = self.counts(starts, ends)
        alike = self._alike(starts, ends, count)
        if alike is None:
            return int(count.sum(dtype=np.int64))
        count[alike.runs] = 0
        return int(count.sum(dtype=np.int64)) + int(alike.counts.sum(dtype=np.int64))

    def pieces(self, starts: Narrow, ends: Narrow) -> tuple[Narrow, Narrow, Narrow]:
        """For every piece, in no particular order: which run it is of, start and end in the order.

        Raises TooLargeError where there would be more than MOST_RUNS.
        """
        count = self.counts(starts, ends)
        alike = self._alike(starts, ends, count)
        if alike is not None:
            count[alike.runs] = 0
        _refuse_many_pieces(int(count.sum(dtype=np.int64)))
        own = np.repeat(np.arange(starts.size, dtype=np.int32), count)
        piece = linear.narrow_ranges(self.stretch[starts], count)
        begin = np.maximum(self.begins[piece], starts[own])
        end = np.minimum(self.begins[piece + 1], ends[own])
        start = np.minimum(self.place[begin], self.place[end - 1])
        end += start - begin
        return (own, start, end) if alike is None else alike.with_pieces(own, start, end)

    def _alike(self, starts: Narrow, ends: Narrow, pieces: Narrow) -> _LongRuns | None:
        """The runs that would be cut into many pieces and that rows share; None where there are none."""
        runs = np.flatnonzero(pieces > LONG)
        if runs.size < 2:
            return None
        different, kind = np.unique(starts[runs].astype(np.int64) << 32 | ends[runs], return_inverse=True)
        tokens = int(((different & 0xFFFFFFFF) - (different >> 32)).sum())
        if SHARED * different.size > runs.size or tokens > MOST_MOVED:
            return None
        found = [self._moved(code) for code in different.tolist()]
        offsets = np.cumsum([0, *(begin.size for begin, _ in found)])
        begin, end = (np.concatenate([part[side] for part in found]) for side in (0, 1))
        return _LongRuns(runs, kind.reshape(-1), offsets, begin, end)

    def _moved(self, code: int) -> tuple[Narrow, Narrow]:
        """The pieces of one long run (start << 32 | end), joined where they touch again; tile rows ask again."""
        if code not in self._long:
            there = np.sort(self.place[code >> 32 : code & 0xFFFFFFFF])
            parted = np.flatnonzero(np.diff(there) != 1)
            begin = there[np.concatenate(([0], parted + 1))]
            end = there[np.concatenate((parted, [there.size - 1]))] + np.int32(1)
            if sum(kept[0].size for kept in self._long.values()) > KEPT:
                self._long.clear()
            self._long[code] = begin, end
        return self._long[code]


@dataclass(frozen=True, slots=True)
class _LongRuns:
    """Long runs that many rows share: each is moved once, and its pieces are joined where they touch again."""

    runs: NDArray[np.int64]
    kind: NDArray[np.int64]  # [runs]
    offsets: NDArray[np.int64]  # [kinds + 1]
    starts: Narrow  # [pieces] those of kind i are offsets[i]:offsets[i + 1]
    ends: Narrow

    @property
    def counts(self) -> NDArray[np.int64]:
        """[runs] pieces of every run."""
        counts: NDArray[np.int64] = np.diff(self.offsets)[self.kind]
        return counts

    def with_pieces(self, own: Narrow, start: Narrow, end: Narrow) -> tuple[Narrow, Narrow, Narrow]:
        """The pieces of the other runs and of these."""
        counts = self.counts
        _refuse_many_pieces(int(counts.sum()))
        long = np.repeat(self.runs, counts).astype(np.int32)
        piece = linear.ranges(self.offsets[:-1][self.kind], counts)
        return (
            np.concatenate((own, long)),
            np.concatenate((start, self.starts[piece])),
            np.concatenate((end, self.ends[piece])),
        )


def refuse_more_than_most(runs: int, where: str) -> None:
    """Raise TooLargeError for more than MOST_RUNS."""
    if runs > MOST_RUNS:
        raise TooLargeError(f"{where} the mask has some {runs:,} runs, at most {MOST_RUNS:,} are allowed")


def _refuse_many_pieces(pieces: int) -> None:
    """The same before runs are cut: how many the pieces are once they are joined is not known yet."""
    if pieces > MOST_RUNS:
        cut = f"in this token order the runs of the mask are cut into some {pieces:,} pieces"
        raise TooLargeError(f"{cut}, at most {MOST_RUNS:,} are allowed")
