"""The overlay of the token order: where each row's query stands in the other order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def place_per_row(
    order: NDArray[np.int32] | None, query_edges: NDArray[np.int64], length: int, *, in_slots: bool
) -> NDArray[np.float64]:
    """[rows] the slot in which the kernel runs the first query of each pixel row, the last slot being 1; with
    `in_slots` rows are slots and the bars say which query each holds. Without an order both are the row itself.
    """
    rows = np.clip(query_edges[:-1], 0, max(0, length - 1))
    if order is None or not length:
        places = rows
    elif in_slots:
        places = order[rows].astype(np.int64)
    else:
        slots = np.empty(length, np.int64)
        slots[order] = np.arange(length)
        places = slots[rows]
    return (places + 1) / max(1, length)
