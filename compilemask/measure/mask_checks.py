"""Intervals, tile map and descriptor of a mask against its meaning, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor
from compilemask.measure import decoding, sampling
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.places import Place, Slots
from compilemask.measure.report import Check, Outcome
from compilemask.tiles.tile_map import TileKind, TileMap

Cells = NDArray[np.bool_]
WORDS = {True: "visible", False: "hidden"}


def check_form(descriptor: Descriptor) -> Check:
    """Whether a kernel can walk the lists at all; nothing else of a descriptor is looked at if not."""
    fault = decoding.form_fault(descriptor)
    scope = "offsets, runs, tile and pattern numbers" + (f": {fault}" if fault else "")
    return Check("descriptor form", Outcome.FAIL if fault else Outcome.PASS, scope)


def check_table(places: Sequence[Place], descriptor: Descriptor) -> list[Check]:
    """Whether every sample and head has its own mask in the descriptor; nothing for a mask that is one for all.

    `places` has one place per distinct mask, in the order of their numbers, each as the descriptor has it.
    """
    table = np.asarray(places[0].compiled.program.variant)
    if table.size == 1:
        return []
    expected = np.array([place.number for place in places])[table]
    stored = np.broadcast_to(descriptor.variant, expected.shape)
    wrong = np.argwhere(stored != expected)
    scope = f"{table.shape[0]:,} x {table.shape[1]:,} samples x heads, {len(places):,} distinct masks"
    if not len(wrong):
        return [Check("descriptor samples and heads", Outcome.PASS, scope)]
    batch, head = wrong[0].tolist()
    right = replace(places[int(table[batch, head])], batch=batch, head=head)
    taken = next((place for place in places if place.number == int(stored[batch, head])), right)
    scope += (
        f"; {len(wrong):,} have another's mask, batch {batch} head {head} that of batch {taken.batch} head {taken.head}"
    )
    rows = sampling.lines(right.variant.queries, right.variant.keys.length)
    cells = [BlockOracle(place.variant).rows(rows) for place in (right, taken)]
    slots = rows, np.arange(right.variant.keys.length, dtype=np.int64)
    found = _compare(
        "descriptor samples and heads", scope, right, (descriptor.block_m, descriptor.block_n), slots, *cells
    )
    return [replace(found, outcome=Outcome.FAIL)]


def check_mask(place: Place, descriptor: Descriptor, tiles: TileMap, step: Callable[[str], None]) -> list[Check]:
    """All bit-exact checks of one distinct mask; `step` is told before each what comes."""
    step(f"meaning of {place.compiled.query_length:,} x {place.compiled.key_length:,} cells")
    oracle = BlockOracle(place.variant)
    if sampling.is_whole(place.compiled.query_length, place.compiled.key_length):
        return _whole(place, oracle, descriptor, tiles, step)
    return _sampled(place, oracle, descriptor, tiles, step)


def _whole(
    place: Place, oracle: BlockOracle, descriptor: Descriptor, tiles: TileMap, step: Callable[[str], None]
) -> list[Check]:
    queries, keys = len(place.query_order), len(place.key_order)
    scope = f"all {queries * keys:,} cells"
    block = descriptor.block_m, descriptor.block_n
    expected = oracle.rows(np.arange(queries, dtype=np.int64))
    everything = np.arange(queries, dtype=np.int64), np.arange(keys, dtype=np.int64)
    step("intervals")
    found = place.compiled.rows_of(place.batch, place.head).to_dense()
    checks = [_compare("intervals", scope, place, block, everything, expected, found)]
    step("tile map")
    ordered = expected[np.ix_(place.query_order, place.key_order)]
    slots = place.query_order, place.key_order
    checks.append(_tile_check(place, tiles, ordered))
    step("descriptor")
    decoded = decoding.rows_by_query(descriptor, place.number, everything[0])
    checks.append(_compare("descriptor by query", scope, place, block, slots, _widened(ordered, decoded), decoded))
    decoded = decoding.columns_by_key(descriptor, place.number, everything[1])[:, :queries].T
    checks.append(_compare("descriptor by key", scope, place, block, slots, ordered, decoded))
    checks.append(_count_check(place, descriptor, int(expected.sum())))
    return checks


def _sampled(
    place: Place, oracle: BlockOracle, descriptor: Descriptor, tiles: TileMap, step: Callable[[str], None]
) -> list[Check]:
    variant = place.variant
    block = descriptor.block_m, descriptor.block_n
    rows = sampling.lines(variant.queries, variant.keys.length)
    all_keys = np.arange(variant.keys.length, dtype=np.int64)
    scope = f"{len(rows):,} of {variant.queries.length:,} rows, region borders among them"
    expected = oracle.rows(rows)
    intervals = place.compiled.rows_of(place.batch, place.head)
    step("intervals")
    checks = [_compare("intervals", scope, place, block, (rows, all_keys), expected, intervals.select(rows).to_dense())]
    step("tile map")
    checks.append(_sampled_tiles(place, oracle, tiles))
    step("descriptor by query")
    ordered = expected[:, place.key_order]
    decoded = decoding.rows_by_query(descriptor, place.number, np.argsort(place.query_order)[rows])
    slots = rows, place.key_order
    checks.append(_compare("descriptor by query", scope, place, block, slots, _widened(ordered, decoded), decoded))
    step("descriptor by key")
    checks.append(_sampled_columns(place, oracle, descriptor))
    checks.append(_count_check(place, descriptor, intervals.visible))
    return checks


def _sampled_columns(place: Place, oracle: BlockOracle, descriptor: Descriptor) -> Check:
    variant = place.variant
    columns = sampling.lines(variant.keys, variant.queries.length)
    expected = oracle.columns(columns)[place.query_order]
    decoded = decoding.columns_by_key(descriptor, place.number, np.argsort(place.key_order)[columns])
    scope = f"{len(columns):,} of {variant.keys.length:,} columns, region borders among them"
    block = descriptor.block_m, descriptor.block_n
    found = decoded[:, : variant.queries.length].T
    return _compare("descriptor by key", scope, place, block, (place.query_order, columns), expected, found)


def _widened(expected: Cells, decoded: Cells) -> Cells:
    """The same with hidden cells past the last key, as a descriptor must have them."""
    extra = decoded.shape[1] - expected.shape[1]
    return np.pad(expected, ((0, 0), (0, extra))) if extra else expected


def _compare(
    name: str,
    scope: str,
    place: Place,
    block: tuple[int, int],
    slots: tuple[Slots, Slots],
    expected: Cells,
    found: Cells,
) -> Check:
    """Compare two arrays of cells; `slots` are the caller's numbers of their rows and columns."""
    wrong = expected != found
    count = int(np.count_nonzero(wrong))
    if not count:
        return Check(name, Outcome.PASS, scope)
    rows, columns = np.nonzero(wrong)
    numbers = slots[0][rows], np.append(slots[1], np.full(wrong.shape[1] - len(slots[1]), -1))[columns]
    first = int(np.lexsort((numbers[1], numbers[0]))[0])
    words = WORDS[bool(expected[rows[first], columns[first]])], WORDS[bool(found[rows[first], columns[first]])]
    cell = place.wrong(int(numbers[0][first]), int(numbers[1][first]), block, *words)
    return Check(name, Outcome.FAIL, scope, first_wrong=cell, wrong_cells=count)


def _count_check(place: Place, descriptor: Descriptor, visible: int) -> Check:
    """Cells that all listed tiles add up to: no tile is missing, listed twice, or has a bit too many."""
    found = [
        decoding.listed_cells(descriptor, descriptor.by_query, place.number, walks_queries=True),
        decoding.listed_cells(descriptor, descriptor.by_key, place.number, walks_queries=False),
    ]
    good = found == [visible, visible]
    scope = f"{visible:,} visible cells" + ("" if good else f"; by query {found[0]:,}, by key {found[1]:,}")
    return Check("descriptor cell count", Outcome.PASS if good else Outcome.FAIL, scope)


def kinds_of(cells: Cells, block_m: int, block_n: int) -> NDArray[np.uint8]:
    """EMPTY, PARTIAL or FULL for every tile of a dense array, judged on its cells in range."""
    tops, lefts = np.arange(0, cells.shape[0], block_m), np.arange(0, cells.shape[1], block_n)
    some = np.logical_or.reduceat(np.logical_or.reduceat(cells, tops, axis=0), lefts, axis=1)
    every = np.logical_and.reduceat(np.logical_and.reduceat(cells, tops, axis=0), lefts, axis=1)
    return (some.astype(np.uint8) * TileKind.PARTIAL) + every.astype(np.uint8)


def _tile_check(place: Place, tiles: TileMap, ordered: Cells) -> Check:
    expected, found = kinds_of(ordered, tiles.block_m, tiles.block_n), tiles.kinds()
    scope = f"all {expected.size:,} tiles of {tiles.block_m} x {tiles.block_n}"
    wrong = np.argwhere(expected != found)
    if len(wrong):
        return _wrong_tile(place, tiles, scope, wrong[0].tolist(), expected, found, len(wrong))
    if not np.array_equal(tiles.to_dense(), ordered):
        block = tiles.block_m, tiles.block_n
        slots = place.query_order, place.key_order
        return _compare("tile map", scope, place, block, slots, ordered, tiles.to_dense())
    return Check("tile map", Outcome.PASS, scope)


def _wrong_tile(
    place: Place,
    tiles: TileMap,
    scope: str,
    tile: list[int],
    expected: NDArray[np.uint8],
    found: NDArray[np.uint8],
    count: int,
) -> Check:
    row, column = tile
    query = int(place.query_order[row * tiles.block_m])
    key = int(place.key_order[column * tiles.block_n])
    words = TileKind(int(expected[row, column])).name, TileKind(int(found[row, column])).name
    cell = place.wrong(query, key, (tiles.block_m, tiles.block_n), *words)
    return Check("tile map", Outcome.FAIL, scope, first_wrong=cell, wrong_cells=count)


TILES_PER_KIND = 48


def _sampled_tiles(place: Place, oracle: BlockOracle, tiles: TileMap) -> Check:
    """Some tiles of each kind, every cell of them."""
    chosen = sample_tiles(tiles)
    scope = f"{len(chosen)} of {tiles.query_tiles * tiles.key_tiles:,} tiles of {tiles.block_m} x {tiles.block_n}"
    for row, column in chosen:
        queries = place.query_order[row * tiles.block_m : (row + 1) * tiles.block_m]
        keys = place.key_order[column * tiles.block_n : (column + 1) * tiles.block_n]
        cells = oracle.cells(queries, keys)
        expected = int(cells.all()) + int(cells.any())
        found = int(tiles.kind(row, column))
        if expected != found:
            words = TileKind(expected).name, TileKind(found).name
            cell = place.wrong(int(queries[0]), int(keys[0]), (tiles.block_m, tiles.block_n), *words)
            return Check("tile map", Outcome.FAIL, scope, first_wrong=cell, wrong_cells=1)
    return Check("tile map", Outcome.PASS, scope)


def sample_tiles(tiles: TileMap) -> list[tuple[int, int]]:
    """Tiles of every kind, the same at every call: partial and full ones from the lists, the rest anywhere."""
    random = np.random.default_rng(sampling.SEED)
    partial_row = np.repeat(np.arange(tiles.query_tiles), np.diff(tiles.partial_offsets))
    full_row = np.repeat(np.arange(tiles.query_tiles), np.diff(tiles.full_offsets))
    chosen = set()
    for i in sampling.spread(tiles.partial, TILES_PER_KIND).tolist():
        chosen.add((int(partial_row[i]), int(tiles.partial_tiles[i])))
    for i in sampling.spread(len(full_row), TILES_PER_KIND // 2).tolist():
        first, last = tiles.full_runs[i].tolist()
        chosen |= {(int(full_row[i]), first), (int(full_row[i]), last - 1)}
        chosen |= {(int(full_row[i]), tile) for tile in (first - 1, last) if 0 <= tile < tiles.key_tiles}
    rows = random.integers(0, tiles.query_tiles, TILES_PER_KIND).tolist()
    columns = random.integers(0, tiles.key_tiles, TILES_PER_KIND).tolist()
    return sorted(chosen | set(zip(rows, columns, strict=True)))
