"""Which keys and queries take part in any visible cell, read off a descriptor.

Whatever the others hold (NaN in padding, for instance) must never reach an output, and 0 * NaN is NaN, so kernels
must not even multiply by them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor, TileLists


def live_keys(descriptor: Descriptor) -> NDArray[np.bool_]:
    """bool [variants, key_length]: some query of the variant sees the key."""
    words = np.bitwise_or.reduce(descriptor.patterns, axis=1)
    columns = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    return _live(descriptor.by_query, columns[:, : descriptor.block_n].astype(bool), descriptor.variants,
                 descriptor.key_length)  # fmt: skip


def live_queries(descriptor: Descriptor) -> NDArray[np.bool_]:
    """bool [variants, query_length]: the query of the variant sees some key."""
    rows = np.bitwise_or.reduce(descriptor.patterns, axis=2) != 0
    return _live(descriptor.by_key, rows, descriptor.variants, descriptor.query_length)


def _live(lists: TileLists, pattern_cells: NDArray[np.bool_], variants: int, length: int) -> NDArray[np.bool_]:
    """Liveness along the axis of the listed tiles; `pattern_cells[p]` are the live cells of pattern p on that axis."""
    block = pattern_cells.shape[1]
    tiles = -(-length // block)
    rows_per_variant = max((len(lists.full_offsets) - 1) // variants, 1)
    boundaries = np.zeros((variants, tiles + 1), np.int64)
    run_variant = np.repeat(np.arange(len(lists.full_offsets) - 1) // rows_per_variant, np.diff(lists.full_offsets))
    np.add.at(boundaries, (run_variant, lists.full_runs[:, 0]), 1)
    np.add.at(boundaries, (run_variant, lists.full_runs[:, 1]), -1)
    cells = np.repeat(np.cumsum(boundaries, axis=1)[:, :tiles] > 0, block, axis=1).reshape(variants * tiles, block)
    tile_variant = np.repeat(
        np.arange(len(lists.partial_offsets) - 1) // rows_per_variant, np.diff(lists.partial_offsets)
    )
    pairs = np.stack([tile_variant * tiles + lists.partial_tiles, lists.partial_patterns], axis=1)
    pairs = np.unique(pairs, axis=0)  # in the order of tiles
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    for first, last in pairwise([*starts, len(pairs)]):
        cells[pairs[first, 0]] |= np.logical_or.reduce(pattern_cells[pairs[first:last, 1]], axis=0)
    return cells.reshape(variants, tiles * block)[:, :length]
