"""How large a tile map may become, said in words before memory or patience run out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from compilemask.errors import MaskFileError, UsageError
from compilemask.language.values import told
from compilemask.source import Diagnostic, Severity

if TYPE_CHECKING:
    from compilemask.tiles.tile_map import TileMap

MOST_PIECES_A_ROW = 1 << 22  # pieces of runs in one row of tiles
MOST_PIECES = 1 << 26
MOST_PARTIAL = 1 << 22
MOST_PATTERNS = 1 << 16
MOST_PATTERNS_TOGETHER = 1 << 20
MOST_PATTERN_BYTES = 1 << 31  # of 128 x 128 tiles, so many patterns; a kernel counts their words in 32 bits
MOST_PARTIAL_TOGETHER = 1 << 26  # their numbers, by query and by key, take 1 GiB
LARGEST_BLOCK = 256
HINT = "keep tokens that see each other side by side (`order`), or take larger tiles"
HINT_TOGETHER = (
    "compile fewer of the heads or samples at once, or keep tokens that see each other side by side (`order`)"
)


def check_blocks(block_m: int, block_n: int) -> None:
    """Raise UsageError for a tile size that there is none of; kernels take powers of two from 16 on."""
    for name, size in (("block_m", block_m), ("block_n", block_n)):
        if not isinstance(size, int | np.integer) or not 1 <= size <= LARGEST_BLOCK:
            shown = told(size) if isinstance(size, int) else repr(size)
            raise UsageError(f"{name} {shown}: a tile has 1 to {LARGEST_BLOCK} queries and as many keys")


def few_enough(maps: Iterable[TileMap]) -> Iterator[TileMap]:
    """The maps of all samples and heads, as long as they are not too much together. Raises MaskFileError then."""
    partial = patterns = 0
    for one in maps:
        tiles = f"{one.block_m} x {one.block_n} tiles"
        together = f"in all different samples and heads together, more than {{:,}} partial {tiles}"
        partial += one.partial
        patterns += one.distinct_partial
        most = min(MOST_PATTERNS_TOGETHER, MOST_PATTERN_BYTES // max(1, one.patterns[:1].nbytes))
        if partial > MOST_PARTIAL_TOGETHER:
            raise _error(together.format(MOST_PARTIAL_TOGETHER), HINT_TOGETHER)
        if patterns > most:
            size = most * one.patterns[:1].nbytes / 2**30
            raise _error(f"{together.format(most)} that differ within their mask ({size:.3g} GiB)", HINT_TOGETHER)
        yield one


class TileMapSize:
    """What the rows of tiles judged so far hold. Raises MaskFileError as soon as it is too much."""

    def __init__(self, block_m: int, block_n: int) -> None:
        self._tiles = f"{block_m} x {block_n} tiles"
        self._pieces = 0
        self._partial = 0

    def add(self, rows: int, pieces: int, partial: int) -> None:
        """Count some rows of tiles: pieces of runs in them, and partial tiles."""
        self._pieces += pieces
        self._partial += partial
        if rows == 1:
            self.check_row(pieces)
        self.check_pieces(self._pieces)
        if self._partial > MOST_PARTIAL:
            raise _error(f"more than {MOST_PARTIAL:,} {self._tiles} are partial")

    def check_pieces(self, pieces: int) -> None:
        """Raise where all rows of tiles have more pieces of runs than are allowed."""
        if pieces > MOST_PIECES:
            raise _error(f"the runs fall into more than {MOST_PIECES:,} pieces in this order of tokens")

    def check_row(self, pieces: int) -> None:
        """Raise where one row of tiles has more pieces of runs than can be judged at once."""
        if pieces > MOST_PIECES_A_ROW:
            what = f"a row of {self._tiles} has {pieces:,} pieces of runs"
            raise _error(f"{what}, at most {MOST_PIECES_A_ROW:,} are allowed")

    def different(self, patterns: int) -> None:
        """Count the different partial tiles found so far."""
        if patterns > MOST_PATTERNS:
            raise _error(f"more than {MOST_PATTERNS:,} partial {self._tiles} differ from one another")


def _error(message: str, hint: str = HINT) -> MaskFileError:
    return MaskFileError([Diagnostic(Severity.ERROR, "too-many-tiles", message, None, hint)])
