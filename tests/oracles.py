"""Slow truths that tests compare with: every function looks at every cell of a dense matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor import Descriptor, TileLists
from compilemask.tiles import TileKind
from compilemask.tiles.tile_map import unpack_patterns

Mask = NDArray[np.bool_]


def tile_kinds(mask: Mask, block_m: int, block_n: int) -> NDArray[np.uint8]:
    """[query tiles, key tiles] as `TileKind` numbers; a ragged edge tile is judged on its in-range cells."""
    rows = [mask[top : top + block_m] for top in range(0, mask.shape[0], block_m)]
    lefts = range(0, mask.shape[1], block_n)
    kinds = np.full((len(rows), len(lefts)), TileKind.PARTIAL, np.uint8)
    for i, row in enumerate(rows):
        any_column, all_column = np.logical_or.reduce(row), np.logical_and.reduce(row)
        for j, left in enumerate(lefts):
            if not any_column[left : left + block_n].any():
                kinds[i, j] = TileKind.EMPTY
            elif all_column[left : left + block_n].all():
                kinds[i, j] = TileKind.FULL
    return kinds


def row_runs(mask: Mask) -> list[list[tuple[int, int]]]:
    """Per row the maximal runs `(start, end)` of visible keys."""
    runs = []
    for row in mask:
        edges = np.diff(np.concatenate(([0], row.astype(np.int8), [0])))
        starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        runs.append(list(zip(starts.tolist(), ends.tolist(), strict=True)))
    return runs


def drawn_cells(descriptor: Descriptor, variant: int, by_key: bool) -> Mask:
    """The [query, key] cells, in kernel order, that the lists of one direction describe.

    Asserts that no tile is listed twice and that no cell out of range is set.
    """
    m, n = descriptor.block_m, descriptor.block_n
    lists = descriptor.by_key if by_key else descriptor.by_query
    patterns = unpack_patterns(descriptor.patterns, n)
    query_tiles, key_tiles = -(-descriptor.query_length // m), -(-descriptor.key_length // n)
    cells = np.zeros((query_tiles, m, key_tiles, n), bool)
    seen = np.zeros((query_tiles, key_tiles), bool)
    for tile in range(key_tiles if by_key else query_tiles):
        for other, pattern in _listed(lists, variant * (key_tiles if by_key else query_tiles) + tile):
            q, k = (other, tile) if by_key else (tile, other)
            assert not seen[q, k], (q, k)
            seen[q, k] = True
            cells[q, :, k, :] = True if pattern is None else patterns[pattern]
    dense = cells.reshape(query_tiles * m, key_tiles * n)
    assert not dense[:, descriptor.key_length :].any()
    return dense[: descriptor.query_length, : descriptor.key_length]


def _listed(lists: TileLists, row: int) -> list[tuple[int, int | None]]:
    """The tiles of a row of the lists, each with the number of its pattern, None for FULL."""
    tiles: list[tuple[int, int | None]] = []
    for start, end in lists.full_runs[lists.full_offsets[row] : lists.full_offsets[row + 1]]:
        tiles += [(tile, None) for tile in range(start, end)]
    partial = slice(lists.partial_offsets[row], lists.partial_offsets[row + 1])
    tiles += list(zip(lists.partial_tiles[partial].tolist(), lists.partial_patterns[partial].tolist(), strict=True))
    return tiles
