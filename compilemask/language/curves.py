"""Space-filling curves over integer arrays: the place of a point on the Morton and on the Hilbert curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

HILBERT_BITS = 16
MORTON_BITS_AT_ONCE = 11


def _bits(parts: Sequence[NDArray[Any]], live: NDArray[np.bool_] | None, most: int) -> int | None:
    """How many bits the largest coordinate has; None if one is negative or too large."""
    largest = 0
    for part in parts:
        shape = np.broadcast_shapes(part.shape, () if live is None else live.shape)
        values = np.broadcast_to(part, shape)
        values = values if live is None else values[np.broadcast_to(live, shape)]
        if values.size and (int(values.min()) < 0 or int(values.max()) >> most):
            return None
        largest = max(largest, int(values.max()) if values.size else 0)
    return largest.bit_length()


def morton(parts: Sequence[NDArray[Any]], live: NDArray[np.bool_] | None = None) -> NDArray[np.int64] | None:
    """Bits of the coordinates interleaved, the first coordinate in the higher bit; None where out of range."""
    bits = _bits(parts, live, 63 // len(parts))
    if bits is None:
        return None
    spread = _spread(len(parts))
    result: NDArray[np.int64] = np.zeros(np.broadcast_shapes(*(part.shape for part in parts)), np.int64)
    for bit in range(0, bits, MORTON_BITS_AT_ONCE):
        for i, part in enumerate(parts):
            piece = part >> bit & (1 << MORTON_BITS_AT_ONCE) - 1
            result |= spread.take(piece) << (bit * len(parts) + len(parts) - 1 - i)
    return result


@cache
def _spread(distance: int) -> NDArray[np.int64]:
    """[2^MORTON_BITS_AT_ONCE] numbers with their bits `distance` places apart."""
    numbers = np.arange(1 << MORTON_BITS_AT_ONCE, dtype=np.int64)
    result = np.zeros(numbers.size, np.int64)
    for bit in range(MORTON_BITS_AT_ONCE):
        result |= (numbers >> bit & 1) << (bit * distance)
    return result


def hilbert(parts: Sequence[NDArray[Any]], live: NDArray[np.bool_] | None = None) -> NDArray[np.int64] | None:
    """Place of (y, x) on the Hilbert curve of a 2^16 x 2^16 square; None where out of range."""
    bits = _bits(parts, live, HILBERT_BITS)
    if bits is None:
        return None
    y, x = np.broadcast_arrays(*parts)
    table = _hilbert_table()
    place = np.zeros(y.shape, np.int64)
    turn: NDArray[np.int64] = np.zeros(y.shape, np.int64)
    # An even number of leading zeros leaves the curve as it was, so they need not be looked up.
    for bit in (8, 0) if bits > 8 else (0,):
        entry = table.take(turn << 16 | (y >> bit & 255) << 8 | x >> bit & 255)
        place = place << 16 | entry >> 2
        turn = entry & 3
    return place


@cache
def _hilbert_table() -> NDArray[np.int64]:
    """What 8 bits of y and x add to the place on the curve, and how the curve is turned behind them.

    The index is (turn, y, x) of 2, 8 and 8 bits, an entry (place, turn) of 16 and 2; bit 0 of a turn says that y and x
    change places, bit 1 that both count downwards.
    """
    turn, y, x = (part.ravel() for part in np.indices((4, 256, 256)))
    swapped, downwards = (turn & 1).astype(np.bool_), turn >> 1
    y, x = np.where(swapped, x, y) ^ downwards * 255, np.where(swapped, y, x) ^ downwards * 255
    place = np.zeros(turn.size, np.int64)
    for bit in range(7, -1, -1):
        right, down = x >> bit & 1, y >> bit & 1
        place = place << 2 | 3 * right ^ down
        flip, swap = (down == 0) & (right == 1), down == 0
        low = (1 << bit) - 1
        x, y = np.where(flip, low ^ (x & low), x), np.where(flip, low ^ (y & low), y)
        x, y = np.where(swap, y, x), np.where(swap, x, y)
        turn = turn ^ swap ^ flip.astype(np.int64) << 1
    table: NDArray[np.int64] = place << 2 | turn
    return table
