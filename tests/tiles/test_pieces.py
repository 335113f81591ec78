"""Pieces of runs as bits of patterns, against cells written out."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask.tiles.pieces import are_set, draw
from compilemask.tiles.tile_map import pack_patterns


@pytest.mark.parametrize("width", [1, 5, 31, 32, 33, 64, 100, 128, 256])
@pytest.mark.parametrize("lines", [1, 3, 40])
def test_bits_are_the_cells_of_the_pieces(width: int, lines: int) -> None:
    random = np.random.default_rng(width * 100 + lines)
    cells = random.random((lines, width)) < random.random()
    step = np.diff(np.pad(cells.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    line, start = np.nonzero(step == 1)
    end = np.nonzero(step == -1)[1]
    words = np.zeros((lines, -(-width // 32)), np.uint32)

    draw(words, line, start, end)

    np.testing.assert_array_equal(words, pack_patterns(cells[None])[0])
    line = random.integers(0, lines, 200)
    start = random.integers(0, width, 200)
    end = start + 1 + random.integers(0, width - start)
    expected = [cells[row, first:last].all() for row, first, last in zip(line, start, end, strict=True)]
    np.testing.assert_array_equal(are_set(words, line, start, end), expected)
