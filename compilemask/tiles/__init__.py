"""From intervals to EMPTY, PARTIAL and FULL tiles."""

from compilemask.tiles.build import build_tile_map
from compilemask.tiles.layered import layered_tile_map
from compilemask.tiles.tile_map import TileKind, TileMap
from compilemask.tiles.visited import visited_tiles

__all__ = ["TileKind", "TileMap", "build_tile_map", "layered_tile_map", "visited_tiles"]
