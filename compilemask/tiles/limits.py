"""How large a tile map may become, said in words before memory or patience run out."""

from __future__ import annotations

from compilemask.errors import MaskFileError
from compilemask.source import Diagnostic, Severity

MOST_PIECES_A_ROW = 1 << 22  # pieces of runs in one row of tiles
MOST_PIECES = 1 << 27
MOST_PARTIAL = 1 << 23
MOST_PATTERNS = 1 << 16
HINT = "keep tokens that see each other side by side (`order`), or take larger tiles"


class TileMapSize:
    """What the rows of tiles judged so far hold. Raises MaskFileError as soon as it is too much."""

    def __init__(self, block_m: int, block_n: int) -> None:
        self._rows = block_m
        self._tiles = f"{block_m} x {block_n} tiles"
        self._pieces = 0
        self._partial = 0

    def add(self, rows: int, pieces: int, partial: int) -> None:
        """Count some rows of tiles: pieces of runs in them, and partial tiles."""
        self._pieces += pieces
        self._partial += partial
        if rows == 1:
            check_tile_row(pieces, self._rows)
        if self._pieces > MOST_PIECES:
            raise _error(f"the runs fall into more than {MOST_PIECES:,} pieces in this order of tokens")
        if self._partial > MOST_PARTIAL:
            raise _error(f"more than {MOST_PARTIAL:,} {self._tiles} are partial")

    def different(self, patterns: int) -> None:
        """Count the different partial tiles found so far."""
        if patterns > MOST_PATTERNS:
            raise _error(f"more than {MOST_PATTERNS:,} partial {self._tiles} differ from one another")


def check_tile_row(pieces: int, rows: int) -> None:
    """Raise where one row of tiles is of more pieces of runs than can be judged at once."""
    if pieces > MOST_PIECES_A_ROW:
        message = f"{rows} rows of the mask have {pieces:,} pieces of runs, at most {MOST_PIECES_A_ROW:,} are allowed"
        raise _error(message)


def _error(message: str) -> MaskFileError:
    return MaskFileError([Diagnostic(Severity.ERROR, "too-many-tiles", message, None, HINT)])
