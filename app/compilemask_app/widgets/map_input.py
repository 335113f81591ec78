"""What keys, mouse and wheel do on a map: each asks for another view, which the screen gives to all its maps."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.actions import Scope, bindings
from compilemask_app.drawing.rulers import GUTTER
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.messages import FindWanted, OverlayWanted, ViewChanged

HEADER = 3
"""Rows above the pixels: title, region names, token numbers."""


class MapInput(Widget):
    """A window of a query x key plane that can be moved, zoomed and pointed at."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.MAP)

    view: reactive[Viewport] = reactive(Viewport(0, 0), repaint=False)
    label_room: reactive[int] = reactive(GUTTER)

    @property
    @abstractmethod
    def extent(self) -> Extent:
        """Room for pixels, in terminal cells."""

    @property
    def in_slots(self) -> bool:
        """Whether this map draws the kernel's slots rather than tokens as written."""
        return False

    def jump_target(self, column: int, row: int) -> tuple[int, int] | None:
        """The cell to go to for a click at a terminal cell that shows something else; None: nothing else is there."""
        return None

    def cell_under(self, x: float, y: float) -> tuple[int, int] | None:
        """The (query, key) at a position in the widget; None on the rulers or outside of the mask."""
        return self.view.cell_at(int(x // 1) - self.label_room, int(y // 1) - HEADER)

    def action_minimap(self) -> None:
        """Only maps with a minimap have something to do here."""

    def _ask(self, view: Viewport) -> None:
        if view != self.view:
            self.post_message(ViewChanged(view, self.in_slots, self.id))

    def action_move(self, rows: int, columns: int) -> None:
        self._ask(self.view.moved(self.extent, rows, columns))

    def action_corner(self, last: int) -> None:
        self._ask(self.view.at(self.extent, last * self.view.query_length, last * self.view.key_length))

    def action_zoom(self, closer: bool) -> None:
        self._ask(self.view.zoomed(self.extent, closer=closer))

    def action_cells(self) -> None:
        self._ask(self.view.to_cells(self.extent))

    def action_fit(self) -> None:
        self._ask(self.view.fitted(self.extent))

    def action_overlay(self) -> None:
        self.post_message(OverlayWanted())

    def action_find(self, kind: str, direction: int) -> None:
        self.post_message(FindWanted(kind, direction))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button != 1:
            return
        column, row = int(event.x) - self.label_room, int(event.y) - HEADER
        if (target := self.jump_target(column, row)) is not None:
            self._ask(self.view.centred(self.extent, *target))
        elif (cell := self.cell_under(event.x, event.y)) is not None:
            self._ask(self.view.at(self.extent, *cell))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button == 1 and (event.delta_x or event.delta_y):
            self._ask(self.view.panned(self.extent, -event.delta_y, -event.delta_x))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -3, closer=True)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 3, closer=False)

    def on_mouse_scroll_left(self) -> None:
        self._ask(self.view.panned(self.extent, 0, -6))

    def on_mouse_scroll_right(self) -> None:
        self._ask(self.view.panned(self.extent, 0, 6))

    def _wheel(self, event: events.MouseEvent, rows: int, *, closer: bool) -> None:
        event.stop()
        if event.ctrl:
            if (cell := self.cell_under(event.x, event.y)) is not None:
                self._ask(self.view.at(self.extent, *cell).zoomed(self.extent, closer=closer))
        elif event.shift:
            self._ask(self.view.panned(self.extent, 0, 2 * rows))
        else:
            self._ask(self.view.panned(self.extent, rows, 0))
