"""Space-filling curves over integer arrays: the place of a point on the Morton and on the Hilbert curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

HILBERT_BITS = 16


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
    result: NDArray[np.int64] = np.zeros(np.broadcast_shapes(*(part.shape for part in parts)), np.int64)
    for bit in range(bits):
        for i, part in enumerate(parts):
            result = result | ((part >> bit & 1) << (bit * len(parts) + len(parts) - 1 - i))
    return result


def hilbert(parts: Sequence[NDArray[Any]], live: NDArray[np.bool_] | None = None) -> NDArray[np.int64] | None:
    """Place of (y, x) on the Hilbert curve of a 2^16 x 2^16 square; None where out of range."""
    if _bits(parts, live, HILBERT_BITS) is None:
        return None
    y, x = np.broadcast_arrays(*parts)
    place = np.zeros(y.shape, np.int64)
    for bit in range(HILBERT_BITS - 1, -1, -1):
        right, down = x >> bit & 1, y >> bit & 1
        place = place + ((3 * right ^ down) << 2 * bit)
        flip = (down == 0) & (right == 1)
        low = (1 << bit) - 1
        x, y = np.where(flip, low ^ (x & low), x), np.where(flip, low ^ (y & low), y)
        x, y = np.where(down == 0, y, x), np.where(down == 0, x, y)
    return place
