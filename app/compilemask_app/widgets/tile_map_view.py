"""The tile-skip map: what the kernel does with each tile of the same window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.viewport import Extent
from compilemask_app.picture import Picture
from compilemask_app.widgets.map_view import outside
from compilemask_app.widgets.mask_view import Overlay, PictureView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TileMapView(PictureView):
    """Empty, partial and full tiles."""

    DRAWS_SLOTS = True

    def heading(self) -> str:
        """`TILES`, the size and the order."""
        if self.picture is None:
            return "TILES"
        choice = self.picture.choice
        order = "  kernel order" if self.picture.reordered else ""
        return f"TILES {choice.block_m}×{choice.block_n}{order}"

    def legend(self) -> tuple[tuple[Ink, str], ...]:
        """The kinds of tile."""
        return ((Ink.PARTIAL, "partial"), (Ink.FULL, "full"))

    def pixels(self, extent: Extent) -> NDArray[np.uint8]:
        """[2 rows, columns] inks of the window."""
        if not isinstance(self.picture, Picture) or extent.rows <= 0 or extent.columns <= 0:
            return outside(extent)
        from compilemask_app.drawing.overlays import with_borders
        from compilemask_app.drawing.sampling import tile_inks

        query_edges, key_edges = self.view.query_edges(extent.rows), self.view.key_edges(extent.columns)
        choice = self.picture.choice
        inks = tile_inks(self.picture.tile_pixels, query_edges, key_edges)
        if self.overlay is Overlay.BORDERS:
            inks = with_borders(inks, query_edges, key_edges, choice.block_m, choice.block_n)
        return inks
