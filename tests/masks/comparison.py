"""Compare everything that a compiled mask says with a dense matrix."""

from __future__ import annotations

import numpy as np

from compilemask.language import meaning
from compilemask.pipeline import CompiledMask
from tests.oracles import Mask, drawn_cells, tile_kinds

KERNEL_TILES = ((64, 64), (128, 64), (128, 128), (64, 128))
TINY_TILES = ((3, 5), (8, 8))


def check(compiled: CompiledMask, expected: Mask, tiles: tuple[tuple[int, int], ...]) -> None:
    """Intervals both ways, tile maps and descriptors against `expected`, [batch, head, query, key]."""
    assert (compiled.query_length, compiled.key_length) == expected.shape[2:]
    assert compiled.batch in (1, expected.shape[0])
    assert compiled.heads in (1, expected.shape[1])
    for batch, head in np.ndindex(expected.shape[:2]):
        cells = expected[batch, head]
        rows = compiled.rows_of(batch, head)
        rows.check()
        np.testing.assert_array_equal(rows.to_dense(), cells)
        columns = compiled.columns_of(batch, head)
        columns.check()
        np.testing.assert_array_equal(columns.to_dense(), cells.T)
    for block_m, block_n in tiles:
        check_tiles(compiled, expected, block_m, block_n)


def check_tiles(compiled: CompiledMask, expected: Mask, block_m: int, block_n: int) -> None:
    """Tile map and descriptor of one tile size; both stand in the order of the kernel."""
    descriptor = compiled.descriptor(block_m, block_n)
    query_order = np.arange(expected.shape[2]) if descriptor.query_order is None else descriptor.query_order
    key_order = np.arange(expected.shape[3]) if descriptor.key_order is None else descriptor.key_order
    drawn: dict[int, tuple[Mask, Mask]] = {}
    for batch, head in np.ndindex(expected.shape[:2]):
        cells = expected[batch, head][query_order][:, key_order]
        kinds = compiled.tiles(block_m, block_n, batch, head).kinds()
        np.testing.assert_array_equal(kinds, tile_kinds(cells, block_m, block_n))
        variant = int(descriptor.variant[batch % descriptor.variant.shape[0], head % descriptor.variant.shape[1]])
        if variant not in drawn:
            drawn[variant] = drawn_cells(descriptor, variant, False), drawn_cells(descriptor, variant, True)
        for side in drawn[variant]:
            np.testing.assert_array_equal(side, cells)


def check_meaning(compiled: CompiledMask, expected: Mask) -> None:
    """The slow definition of the language, cell by cell."""
    for batch, head, query, key in np.ndindex(expected.shape):
        visible = meaning.visible(compiled.program, query, key, batch, head)
        assert visible == expected[batch, head, query, key], (batch, head, query, key)
