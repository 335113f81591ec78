"""A dense boolean array, written row by row so that it is never in memory as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from compilemask.errors import TooLargeError
from compilemask.files import replacing
from compilemask.pipeline import CompiledMask

MAX_BYTES = 16 * 2**30
ROWS_AT_ONCE_BYTES = 64 * 2**20


def write(compiled: CompiledMask, output: Path, batch: int = 0, head: int = 0, *, every: bool = False) -> str:
    """Write a `.npy` file, True = visible: [query, key] of one batch entry and head, or with `every`
    [batch, head, query, key] of all of them. Returns what was written, for people.

    Raises:
        TooLargeError: the array would exceed 16 GiB.
    """
    pairs = [(b, h) for b in range(compiled.batch) for h in range(compiled.heads)] if every else [(batch, head)]
    shape: tuple[int, ...] = (compiled.query_length, compiled.key_length)
    if every:
        shape = (compiled.batch, compiled.heads, *shape)
    size = int(np.prod(shape, dtype=np.int64))
    if size > MAX_BYTES:
        raise TooLargeError(f"a dense {list(shape)} mask takes {size / 2**30:,.0f} GiB; at most 16")
    with replacing(output) as file:
        header = {"descr": "|b1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(file, header)
        for b, h in pairs:
            rows = compiled.rows_of(b, h)
            step = max(1, ROWS_AT_ONCE_BYTES // max(rows.columns, 1))
            for first in range(0, rows.rows, step):
                part = rows.select(np.arange(first, min(first + step, rows.rows)))
                file.write(part.to_dense().tobytes())
    return f"wrote {output}: bool {list(shape)}"
