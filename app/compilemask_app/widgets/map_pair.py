"""The two maps of one mask: side by side where there is room, else one of them."""

from __future__ import annotations

from enum import Enum

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal

from compilemask_app.drawing.rulers import GUTTER
from compilemask_app.widgets.mask_view import MaskView, PictureView
from compilemask_app.widgets.tile_map_view import TileMapView

NARROW_GUTTER = 2
BOTH_FROM = 60
"""Columns from which both maps fit."""


class MapMode(Enum):
    """Which maps are wanted."""

    BOTH = "both"
    MASK = "mask"
    TILES = "tiles"


class MapPair(Horizontal):
    """Gives both maps the same room for pixels; row labels stand once."""

    DEFAULT_CSS = "MapPair { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._wanted = MapMode.BOTH

    def compose(self) -> ComposeResult:
        yield MaskView(id="mask")
        yield TileMapView(id="tiles")

    @property
    def panes(self) -> tuple[PictureView, ...]:
        """Both maps, shown or not."""
        return self.query_one(MaskView), self.query_one(TileMapView)

    @property
    def mode(self) -> MapMode:
        """Which maps are shown."""
        if self._wanted is MapMode.BOTH and self.size.width < BOTH_FROM:
            return MapMode.MASK
        return self._wanted

    def swap(self) -> None:
        """The next of both, mask, tiles; where both don't fit, the other one."""
        modes = list(MapMode) if self.size.width >= BOTH_FROM else [MapMode.MASK, MapMode.TILES]
        self._wanted = modes[(modes.index(self.mode) + 1) % len(modes)]
        self._arrange(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        mask, tiles = self.query_one(MaskView), self.query_one(TileMapView)
        mode = self.mode
        mask.display = mode is not MapMode.TILES
        tiles.display = mode is not MapMode.MASK
        both = mode is MapMode.BOTH
        tiles.label_room = NARROW_GUTTER if both else GUTTER
        pixels = max(0, (width - GUTTER - NARROW_GUTTER) // 2)
        mask.styles.width = pixels + GUTTER if both else "1fr"
        tiles.styles.width = pixels + NARROW_GUTTER if both else "1fr"
