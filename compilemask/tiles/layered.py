"""The tile map of a mask that is a union of layers: each layer judged by itself, and the maps united tile by tile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import Intervals
from compilemask.intervals.layers import Layer
from compilemask.tiles.build import build_tile_map
from compilemask.tiles.repeats import Repeats
from compilemask.tiles.tile_map import TileMap
from compilemask.tiles.union import union

Places = NDArray[np.integer]


def layered_tile_map(
    layers: Sequence[Layer], block_m: int, block_n: int, column_order: Places | None = None
) -> TileMap:
    """The tile map of the union of at least one layer; as `build_tile_map` of the united mask."""
    return reduce(union, [_layer_map(layer, block_m, block_n, column_order) for layer in layers])


def _layer_map(layer: Layer, block_m: int, block_n: int, column_order: Places | None) -> TileMap:
    """Tile rows of equal sequences of row kinds are equal: the first of each is judged."""
    if isinstance(layer, Intervals):
        return build_tile_map(layer, block_m, block_n, column_order)
    known: dict[bytes, int] = {}
    first: list[int] = []
    model = np.zeros(-(-layer.rows // block_m), np.int64)
    for tile_row in range(model.size):
        kinds = layer.kind[tile_row * block_m : (tile_row + 1) * block_m]
        model[tile_row] = known.setdefault(kinds.tobytes(), len(known))
        if len(first) < len(known):
            first.append(tile_row)
    # A last tile row of fewer rows is of its own kind, and is the last of the models too.
    kinds = np.concatenate([layer.kind[row * block_m : (row + 1) * block_m] for row in first])
    models = build_tile_map(layer.different.select(kinds), block_m, block_n, column_order)
    still = np.zeros(model.size, np.int64), Intervals.empty(models.query_tiles, models.key_tiles)
    return Repeats(np.array(first), model, *still).expand(models, layer.rows)
