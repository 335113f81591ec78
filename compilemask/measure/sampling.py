"""Which rows, columns and tiles of a large mask are compared: always the same ones, borders first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compilemask.language.axis import Axis
from compilemask.measure.naming import borders

SEED = 20260
WHOLE = 4096
CELLS = 2**23
"""Cells that a sample may have: rows of a mask of a million keys are few, rows of a short one many."""


def is_whole(queries: int, keys: int) -> bool:
    """Whether a mask of this size is compared cell by cell."""
    return queries <= WHOLE and keys <= WHOLE


def lines(axis: Axis, across: int) -> NDArray[np.int64]:
    """Sampled slots of an axis, ascending: half around region borders, the rest random; `across` cells each."""
    count = max(8, min(axis.length, CELLS // max(across, 1), 512))
    if count >= axis.length:
        return np.arange(axis.length, dtype=np.int64)
    ends = np.unique(np.concatenate([border_slots(axis), [0, axis.length - 1]]))
    chosen = ends[spread(len(ends), count // 2)]
    random = np.random.default_rng(SEED).integers(0, axis.length, count - len(chosen))
    return np.unique(np.concatenate((chosen, random)))


def border_slots(axis: Axis) -> NDArray[np.int64]:
    """The first and the last slot of every stretch of one region instance."""
    first = borders(axis)
    return np.unique(np.concatenate((first, first - 1)))


def spread(length: int, count: int) -> NDArray[np.int64]:
    """At most `count` places out of `length`, evenly spread."""
    if length <= count:
        return np.arange(length, dtype=np.int64)
    return np.arange(count, dtype=np.int64) * length // count


def pieces(axes: Sequence[Axis], order: NDArray[np.int32] | None, count: int, length: int) -> NDArray[np.int64]:
    """At most `count` tokens, ascending, in pieces of `length`; all tokens where there are no more.

    The pieces straddle the region borders of any of `axes`, which have one length, and its ends. Where a token order
    (`order[slot]` is a token) moves tokens, a quarter of the pieces, at least one, are neighbours in that order around
    places where it goes back. Pieces are shorter where `count` has no room for both ends and one of those.
    """
    tokens = axes[0].length
    if tokens <= count:
        return np.arange(tokens, dtype=np.int64)
    moved = np.zeros(0, np.int64) if order is None else np.flatnonzero(np.diff(order) < 0) + 1
    length = min(length, count // (3 if len(moved) else 2))
    most = count // length
    moved = moved[spread(len(moved), max(1, most // 4))]
    centres = np.unique(np.concatenate([[0], *map(borders, axes)]))
    if len(centres) < 3:
        centres = np.union1d(centres, [tokens // 2])
    centres = np.append(centres[spread(len(centres), max(1, most - len(moved) - 1))], tokens - 1)
    chosen = _around(centres - length // 2, length, tokens)
    if order is not None:
        # a quarter before and the rest behind: halves that change places would be an order that is its own inverse
        ordered = order[_around(moved - length // 4, length, tokens)].astype(np.int64)
        chosen = np.concatenate((chosen, ordered))
    return np.unique(chosen)


def _around(starts: NDArray[np.int64], length: int, tokens: int) -> NDArray[np.int64]:
    """Pieces of `length` neighbours, a row each, moved into [0, tokens) where they leave it."""
    found: NDArray[np.int64] = np.clip(starts, 0, tokens - length)[:, None] + np.arange(length)[None, :]
    return found
