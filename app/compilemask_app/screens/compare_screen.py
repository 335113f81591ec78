"""Two masks, or two token orders of one, side by side under one viewport, and their difference."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from compilemask_app.actions import Scope, bindings
from compilemask_app.drawing.rulers import GUTTER
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.jobs.comparing import Comparison
from compilemask_app.messages import FindWanted, MapResized, OverlayWanted, ViewChanged
from compilemask_app.screens.over_screen import OverScreen
from compilemask_app.screens.shared_view import in_tokens, view_for
from compilemask_app.search import find_cell, find_visible
from compilemask_app.widgets.difference_view import DifferenceView
from compilemask_app.widgets.key_footer import KeyFooter
from compilemask_app.widgets.map_view import MapView
from compilemask_app.widgets.mask_view import MaskView, Overlay, PictureView
from compilemask_app.widgets.tile_map_view import TileMapView

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

NARROW = 2
RULERS_FROM = 100
"""Columns in which a map whose rows have other names than those of the left one has a ruler of its own."""


class CompareScreen(OverScreen):
    """Shows one comparison; `sizes` gives it anew at sizes that it asks for, None if these stay."""

    scope: ClassVar[Scope] = Scope.COMPARE
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.COMPARE)
    DEFAULT_CSS = """
    CompareScreen #head { height: auto; background: $panel; padding: 0 1; text-style: bold; }
    CompareScreen #cell { height: auto; min-height: 3; max-height: 6; padding: 0 1; background: $surface; }
    CompareScreen #maps { height: 1fr; }
    CompareScreen.tiles MaskView { display: none; }
    CompareScreen.masks TileMapView { display: none; }
    """

    app: Workbench

    def __init__(
        self,
        comparison: Comparison,
        *,
        tiles: bool = False,
        sizes: Callable[[], Awaitable[Comparison | None]] | None = None,
    ) -> None:
        super().__init__(classes="tiles" if tiles else "masks")
        self.comparison = comparison
        self._sizes = sizes
        self.view = Viewport(comparison.left.query_length, comparison.left.key_length)
        self._whole = True

    def compose(self) -> ComposeResult:
        yield Static("", id="head")
        with Horizontal(id="maps"):
            yield MaskView(id="left-mask")
            yield TileMapView(id="left-tiles")
            yield MaskView(id="right-mask")
            yield TileMapView(id="right-tiles")
            yield DifferenceView(id="difference")
        yield Static("", id="cell")
        yield KeyFooter()

    def on_mount(self) -> None:
        for pane in self.panes:
            pane.palette, pane.look = self.app.palette_name, self.app.look
        self._fill()
        self._shown()[0].focus()

    def _fill(self) -> None:
        """Both pictures, their names and the difference."""
        found = self.comparison
        names = " | ".join(
            ", ".join(filter(None, (name, side.looked_at)))
            for name, side in ((found.left_name, found.left), (found.right_name, found.right))
        )
        self.query_one("#head", Static).update(Text(f"COMPARE   {names}   {found.summary()}"))
        for pane in self.panes:
            if isinstance(pane, PictureView):
                left = _is_left(pane.id)
                pane.caption = found.left_name if left else found.right_name
                pane.picture = found.left if left else found.right
        self.query_one(DifferenceView).comparison = found

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
        both = width >= RULERS_FROM and self.comparison.regions[0] is not self.comparison.left.queries
        rooms = [GUTTER if place == 0 or (place == 1 and both) else NARROW for place in range(len(shown))]
        pixels = max(0, (width - sum(rooms)) // len(shown))
        for pane, room in zip(shown, rooms, strict=True):
            pane.label_room = room
            pane.styles.width = pixels + room

    def _extent(self) -> Extent:
        return self._shown()[0].extent

    def _show_view(self, view: Viewport) -> None:
        self.view = view
        for pane in self.panes:
            pane.view = view_for(pane, pane.picture, view) if isinstance(pane, PictureView) else view
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
        text.right_crop()
        self.query_one("#cell", Static).update(text)

    @on(ViewChanged)
    def _view_changed(self, message: ViewChanged) -> None:
        picture = self.comparison.left if _is_left(message.by) else self.comparison.right
        self._show_view(in_tokens(message.view, picture) if message.in_slots else message.view)
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

    def action_goto_rule(self) -> None:
        design, view = self.app.design, self.view
        mask = design.picture if design is not None else None
        if design is None or mask is None:
            return
        if self.comparison.orders:
            self.notify("slots hold other tokens in each order; on the design screen l goes to the rule of a cell")
        elif view.query_cursor >= mask.query_length or view.key_cursor >= mask.key_length:
            self.notify("the text has no such cell: it has other sizes")
        elif (reason := mask.explain(view.query_cursor, view.key_cursor)).line is None:
            self.notify(reason.text)
        else:
            self.action_close()
            design.show_line(reason.line)

    @work(group="looks")
    async def action_sizes(self) -> None:
        if self._sizes is None:
            self.notify("one mask stands on both sides" if self.comparison.orders else "neither has sizes to be set")
            return
        comparison = await self._sizes()
        if comparison is not None:
            self.comparison = comparison
            self._fill()
            self._arrange(self.size.width)
            self._show_view(self.view)

    def action_swap(self) -> None:
        tiles = self.has_class("masks")
        self.set_classes("tiles" if tiles else "masks")
        self._arrange(self.size.width)
        self.call_after_refresh(self._shown()[0].focus)


def _is_left(name: str | None) -> bool:
    """Whether a map belongs to the left picture."""
    return (name or "").startswith("left")
