"""Runs inside tiles as bits of packed patterns, for tiles of few runs: their cells are not written out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.integer]
WORD = 32
CELLS_A_PIECE = 16  # with more cells for every piece, bits are faster than cells
_BELOW = np.array([(1 << bits) - 1 for bits in range(WORD + 1)], np.uint32)


def draw(words: NDArray[np.uint32], line: Numbers, start: Numbers, end: Numbers) -> None:
    """Set columns [start, end) in the given lines of `words` [lines, words a line]; no two pieces overlap."""
    flat = words.reshape(-1)
    for _, place, bits in _bits(line, start, end, words.shape[1]):
        np.add.at(flat, place, bits)


def are_set(words: NDArray[np.uint32], line: Numbers, start: Numbers, end: Numbers) -> NDArray[np.bool_]:
    """For every piece whether all columns [start, end) are set in its line."""
    flat = words.reshape(-1)
    found = np.ones(line.size, np.bool_)
    for some, place, bits in _bits(line, start, end, words.shape[1]):
        found[some] &= flat.take(place) & bits == bits
    return found


def _bits(
    line: Numbers, start: Numbers, end: Numbers, width: int
) -> Iterator[tuple[slice | Numbers, Numbers, NDArray[np.uint32]]]:
    """The first word of every piece, then the second of those that have one, ...: which pieces, place and bits."""
    if not line.size:
        return
    first = start // WORD
    more = (end - 1) // WORD - first
    for step in range(int(more.max()) + 1):
        some: slice | Numbers = slice(None) if step == 0 else np.flatnonzero(more >= step)
        word = first[some] + step
        begin, stop = np.maximum(start[some] - WORD * word, 0), np.minimum(end[some] - WORD * word, WORD)
        yield some, line[some] * width + word, _BELOW.take(stop) ^ _BELOW.take(begin)
