"""What a descriptor says of single rows and columns, read back tile by tile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor, TileLists


def form_fault(descriptor: Descriptor) -> str | None:
    """What is wrong with the form of a descriptor, None if nothing: lists that a kernel could not walk safely."""
    shape = descriptor.query_tiles, descriptor.key_tiles
    for name, lists, tiles, others in (
        ("by query", descriptor.by_query, shape[0], shape[1]),
        ("by key", descriptor.by_key, shape[1], shape[0]),
    ):
        fault = _list_fault(lists, descriptor.variants * tiles, others, len(descriptor.patterns))
        if fault is not None:
            return f"{name}: {fault}"
    if descriptor.variant.size and not 0 <= descriptor.variant.min() <= descriptor.variant.max() < descriptor.variants:
        return "a variant number is out of range"
    return None


def _list_fault(lists: TileLists, rows: int, others: int, patterns: int) -> str | None:
    for offsets, entries in ((lists.full_offsets, lists.full_runs), (lists.partial_offsets, lists.partial_tiles)):
        if len(offsets) != rows + 1 or offsets[0] != 0 or offsets[-1] != len(entries) or (np.diff(offsets) < 0).any():
            return "the offsets do not frame the lists"
    runs, tiles, numbers = lists.full_runs, lists.partial_tiles, lists.partial_patterns
    if len(runs) and not (runs[:, 0].min() >= 0 and runs[:, 1].max() <= others and (runs[:, 0] < runs[:, 1]).all()):
        return "a full run is empty or leaves the mask"
    if len(tiles) and not 0 <= tiles.min() <= tiles.max() < others:
        return "a partial tile lies outside of the mask"
    if len(numbers) != len(tiles) or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < patterns):
        return "a pattern number is out of range"
    return None


def rows_by_query(descriptor: Descriptor, variant: int, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows of some query slots, bool [slots, key tiles * block_n]: cells past the last key must be False."""
    columns, block = descriptor.key_tiles, descriptor.block_n
    cells = np.zeros((len(slots), columns * block), np.bool_)
    for i, slot in enumerate(slots.tolist()):
        tile, inner = divmod(slot, descriptor.block_m)
        row = variant * descriptor.query_tiles + tile
        places, numbers = _listed(descriptor.by_query, row)
        bits = _octets(descriptor.patterns[numbers, inner])
        _draw(cells[i], descriptor.by_query, row, places, np.unpackbits(bits, axis=-1, count=block, bitorder="little"))
    return cells


def columns_by_key(descriptor: Descriptor, variant: int, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Columns of some key slots, bool [slots, query tiles * block_m]; cells past the last query mean nothing."""
    rows, block = descriptor.query_tiles, descriptor.block_m
    cells = np.zeros((len(slots), rows * block), np.bool_)
    for i, slot in enumerate(slots.tolist()):
        tile, inner = divmod(slot, descriptor.block_n)
        row = variant * descriptor.key_tiles + tile
        places, numbers = _listed(descriptor.by_key, row)
        words = descriptor.patterns[numbers, :, inner // 32]
        _draw(cells[i], descriptor.by_key, row, places, (words >> np.uint32(inner % 32)) & np.uint32(1))
    return cells


def listed_cells(descriptor: Descriptor, lists: TileLists, variant: int, *, walks_queries: bool) -> int:
    """Visible cells that the lists of one variant add up to; a tile listed twice counts twice.

    `walks_queries` is True for `by_query`, whose rows are query tiles, and False for `by_key`.
    """
    tiles = descriptor.query_tiles if walks_queries else descriptor.key_tiles
    first, last = variant * tiles, (variant + 1) * tiles
    weights = np.bitwise_count(descriptor.patterns).sum(axis=(1, 2), dtype=np.int64)
    partial = lists.partial_patterns[lists.partial_offsets[first] : lists.partial_offsets[last]]
    runs = lists.full_runs[lists.full_offsets[first] : lists.full_offsets[last]].astype(np.int64)
    row = np.repeat(np.arange(tiles, dtype=np.int64), np.diff(lists.full_offsets[first : last + 1]))
    if walks_queries:
        height = np.minimum(descriptor.block_m, descriptor.query_length - row * descriptor.block_m)
        cells = height * (runs[:, 1] - runs[:, 0]) * descriptor.block_n
    else:
        ends = np.minimum(runs * descriptor.block_m, descriptor.query_length)
        cells = (ends[:, 1] - ends[:, 0]) * descriptor.block_n
    return int(weights[partial].sum() + cells.sum())


def _listed(lists: TileLists, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    part = slice(int(lists.partial_offsets[row]), int(lists.partial_offsets[row + 1]))
    return lists.partial_tiles[part], lists.partial_patterns[part]


def _octets(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(words).astype("<u4", copy=False).view(np.uint8)


def _draw(
    line: NDArray[np.bool_], lists: TileLists, row: int, places: NDArray[np.int32], bits: NDArray[np.integer]
) -> None:
    """Set the cells of one line: FULL runs, then the bits [places, block] of the PARTIAL tiles."""
    block = bits.shape[-1]
    for start, end in lists.full_runs[int(lists.full_offsets[row]) : int(lists.full_offsets[row + 1])].tolist():
        line[start * block : end * block] = True
    tiles = line.reshape(-1, block)
    np.logical_or.at(tiles, places, bits.astype(np.bool_))
