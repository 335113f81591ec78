"""How much of a mask is visible in each cell of a coarse grid, counted from runs and never from a dense matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bin_bounds(length: int, bins: int) -> NDArray[np.int64]:
    """[bins + 1] borders that cut `length` into nearly equal parts; never more bins than length."""
    bins = max(1, min(bins, length))
    return np.arange(bins + 1, dtype=np.int64) * length // bins


def visible_cells(
    run_rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    row_bounds: NDArray[np.int64],
    column_bounds: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Visible cells per bin, int64 [row bins, column bins]; exact, in time proportional to the runs.

    The cells before column b of all runs are sum(max(0, b - start)) - sum(max(0, b - end)), and both sums follow from
    how many starts (ends) lie before b and what they add up to.
    """
    bands, columns = len(row_bounds) - 1, len(column_bounds) - 1
    band = np.searchsorted(row_bounds, run_rows, side="right") - 1

    def before(places: NDArray[np.int64]) -> NDArray[np.int64]:
        bin_of = np.searchsorted(column_bounds, places, side="right") - 1
        flat = band * (columns + 1) + bin_of
        count = np.bincount(flat, minlength=bands * (columns + 1))
        total = np.bincount(flat, weights=places.astype(np.float64), minlength=bands * (columns + 1))
        counts = np.cumsum(count.reshape(bands, -1), axis=1)[:, :columns]
        totals = np.cumsum(total.reshape(bands, -1), axis=1)[:, :columns]
        summed: NDArray[np.int64] = counts * column_bounds[1:] - np.rint(totals).astype(np.int64)
        return summed

    cumulative = before(starts.astype(np.int64)) - before(ends.astype(np.int64))
    return np.diff(cumulative, axis=1, prepend=0)


def areas(row_bounds: NDArray[np.int64], column_bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cells per bin, int64 [row bins, column bins]."""
    product: NDArray[np.int64] = np.diff(row_bounds)[:, None] * np.diff(column_bounds)[None, :]
    return product
