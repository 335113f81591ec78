"""The tile-skip map: what the kernel does with each tile of the same window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.regions import Regions, in_slots
from compilemask_app.drawing.viewport import Extent
from compilemask_app.picture import MaskPicture, Picture
from compilemask_app.widgets.map_view import outside
from compilemask_app.widgets.mask_view import Overlay, PictureView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


IN_SLOTS = "slots in kernel order"


class TileMapView(PictureView):
    """Empty, partial and full tiles."""

    DRAWS_SLOTS = True

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._of: MaskPicture | None = None
        self._regions: tuple[Regions, Regions] | None = None

    def headings(self) -> tuple[str, ...]:
        """`TILES`, the size and the order, in which the rulers count too."""
        if self.picture is None:
            return ("TILES",)
        if self.caption:
            words = f"{self.caption}  {IN_SLOTS}" if self.picture.reordered else self.caption
            return words, self.caption
        words = f"TILES {self.picture.choice.block_m}×{self.picture.choice.block_n}"
        if not self.picture.reordered:
            return words, "TILES"
        return f"{words}  {IN_SLOTS}", f"{words}  kernel order", "TILES  kernel order", "TILES stored"

    def axis_regions(self) -> tuple[Regions, Regions]:
        """Regions of the kernel's slots."""
        if self.picture is not self._of or self._regions is None:
            self._of, self._regions = self.picture, self._regions_of_slots()
        return self._regions

    def _regions_of_slots(self) -> tuple[Regions, Regions]:
        queries, keys = super().axis_regions()
        picture = self.picture
        if picture is None:
            return queries, keys
        return in_slots(queries, picture.query_order), in_slots(keys, picture.key_order)

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
