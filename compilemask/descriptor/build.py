"""From tile maps to the descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor, TileLists
from compilemask.intervals import Intervals
from compilemask.tiles import TileMap, build_tile_map
from compilemask.tiles.limits import few_enough
from compilemask.tiles.tile_map import pack_patterns, tile_row_of


def build_descriptor(
    maps: Sequence[TileMap],
    variant: NDArray[np.int32],
    query_order: NDArray[np.int32] | None = None,
    key_order: NDArray[np.int32] | None = None,
) -> Descriptor:
    """The descriptor of at least one map; all have the same lengths and blocks.

    `variant` is [batch or 1, heads or 1] numbers into `maps`; the maps are in kernel order already.

    Raises:
        MaskFileError: all maps together have more partial tiles than a kernel's numbers and its memory should hold.
    """
    maps = list(few_enough(maps))
    model = maps[0]
    maps = [_with_edge_patterns(one) for one in maps]
    numbers, patterns = _share_patterns(maps)
    by_query = _stack(maps, numbers)
    by_key = _stack_transposed(maps, numbers)
    return Descriptor(
        model.query_length,
        model.key_length,
        model.block_m,
        model.block_n,
        variant.astype(np.int32),
        len(maps),
        by_query,
        by_key,
        patterns,
        query_order,
        key_order,
    )


def descriptor_from_dense(mask: NDArray[np.bool_], block_m: int, block_n: int) -> Descriptor:
    """The descriptor of a dense [batch or 1, heads or 1, queries, keys] mask, True = visible."""
    batch, heads, _, _ = mask.shape
    variant = np.zeros((batch, heads), np.int32)
    known: dict[bytes, int] = {}
    maps: list[TileMap] = []
    for b in range(batch):
        for h in range(heads):
            number = known.setdefault(np.ascontiguousarray(mask[b, h]).tobytes(), len(maps))
            if number == len(maps):
                maps.append(build_tile_map(Intervals.from_dense(mask[b, h]), block_m, block_n))
            variant[b, h] = number
    return build_descriptor(maps, variant)


def _with_edge_patterns(tiles: TileMap) -> TileMap:
    """FULL tiles that cross the end of the keys become PARTIAL ones with an edge pattern."""
    last = tiles.key_tiles - 1
    crossing = tiles.key_length % tiles.block_n != 0 and tiles.full_runs.size
    ends_there = tiles.full_runs[:, 1] == last + 1
    if not crossing or not ends_there.any():
        return tiles
    rows = tile_row_of(tiles.full_offsets)[ends_there]
    full_runs = tiles.full_runs.copy()
    full_runs[ends_there, 1] = last
    kept = full_runs[:, 0] < full_runs[:, 1]
    full_offsets = np.concatenate(([0], np.cumsum(kept)))[tiles.full_offsets]
    cells = np.zeros((2, tiles.block_m, tiles.block_n), np.bool_)
    cells[0, :, : tiles.key_length - last * tiles.block_n] = True
    last_rows = tiles.query_length - (tiles.query_tiles - 1) * tiles.block_m
    cells[1, :last_rows] = cells[0, :last_rows]
    edge = tiles.distinct_partial + (rows == tiles.query_tiles - 1)
    where = tiles.partial_offsets[rows + 1]
    added = np.zeros(tiles.query_tiles, np.int64)
    added[rows] = 1
    return TileMap(
        tiles.query_length,
        tiles.key_length,
        tiles.block_m,
        tiles.block_n,
        full_offsets,
        full_runs[kept],
        tiles.partial_offsets + np.concatenate(([0], np.cumsum(added))),
        np.insert(tiles.partial_tiles, where, last).astype(np.int32),
        np.insert(tiles.partial_patterns, where, edge).astype(np.int32),
        np.concatenate((tiles.patterns, pack_patterns(cells))),
    )


def _share_patterns(maps: Sequence[TileMap]) -> tuple[list[NDArray[np.int32]], NDArray[np.uint32]]:
    """One table for all maps, in order of first use by map, query tile and key tile; numbers for every map."""
    known: dict[bytes, int] = {}
    fresh: list[list[int]] = []
    numbers = []
    for one in maps:
        used, first = np.unique(one.partial_patterns, return_index=True)
        rename = np.zeros(one.distinct_partial, np.int32)
        fresh.append([])
        for i in used[np.argsort(first)].tolist():
            before = len(known)
            rename[i] = known.setdefault(_digest(one.patterns[i]), before)
            if len(known) > before:
                fresh[-1].append(i)
        numbers.append(rename[one.partial_patterns])
    table = np.empty((len(known), *maps[0].patterns.shape[1:]), np.uint32)
    filled = 0
    for one, chosen in zip(maps, fresh, strict=True):
        end = filled + len(chosen)
        np.take(one.patterns, np.array(chosen, np.intp), axis=0, out=table[filled:end], mode="clip")
        filled = end
    return numbers, table


def _digest(pattern: NDArray[np.uint32]) -> bytes:
    """32 bytes instead of the 2 KiB of a pattern: a million of them are compared by it."""
    return blake2b(pattern.tobytes(), digest_size=32).digest()


def _stack(maps: Sequence[TileMap], numbers: Sequence[NDArray[np.int32]]) -> TileLists:
    return TileLists(
        _stack_offsets([one.full_offsets for one in maps]),
        np.concatenate([one.full_runs for one in maps]),
        _stack_offsets([one.partial_offsets for one in maps]),
        np.concatenate([one.partial_tiles for one in maps]),
        np.concatenate(list(numbers)),
    )


def _stack_transposed(maps: Sequence[TileMap], numbers: Sequence[NDArray[np.int32]]) -> TileLists:
    full = [one.full_intervals().transpose() for one in maps]
    orders = [np.argsort(one.partial_tiles, kind="stable") for one in maps]
    rows = [tile_row_of(one.partial_offsets)[order] for one, order in zip(maps, orders, strict=True)]
    counts = [np.bincount(one.partial_tiles, minlength=one.key_tiles) for one in maps]
    return TileLists(
        _stack_offsets([one.offsets for one in full]),
        np.concatenate([np.stack((one.starts, one.ends), axis=1) for one in full]),
        _stack_offsets([np.concatenate(([0], np.cumsum(count))) for count in counts]),
        np.concatenate(rows).astype(np.int32),
        np.concatenate([number[order] for number, order in zip(numbers, orders, strict=True)]),
    )


def _stack_offsets(offsets: Sequence[NDArray[np.integer]]) -> NDArray[np.int32]:
    parts: list[NDArray[np.integer]] = [np.zeros(1, np.int64)]
    total = 0
    for one in offsets:
        parts.append(one[1:] + total)
        total += int(one[-1])
    return np.concatenate(parts).astype(np.int32)
