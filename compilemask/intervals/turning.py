"""Rows and columns exchanged: runs of a mask seen from its columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import linear, moving

Narrow = NDArray[np.int32]
SAMPLED = 7


def turned(line: linear.Runs, rows: int, columns: int) -> linear.Runs:
    """The runs of the transposed mask on its line, from those of a mask of rows x columns.

    A column's run starts where a row shows the cell and the row above does not. Raises TooLargeError where there would
    be more than MOST_RUNS.
    """
    stride = columns + 1
    above = (line[0] + stride, line[1] + stride)
    opened = linear.subtract(line, above)
    moving.refuse_more_than_most(int((opened[1] - opened[0]).sum()), "seen from the other side")
    return _cells(opened, stride, rows + 1), _cells(linear.subtract(above, line), stride, rows + 1)


def _cells(runs: linear.Runs, stride: int, new_stride: int) -> linear.Line:
    """The places of all cells of `runs`, moved from a row-major line to the sorted column-major one."""
    cells = linear.ranges(runs[0], runs[1] - runs[0])
    row = cells // stride
    moved = (cells - row * stride) * new_stride + row
    moved.sort()
    return moved


def runs_per_column(starts: Narrow, ends: Narrow, columns: int) -> NDArray[np.int64]:
    """[columns] how many of the runs cover each column."""
    change = np.bincount(starts, minlength=columns + 1)
    change -= np.bincount(ends, minlength=columns + 1)
    return np.cumsum(change)[:columns]


def shown_columns(starts: Narrow, ends: Narrow, columns: int) -> NDArray[np.bool_]:
    """[columns] which columns some run covers."""
    shown = np.zeros(columns, np.bool_)
    # Some of the runs show all columns of most masks.
    for step in (SAMPLED, 1) if starts.size > SAMPLED * columns else (1,):
        shown = runs_per_column(starts[::step], ends[::step], columns) > 0
        if shown.all():
            break
    return shown
