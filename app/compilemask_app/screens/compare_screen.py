"""Two masks, or two token orders of one, side by side under one viewport, and their difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from compilemask_app.actions import Scope, bindings
from compilemask_app.drawing.rulers import GUTTER
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.jobs.comparing import Comparison
from compilemask_app.messages import FindWanted, MapResized, OverlayWanted, ViewChanged
from compilemask_app.screens.over_screen import OverScreen
from compilemask_app.search import find_cell, find_visible
from compilemask_app.widgets.difference_view import DifferenceView
from compilemask_app.widgets.map_view import MapView
from compilemask_app.widgets.mask_view import MaskView, Overlay, PictureView
from compilemask_app.widgets.tile_map_view import TileMapView

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

NARROW = 2


class CompareScreen(OverScreen):
    """Shows one comparison."""

    scope: ClassVar[Scope] = Scope.COMPARE
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.COMPARE)
    DEFAULT_CSS = """
    CompareScreen #head { height: 1; background: $panel; padding: 0 1; text-style: bold; text-wrap: nowrap; }
    CompareScreen #cell { height: 3; padding: 0 1; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen #maps { height: 1fr; }
    CompareScreen.tiles MaskView { display: none; }
    CompareScreen.masks TileMapView { display: none; }
    """

    app: Workbench

    def __init__(self, comparison: Comparison, *, tiles: bool = False) -> None:
        super().__init__(classes="tiles" if tiles else "masks")
        self.comparison = comparison
        self.view = Viewport(comparison.left.query_length, comparison.left.key_length)
        self._whole = True

    def compose(self) -> ComposeResult:
        found = self.comparison
        yield Static(f"COMPARE   {found.left_name} | {found.right_name}   {found.summary()}", id="head")
        with Horizontal(id="maps"):
            yield MaskView(id="left-mask")
            yield TileMapView(id="left-tiles")
            yield MaskView(id="right-mask")
            yield TileMapView(id="right-tiles")
            yield DifferenceView(id="difference")
        yield Static("", id="cell")
        yield Footer()

    def on_mount(self) -> None:
        for pane in self.panes:
            if isinstance(pane, PictureView):
                left = (pane.id or "").startswith("left")
                pane.picture = self.comparison.left if left else self.comparison.right
        self.query_one(DifferenceView).comparison = self.comparison
        for pane in self.panes:
            pane.palette, pane.look = self.app.palette_name, self.app.look
        self._shown()[0].focus()

    @property
    def panes(self) -> list[MapView]:
        """All maps, shown or not."""
        return [pane for pane in self.query_one("#maps").children if isinstance(pane, MapView)]

    def _shown(self) -> list[MapView]:
        kind = TileMapView if self.has_class("tiles") else MaskView
        return [pane for pane in self.panes if isinstance(pane, (kind, DifferenceView))]

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        """The same room for pixels in each map; row labels stand once."""
        shown = self._shown()
        pixels = max(0, (width - GUTTER - NARROW * (len(shown) - 1)) // len(shown))
        for place, pane in enumerate(shown):
            pane.label_room = NARROW if place else GUTTER
            pane.styles.width = pixels + pane.label_room

    def _extent(self) -> Extent:
        return self._shown()[0].extent

    def _show_view(self, view: Viewport) -> None:
        self.view = view
        for pane in self.panes:
            pane.view = view
        self._tell_cell()

    def _tell_cell(self) -> None:
        view, found = self.view, self.comparison
        if not view.query_length or not view.key_length:
            return
        query, key = view.query_cursor, view.key_cursor
        text = Text()
        if found.orders:
            text.append(
                f"query slot {query:,}, key slot {key:,}: each order holds other tokens here, the mask is one\n"
            )
        else:
            text.append(f"query {query:,} {found.left.queries.place(query)}   key {key:,} ")
            text.append(f"{found.left.keys.place(key)}\n")
        for name, picture in ((found.left_name, found.left), (found.right_name, found.right)):
            reason = picture.explain(query, key)
            text.append(f"{'■ visible' if reason.visible else '□ hidden '}  ", style="bold")
            text.append(f"{name}: {reason.text}\n")
        self.query_one("#cell", Static).update(text)

    @on(ViewChanged)
    def _view_changed(self, message: ViewChanged) -> None:
        self._show_view(message.view)
        self._whole = message.view.shows_whole(self._extent())

    @on(MapResized)
    def _map_resized(self) -> None:
        extent = self._extent()
        self._show_view(self.view.fitted(extent) if self._whole else self.view.clamped(extent))

    @on(OverlayWanted)
    def _overlay(self) -> None:
        for pane in self.query(MaskView).results(MaskView):
            pane.overlay = Overlay.BORDERS if pane.overlay is Overlay.NONE else Overlay.NONE

    @on(FindWanted)
    def _find(self, message: FindWanted) -> None:
        found = find_cell(
            self.comparison.left, message.kind, message.direction, self.view.query_cursor, self.view.key_cursor
        )
        if found is not None:
            self._show_view(self.view.at(self._extent(), *found))

    def action_next_difference(self, direction: int) -> None:
        both = self.comparison.only_left.union(self.comparison.only_right)
        found = find_visible(both, direction, self.view.query_cursor, self.view.key_cursor)
        if found is None:
            self.notify("the masks are equal")
        else:
            self._show_view(self.view.at(self._extent(), *found))

    def action_swap(self) -> None:
        tiles = self.has_class("masks")
        self.set_classes("tiles" if tiles else "masks")
        self._arrange(self.size.width)
        self.call_after_refresh(self._shown()[0].focus)
