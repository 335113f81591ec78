"""The one viewport that both maps of the design screen show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.messages import ViewChanged
from compilemask_app.picture import MaskPicture
from compilemask_app.widgets.cell_panel import CellPanel
from compilemask_app.widgets.mask_view import PictureView

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore


class SharedView:
    """Keeps the viewport, in tokens as written, and gives it to the maps and the cell panel."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self.view = Viewport(0, 0)
        self.whole = True

    def extent(self) -> Extent:
        """Room for pixels of a map that is shown."""
        panes = [pane for pane in self._screen.panes if pane.display and pane.extent.rows and pane.extent.columns]
        return panes[0].extent if panes else Extent(64, 16)

    def of(self, mask: MaskPicture) -> Viewport:
        """The viewport for a mask, which may have other lengths than the one before."""
        view = self.view
        if (mask.query_length, mask.key_length) == (view.query_length, view.key_length):
            return view
        return view.resized(mask.query_length, mask.key_length, self.extent(), whole=self.whole)

    def show(self, view: Viewport) -> None:
        """On all maps."""
        self.view = view
        for pane in self._screen.panes:
            self.give(pane)
        self._screen.query_one(CellPanel).view = view

    def give(self, pane: PictureView) -> None:
        """To one map."""
        pane.view = self._for(pane, pane.picture)

    def draw(self, pane: PictureView, mask: MaskPicture) -> None:
        """A mask on one map; the window comes first, so that only what looks different in it is drawn again."""
        self.view = self.of(mask)
        pane.view = self._for(pane, mask)
        pane.picture = mask

    def _for(self, pane: PictureView, mask: MaskPicture | None) -> Viewport:
        return view_for(pane, mask, self.view)

    def changed(self, message: ViewChanged) -> None:
        """A map was moved or pointed at. A message from before a mask of other lengths was drawn means nothing now."""
        view, mask = message.view, self._screen.picture
        if (view.query_length, view.key_length) != (self.view.query_length, self.view.key_length):
            return
        self.show(in_tokens(view, mask) if message.in_slots and mask is not None else view)
        self.whole = message.view.shows_whole(self.extent())

    def room_changed(self) -> None:
        """A map has other room than before."""
        extent = self.extent()
        self.show(self.view.fitted(extent) if self.whole else self.view.clamped(extent))

    def go_to(self, query: int, key: int) -> None:
        """The cursor on a cell, in view."""
        self.show(self.view.at(self.extent(), query, key))


def view_for(pane: PictureView, mask: MaskPicture | None, view: Viewport) -> Viewport:
    """The view for a map: one of the kernel's slots has its cursor on the slots of the cell."""
    if mask is None or not (pane.DRAWS_SLOTS and mask.reordered):
        return view
    query, key = mask.slots_of(view.query_cursor, view.key_cursor)
    return replace(view, query_cursor=query, key_cursor=key)


def in_tokens(view: Viewport, mask: MaskPicture) -> Viewport:
    """A view of the kernel's slots with its cursor on the tokens that these hold."""
    query, key = mask.tokens_in(view.query_cursor, view.key_cursor)
    return replace(view, query_cursor=query, key_cursor=key)
