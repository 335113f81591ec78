"""Some queries and some keys of a mask, small enough for the interpreter and for float64."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor import build_descriptor
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import register
from compilemask.intervals import Intervals
from compilemask.measure import sampling
from compilemask.measure.mask_checks import Place
from compilemask.measure.oracle import BlockOracle
from compilemask.tiles import build_tile_map

INTERPRETED_SIZE = 160
"""Queries and keys that the interpreter is given at most."""

PIECE = 32
MAX_VARIANTS = 4


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ReducedMask:
    """A mask of its own, made of pieces around region borders: one head per distinct mask.

    `rows` are the runs that the compiler derived, `visible` [heads, queries, keys] is what the meaning says.
    `queries` and `keys` are the caller's token numbers, `number` stands for the mask in operators.
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    rows: tuple[Intervals, ...]
    visible: NDArray[np.bool_]
    places: tuple[Place, ...]
    number: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", register(self))

    @property
    def query_length(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def key_length(self) -> int:
        """Number of keys."""
        return len(self.keys)

    @property
    def is_whole(self) -> bool:
        """Whether it has all queries and all keys of the mask that it was taken from."""
        variant = self.places[0].variant
        return (self.query_length, self.key_length) == (variant.queries.length, variant.keys.length)

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        """Its descriptor; variant i is head i."""
        maps = [build_tile_map(rows, block_m, block_n) for rows in self.rows]
        return build_descriptor(maps, np.arange(len(maps), dtype=np.int32)[None, :])


def reduced_mask(places: list[Place], size: int) -> ReducedMask:
    """At most `size` queries and keys of at most four distinct masks."""
    chosen = places[:MAX_VARIANTS]
    first = chosen[0].variant
    queries = sampling.pieces(first.queries, size, PIECE)
    keys = queries if first.queries is first.keys else sampling.pieces(first.keys, size, PIECE)
    rows = []
    cells = []
    for place in chosen:
        picked = place.compiled.rows_of(place.batch, place.head).select(queries)
        rows.append(picked.transpose().select(keys).transpose())
        cells.append(BlockOracle(place.variant).cells(queries, keys))
    return ReducedMask(queries, keys, tuple(rows), np.stack(cells), tuple(chosen))
