"""The descriptor: all that a kernel needs to know of a mask, in numpy arrays.

One descriptor serves every batch entry and head: `variant[b, h]` says which of the distinct masks applies (a length
of 1 broadcasts), and the tile lists of all variants follow each other. The pattern table is shared by all of them.

FULL runs hold only tiles whose keys are all in range: a full tile that crosses the end of the keys is listed as
PARTIAL with an edge pattern, so a kernel never compares a key index with the key length. Pattern bits of cells out of
range are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TileLists:
    """Tiles to visit, in compressed rows: row = variant * tiles_per_variant + tile of the walking axis.

    In the forward lists a row is a query tile and the listed tiles are key tiles; in the transpose a row is a key tile
    and the listed tiles are query tiles. Pattern numbers always mean the same [block_m, block_n] bits.
    """

    full_offsets: NDArray[np.int32]  # [variants * tiles + 1]
    full_runs: NDArray[np.int32]  # [runs, 2] half-open
    partial_offsets: NDArray[np.int32]  # [variants * tiles + 1]
    partial_tiles: NDArray[np.int32]  # [partial]
    partial_patterns: NDArray[np.int32]  # [partial]


@dataclass(frozen=True, slots=True, eq=False)
class Descriptor:
    """Compiled mask for one tile size. See the module docstring for the conventions."""

    query_length: int
    key_length: int
    block_m: int
    block_n: int
    variant: NDArray[np.int32]  # [batch or 1, heads or 1]
    variants: int
    by_query: TileLists
    by_key: TileLists
    patterns: NDArray[np.uint32]  # [distinct, block_m, ceil(block_n / 32)]
    query_order: NDArray[np.int32] | None = None  # slot i of the kernel holds the caller's query query_order[i]
    key_order: NDArray[np.int32] | None = None

    @property
    def query_tiles(self) -> int:
        """Query tiles of one variant."""
        return -(-self.query_length // self.block_m)

    @property
    def key_tiles(self) -> int:
        """Key tiles of one variant."""
        return -(-self.key_length // self.block_n)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, as a kernel would upload them."""
        arrays = [self.variant, self.patterns]
        for lists in (self.by_query, self.by_key):
            arrays += [lists.full_offsets, lists.full_runs, lists.partial_offsets]
            arrays += [lists.partial_tiles, lists.partial_patterns]
        arrays += [order for order in (self.query_order, self.key_order) if order is not None]
        return sum(int(array.nbytes) for array in arrays)
