"""A mask as numbers per row or per column, the way other kernels want it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import UsageError
from compilemask.intervals import Intervals
from compilemask.pipeline import CompiledMask


def cudnn_mask_func(compiled: CompiledMask, batch: int = 0, head: int | None = None) -> NDArray[np.int32]:
    """The `mask_func` of cuDNN's flex attention for one batch entry, int32 [1 or heads, odd count, queries].

    A query sees [0, F0), [F1, F2), [F3, F4) and so on; endpoints never decrease. `head` chooses one head for all.
    """
    rows = [compiled.rows_of(batch, one) for one in _those(head, compiled.heads)]
    most = max(int(one.runs_per_row().max(initial=0)) for one in rows)
    return np.stack([_row_endpoints(one, 1 + 2 * most) for one in rows])


def _row_endpoints(rows: Intervals, count: int) -> NDArray[np.int32]:
    """A run that starts at 0 ends at F0; endpoints that are not needed repeat the last one that is."""
    found = np.zeros((rows.rows, count), np.int32)
    place, row = rows.run_places(), rows.run_rows()
    leading = np.zeros(rows.rows, np.int64)
    at_zero = rows.starts == 0
    leading[row[at_zero]] = 1
    found[row[at_zero], 0] = rows.ends[at_zero]
    slot = 1 + 2 * (place - leading[row])
    found[row[~at_zero], slot[~at_zero]] = rows.starts[~at_zero]
    found[row[~at_zero], slot[~at_zero] + 1] = rows.ends[~at_zero]
    return np.ascontiguousarray(np.maximum.accumulate(found, axis=1).T)


def flashmask_indices(compiled: CompiledMask, batch: int | None = None, head: int | None = None) -> NDArray[np.int32]:
    """FlashMask's `startend_row_indices` for `causal=False`, int32 [batch, heads, keys, 4].

    Column j hides the queries [r0, r1) and [r2, r3); the second stretch lies above the first (arXiv 2410.01359).
    `batch` and `head` choose one entry of their axis.

    Raises:
        UsageError: a column hides more than two stretches of queries; the message names the first.
    """
    batches, heads = _those(batch, compiled.batch), _those(head, compiled.heads)
    found = np.zeros((len(batches), len(heads), compiled.key_length, 4), np.int32)
    for entry, b in enumerate(batches):
        for place, h in enumerate(heads):
            hidden = compiled.columns_of(b, h).complement()
            counts = hidden.runs_per_row()
            if (counts > 2).any():
                key = int(np.argmax(counts > 2))
                raise UsageError(
                    f"FlashMask hides at most two stretches of queries per key; key {key:,} of {compiled.name} "
                    f"hides {int(counts[key])}"
                )
            found[entry, place] = _two_stretches(hidden, counts)
    return found


def _two_stretches(hidden: Intervals, counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """[keys, 4]: the lower stretch first; where there is one only, it is the lower one if it reaches the last query."""
    stretches = np.zeros((hidden.rows, 2, 2), np.int32)
    stretches[:, 0] = hidden.columns
    place, row = hidden.run_places(), hidden.run_rows()
    is_lower = (place == 1) | ((counts[row] == 1) & (hidden.ends == hidden.columns))
    stretches[row, np.where(is_lower, 0, 1)] = np.stack((hidden.starts, hidden.ends), axis=1)
    return stretches.reshape(hidden.rows, 4)


def _those(chosen: int | None, count: int) -> range:
    """One number, or all."""
    return range(count) if chosen is None else range(chosen, chosen + 1)
