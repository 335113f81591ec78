"""Which rows, columns and tiles of a large mask are compared: always the same ones, borders first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language.axis import Axis

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
    borders = np.unique(np.concatenate([border_slots(axis), [0, axis.length - 1]]))
    chosen = borders[spread(len(borders), count // 2)]
    random = np.random.default_rng(SEED).integers(0, axis.length, count - len(chosen))
    return np.unique(np.concatenate((chosen, random)))


def border_slots(axis: Axis) -> NDArray[np.int64]:
    """The first and the last slot of every stretch of one region instance."""
    first = np.flatnonzero(np.diff(axis.run_of())) + 1
    return np.unique(np.concatenate((first, first - 1))).astype(np.int64)


def spread(length: int, count: int) -> NDArray[np.int64]:
    """At most `count` places out of `length`, evenly spread."""
    if length <= count:
        return np.arange(length, dtype=np.int64)
    return np.arange(count, dtype=np.int64) * length // count


def pieces(axis: Axis, count: int, length: int) -> NDArray[np.int64]:
    """About `count` slots, ascending, in pieces of `length` that straddle region borders, the axis' ends among them."""
    if axis.length <= count:
        return np.arange(axis.length, dtype=np.int64)
    borders = np.unique(np.concatenate([border_slots(axis), [0, axis.length - 1, axis.length // 2]]))
    centres = borders[spread(len(borders), max(1, count // length))]
    starts = np.clip(centres - length // 2, 0, axis.length - length)
    chosen = np.unique((starts[:, None] + np.arange(length)[None, :]).reshape(-1))
    return chosen[:count]
