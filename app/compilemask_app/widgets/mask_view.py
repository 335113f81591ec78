"""The mask itself: which cells are visible, shaded by share when a pixel holds many."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from textual.reactive import reactive

from compilemask_app.drawing.ink import Ink
from compilemask_app.drawing.regions import Regions
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.messages import MapResized
from compilemask_app.picture import MaskPicture, Picture
from compilemask_app.widgets.map_view import MapView, outside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compilemask_app.drawing.minimap import Minimap


class Overlay(Enum):
    """What is drawn over the maps."""

    NONE = "no overlay"
    BORDERS = "tile borders"
    WORK = "work per query tile"
    RUNS = "runs per row"
    ORDER = "token order"


def counted(number: int, thing: str) -> str:
    """`1 tile`, `9 tiles`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


class PictureView(MapView):
    """A map of a compiled mask. One that `DRAWS_SLOTS` shows it in the kernel's token order.

    `caption` stands in its title, where several masks are shown, before what the title says otherwise.
    """

    DRAWS_SLOTS: ClassVar[bool] = False
    caption: str = ""
    picture: reactive[MaskPicture | None] = reactive(None, repaint=False)
    overlay: reactive[Overlay] = reactive(Overlay.NONE, repaint=False)

    @property
    def in_slots(self) -> bool:
        """Whether this map draws the kernel's slots rather than tokens as written."""
        return self.DRAWS_SLOTS and self.picture is not None and self.picture.reordered

    def watch_picture(self) -> None:
        self.content_changed()

    def watch_overlay(self) -> None:
        self.invalidate()
        self.post_message(MapResized())

    @property
    def has_bars(self) -> bool:
        """Whether room is kept for bars."""
        return self.overlay in (Overlay.WORK, Overlay.RUNS, Overlay.ORDER)

    def bars(self, extent: Extent) -> NDArray[np.float64] | None:
        """Work or runs of each pixel row as a share of the most, or where its first query stands in the other order."""
        if self.picture is None or extent.rows <= 0:
            return None
        from compilemask_app.drawing.order_bars import place_per_row
        from compilemask_app.drawing.overlays import runs_per_row, work_per_row

        edges = self.view.query_edges(extent.rows)
        if self.overlay is Overlay.WORK:
            if not isinstance(self.picture, Picture):
                return None
            shares = work_per_row(self.picture.tiles, edges)
        elif self.overlay is Overlay.RUNS:
            shares = runs_per_row(self.picture.lowered, edges)
        else:
            order, length = self.picture.query_order, self.picture.query_length
            shares = place_per_row(order, edges, length, in_slots=self.in_slots)
        return (edges[:-1] < self.view.query_length) * shares

    def axis_regions(self) -> tuple[Regions, Regions]:
        """Regions of queries and of keys."""
        return (self.picture.queries, self.picture.keys) if self.picture else super().axis_regions()


class MaskView(PictureView):
    """Visible cells."""

    with_minimap: reactive[bool] = reactive(True, repaint=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.wrong: tuple[int, int] | None = None

    def headings(self) -> tuple[str, ...]:
        """`MASK` and the scale, then the scale alone."""
        overlay = "" if self.overlay is Overlay.NONE else f"   {self.overlay.value}"
        if self.overlay is Overlay.ORDER and self.picture is not None:
            query, key = self.picture.slots_of(self.view.query_cursor, self.view.key_cursor)
            overlay += f": slot {query:,}, {key:,}" if self.picture.reordered else ": as written"
        overlay += self._most()
        scale = scale_text(self.view)
        if self.caption:
            return f"{self.caption}  {scale}{overlay}", f"{self.caption}{overlay}", self.caption
        short = scale.replace(" tokens a pixel", " a pixel")
        brief = (
            overlay.replace("work per query tile", "work").replace("runs per row", "runs").replace("tile borders", "")
        )
        return (
            f"MASK  {scale}{overlay}",
            f"MASK  {short}{overlay}",
            f"MASK {short}{brief.rstrip()}",
            f"MASK{brief.rstrip()}",
            f"MASK{self._most().replace(',', ' ', 1)}",
            self._most()[2:] or "MASK",
            "MASK",
        )

    def _most(self) -> str:
        """What a full bar stands for."""
        if not isinstance(self.picture, Picture):
            return ""
        if self.overlay is Overlay.WORK:
            return f", most {counted(self.picture.figures.heaviest, 'tile')}"
        runs = self.picture.figures.max_runs_per_row
        return f", most {counted(runs, 'run')}" if self.overlay is Overlay.RUNS else ""

    def legend(self) -> tuple[tuple[Ink, str], ...]:
        """Shares of visible cells; single cells need no legend."""
        if self.view.key_zoom <= 1 and self.view.query_zoom <= 1:
            return ((Ink.FULL, "visible"), (Ink.EMPTY, "hidden"))
        return ((Ink.SHADE_1, "some"), (Ink.SHADE_3, "many"), (Ink.FULL, "all"))

    def pixels(self, extent: Extent) -> NDArray[np.uint8]:
        """[2 rows, columns] inks of the window."""
        if self.picture is None or extent.rows <= 0 or extent.columns <= 0:
            return outside(extent)
        from compilemask_app.drawing.minimap import draw_minimap
        from compilemask_app.drawing.overlays import with_borders
        from compilemask_app.drawing.sampling import mask_inks

        query_edges, key_edges = self.view.query_edges(extent.rows), self.view.key_edges(extent.columns)
        choice = self.picture.choice
        inks = mask_inks(self.picture.mask_pixels, query_edges, key_edges)
        if self.overlay is Overlay.BORDERS:
            inks = with_borders(inks, query_edges, key_edges, choice.block_m, choice.block_n)
        if self.wrong is not None:
            _mark(inks, self.view, self.wrong)
        if (minimap := self.minimap) is not None:
            draw_minimap(inks, minimap, self.picture.mask_pixels, self.view, extent)
        return inks

    @property
    def minimap(self) -> Minimap | None:
        """The whole mask in the corner, while only a part is shown."""
        if not self.with_minimap or self.picture is None:
            return None
        from compilemask_app.drawing.minimap import minimap_of

        return minimap_of(self.view, self.extent)

    def watch_with_minimap(self) -> None:
        """Draw with it, or without."""
        self.invalidate()

    def jump_target(self, column: int, row: int) -> tuple[int, int] | None:
        """The cell that a click in the corner means."""
        return self.minimap.cell_at(column, row) if self.minimap is not None else None

    def action_minimap(self) -> None:
        self.with_minimap = not self.with_minimap


def _mark(inks: NDArray[np.uint8], view: Viewport, cell: tuple[int, int]) -> None:
    row, column = view.row_of(cell[0]), view.column_of(cell[1])
    if row >= 0 and column >= 0:
        inks[2 * row : 2 * (row + max(1, -view.query_zoom)), column : column + max(1, -2 * view.key_zoom)] = Ink.WRONG


def scale_text(view: Viewport) -> str:
    """The scale in words."""
    if view.query_zoom == view.key_zoom:
        return _zoom_text(view.key_zoom)
    return f"{_zoom_text(view.query_zoom)} down, {_zoom_text(view.key_zoom)} across"


def _zoom_text(zoom: int) -> str:
    if zoom > 1:
        return f"{zoom:,} tokens a pixel"
    return "1 token a pixel" if zoom == 1 else "single cells"
