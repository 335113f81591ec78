"""How large a tile map may become, said in words before memory or patience run out."""

from __future__ import annotations

import numpy as np

from compilemask.errors import MaskFileError, UsageError
from compilemask.source import Diagnostic, Severity

MOST_PIECES_A_ROW = 1 << 22  # pieces of runs in one row of tiles
MOST_PIECES = 1 << 26
MOST_PARTIAL = 1 << 22
MOST_PATTERNS = 1 << 16
LARGEST_BLOCK = 256
HINT = "keep tokens that see each other side by side (`order`), or take larger tiles"


def check_blocks(block_m: int, block_n: int) -> None:
    """Raise UsageError for a tile size that there is none of; kernels take powers of two from 16 on."""
    for name, size in (("block_m", block_m), ("block_n", block_n)):
        if not isinstance(size, int | np.integer) or not 1 <= size <= LARGEST_BLOCK:
            raise UsageError(f"{name} {size!r}: a tile has 1 to {LARGEST_BLOCK} queries and as many keys")


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
        if self._pieces > MOST_PIECES:
            raise _error(f"the runs fall into more than {MOST_PIECES:,} pieces in this order of tokens")
        if self._partial > MOST_PARTIAL:
            raise _error(f"more than {MOST_PARTIAL:,} {self._tiles} are partial")

    def check_row(self, pieces: int) -> None:
        """Raise where one row of tiles has more pieces of runs than can be judged at once."""
        if pieces > MOST_PIECES_A_ROW:
            what = f"a row of {self._tiles} has {pieces:,} pieces of runs"
            raise _error(f"{what}, at most {MOST_PIECES_A_ROW:,} are allowed")

    def different(self, patterns: int) -> None:
        """Count the different partial tiles found so far."""
        if patterns > MOST_PATTERNS:
            raise _error(f"more than {MOST_PATTERNS:,} partial {self._tiles} differ from one another")


def _error(message: str) -> MaskFileError:
    return MaskFileError([Diagnostic(Severity.ERROR, "too-many-tiles", message, None, HINT)])
