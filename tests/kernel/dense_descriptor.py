"""Descriptors straight from dense masks, for kernel tests: slow, obvious, independent of the compiler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor, TileLists


class Patterns:
    """Numbers each distinct tile of bits once, in order of first use."""

    def __init__(self, block_m: int, block_n: int) -> None:
        self.shape = (block_m, -(-block_n // 32))
        self.numbers: dict[bytes, int] = {}

    def number(self, cells: NDArray[np.bool_]) -> int:
        padded = np.zeros((self.shape[0], self.shape[1] * 32), bool)
        padded[: cells.shape[0], : cells.shape[1]] = cells
        return self.numbers.setdefault(np.packbits(padded, axis=1, bitorder="little").tobytes(), len(self.numbers))

    def table(self) -> NDArray[np.uint32]:
        return np.frombuffer(b"".join(self.numbers), np.uint32).reshape(len(self.numbers), *self.shape)


def descriptor_of(dense: NDArray[np.bool_], block_m: int, block_n: int) -> Descriptor:
    """`dense` is [batch or 1, heads or 1, queries, keys]; every (batch, head) becomes its own variant."""
    batch, heads, queries, keys = dense.shape
    masks = dense.reshape(batch * heads, queries, keys)
    patterns = Patterns(block_m, block_n)
    by_query = [_rows(mask, block_m, block_n, patterns, transpose=False) for mask in masks]
    by_key = [_rows(mask, block_m, block_n, patterns, transpose=True) for mask in masks]
    return Descriptor(
        query_length=queries,
        key_length=keys,
        block_m=block_m,
        block_n=block_n,
        variant=np.arange(batch * heads, dtype=np.int32).reshape(batch, heads),
        variants=batch * heads,
        by_query=_lists([row for rows in by_query for row in rows]),
        by_key=_lists([row for rows in by_key for row in rows]),
        patterns=patterns.table(),
    )


Row = tuple[list[int], list[tuple[int, int]]]


def _rows(mask: NDArray[np.bool_], block_m: int, block_n: int, patterns: Patterns, *, transpose: bool) -> list[Row]:
    query_tiles, key_tiles = -(-mask.shape[0] // block_m), -(-mask.shape[1] // block_n)
    outer, inner = (key_tiles, query_tiles) if transpose else (query_tiles, key_tiles)
    rows = []
    for a in range(outer):
        full: list[int] = []
        partial: list[tuple[int, int]] = []
        for b in range(inner):
            m, n = (b, a) if transpose else (a, b)
            cells = mask[m * block_m : (m + 1) * block_m, n * block_n : (n + 1) * block_n]
            if cells.all() and (n + 1) * block_n <= mask.shape[1]:
                full.append(b)
            elif cells.any():
                partial.append((b, patterns.number(cells)))
        rows.append((full, partial))
    return rows


def _lists(rows: list[Row]) -> TileLists:
    runs: list[tuple[int, int]] = []
    full_offsets, partial_offsets = [0], [0]
    tiles: list[int] = []
    numbers: list[int] = []
    for full, partial in rows:
        start = len(runs)
        for tile in full:
            if len(runs) > start and runs[-1][1] == tile:
                runs[-1] = (runs[-1][0], tile + 1)
            else:
                runs.append((tile, tile + 1))
        full_offsets.append(len(runs))
        tiles += [tile for tile, _ in partial]
        numbers += [number for _, number in partial]
        partial_offsets.append(len(tiles))
    return TileLists(
        full_offsets=np.array(full_offsets, np.int32),
        full_runs=np.array(runs, np.int32).reshape(-1, 2),
        partial_offsets=np.array(partial_offsets, np.int32),
        partial_tiles=np.array(tiles, np.int32),
        partial_patterns=np.array(numbers, np.int32),
    )
