"""The tile map: which blocks of the mask are empty, partial or full."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class TileKind(IntEnum):
    """What a tile holds, judged on its in-range cells only."""

    EMPTY = 0
    PARTIAL = 1
    FULL = 2


@dataclass(frozen=True, slots=True, eq=False)
class TileMap:
    """Tiles of `block_m` queries x `block_n` keys, in compressed rows of query tiles.

    FULL tiles are kept as half-open runs of key tiles, so that a million tokens of causal stay small;
    PARTIAL tiles one by one with the number of their pattern in `patterns`.
    """

    query_length: int
    key_length: int
    block_m: int
    block_n: int
    full_offsets: NDArray[np.int64]  # [query_tiles + 1]
    full_runs: NDArray[np.int32]  # [runs, 2] key tiles [start, end)
    partial_offsets: NDArray[np.int64]  # [query_tiles + 1]
    partial_tiles: NDArray[np.int32]  # [partial] key tile, ascending within a query tile
    partial_patterns: NDArray[np.int32]  # [partial] number in `patterns`, in order of first use
    patterns: NDArray[np.uint32]  # [distinct, block_m, ceil(block_n / 32)]; bit c % 32 of word c // 32 is column c
