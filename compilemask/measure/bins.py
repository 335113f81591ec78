"""A mask on a coarse grid, for pictures: visible cells per bin, counted exactly and never from a dense matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals.coverage import Coverage
from compilemask.intervals.solve import Form
from compilemask.pipeline import CompiledMask

MOST_BORDERS = 1000


def bin_bounds(length: int, bins: int) -> NDArray[np.int64]:
    """[bins + 1] borders that cut `length` into nearly equal parts; never more bins than length."""
    bins = max(1, min(bins, length))
    return np.arange(bins + 1, dtype=np.int64) * length // bins


def even_bounds(length: int, size: int) -> NDArray[np.int64]:
    """Borders every `size` tokens; the last bin may be shorter."""
    return np.append(np.arange(0, length, size, dtype=np.int64), length)


def fitting_size(length: int, bins: int, borders: NDArray[np.int64]) -> int:
    """Tokens per bin for at most `bins` bins: up to twice the least, if then all region borders fall between bins."""
    least = max(1, -(-length // max(bins, 1)))
    if len(borders) > MOST_BORDERS:
        return least
    return next((size for size in range(least, 2 * least + 1) if not (borders % size).any()), least)


def areas(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cells per bin, [row bins, column bins]."""
    product: NDArray[np.int64] = np.diff(rows)[:, None] * np.diff(columns)[None, :]
    return product


def shares(
    compiled: CompiledMask, batch: int, head: int, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The visible share of every bin, [row bins, column bins]."""
    if compiled.form_of(batch, head) is Form.COLUMN:
        coverage = Coverage(compiled.columns_of(batch, head), transposed=True)
    else:
        coverage = Coverage(compiled.rows_of(batch, head))
    found: NDArray[np.float64] = coverage.between(rows, columns) / np.maximum(areas(rows, columns), 1)
    return found
