"""A map of queries and keys: rulers, pixels, cursor, zoom and pan. What a pixel means is its subclasses' affair."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from compilemask_app.drawing.ink import ASCII_GLYPHS, UNICODE_GLYPHS, Ink
from compilemask_app.drawing.palette import pixel_style, text_style
from compilemask_app.drawing.regions import Regions, unnamed
from compilemask_app.drawing.rulers import Label, left_labels, top_labels
from compilemask_app.drawing.titles import LegendForm, fitting_title
from compilemask_app.drawing.viewport import Extent, Viewport
from compilemask_app.messages import MapResized
from compilemask_app.widgets.map_input import HEADER, MapInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Inks = NDArray[np.uint8]

BAR_ROOM = 8


class Look(Enum):
    """How pixels are drawn."""

    COLOUR = "colour"
    TEXT = "text"
    ASCII = "ascii"


class MapView(MapInput, can_focus=True):
    """Draws a window of a query x key plane by the line, and only the lines that changed."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "MapView { width: 1fr; height: 1fr; }"

    palette: reactive[str] = reactive("dusk")
    look: reactive[Look] = reactive(Look.COLOUR)
    stale: reactive[bool] = reactive(False, repaint=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._pixels: Inks | None = None
        self._bars: NDArray[np.float64] | None = None
        self._rows: dict[int, Strip] = {}
        self._labels: dict[int, Label] | None = None
        self._header: dict[int, Strip] = {}

    # ------------------------------------------------------------ for subclasses

    @abstractmethod
    def headings(self) -> tuple[str, ...]:
        """The words above the map, from the longest to the shortest that says enough."""

    @abstractmethod
    def pixels(self, extent: Extent) -> Inks:
        """[2 rows, columns] inks of the window."""

    def legend(self) -> tuple[tuple[Ink, str], ...]:
        """Inks to be named in the title where there is room."""
        return ()

    def bars(self, extent: Extent) -> NDArray[np.float64] | None:
        """[2 rows] shares to be drawn as bars right of the pixels; None for no bars."""
        return None

    @property
    def has_bars(self) -> bool:
        """Whether room is kept for bars."""
        return False

    def axis_regions(self) -> tuple[Regions, Regions]:
        """Regions of queries and of keys."""
        return unnamed(self.view.query_length), unnamed(self.view.key_length)

    def invalidate(self) -> None:
        """The content changed: draw all of it again."""
        self._pixels = None
        self._bars = None
        self._rows.clear()
        self._labels = None
        self.refresh()

    def content_changed(self) -> None:
        """The content changed within the same window: draw again what looks different, and only that."""
        extent, width = self.extent, self.size.width
        old, old_bars, old_labels = self._pixels, self._bars, self._labels
        if old is None or old_labels is None or old.shape != (2 * extent.rows, extent.columns):
            self.invalidate()
            return
        self._pixels = self.pixels(extent)
        self._bars = self.bars(extent) if self.has_bars else None
        self._labels = left_labels(self.axis_regions()[0], self.view, extent.rows)
        changed = (old != self._pixels).any(axis=1)
        if self._bars is not None:
            changed |= True if old_bars is None else old_bars != self._bars
        for row in range(extent.rows):
            if changed[2 * row] or changed[2 * row + 1] or old_labels.get(row) != self._labels.get(row):
                self._rows.pop(row, None)
                self.refresh(Region(0, row + HEADER, width, 1))
        self._refresh_header()

    def _refresh_header(self) -> None:
        """Draw those lines of the header again that say something else."""
        width = self.size.width
        for y in range(HEADER):
            if self._header.get(y) != self._header_line(y, width):
                self.refresh(Region(0, y, width, 1))

    # ------------------------------------------------------------ geometry

    @property
    def extent(self) -> Extent:
        """Room for pixels, in terminal cells; never negative."""
        bars = BAR_ROOM if self.has_bars else 0
        return Extent(max(0, self.size.width - self.label_room - bars), max(0, self.size.height - HEADER))

    # ------------------------------------------------------------ watching

    def watch_view(self, old: Viewport, new: Viewport) -> None:
        if old == new:
            return
        if old.window != new.window:
            self.invalidate()
            return
        width = self.size.width
        for cursor in (old, new):
            row, height = cursor.row_of(cursor.query_cursor), max(1, -new.query_zoom)
            for near in range(row, row + height):
                self._rows.pop(near, None)
            self.refresh(Region(0, row + HEADER, width, height))
        self._refresh_header()

    def watch_palette(self) -> None:
        self.invalidate()

    def watch_look(self) -> None:
        self.invalidate()

    def watch_label_room(self) -> None:
        self.invalidate()

    def watch_stale(self) -> None:
        self.refresh(Region(0, 0, self.size.width, 1))

    def on_resize(self) -> None:
        self.invalidate()
        self.post_message(MapResized())

    def on_focus(self) -> None:
        self.refresh(Region(0, 0, self.size.width, HEADER))

    def on_blur(self) -> None:
        self.refresh(Region(0, 0, self.size.width, HEADER))

    # ------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """One terminal row of the widget."""
        width = self.size.width
        row = y - HEADER
        if row < 0:
            self._header[y] = self._header_line(y, width)
            return self._header[y]
        if row >= self.extent.rows or not self.view.query_length or not self.view.key_length:
            return Strip.blank(width, text_style(self.palette))
        if row not in self._rows:
            self._rows[row] = self._draw_row(row, width)
        return self._rows[row]

    def _header_line(self, y: int, width: int) -> Strip:
        if y == 0:
            return self._title(width)
        if not self.extent.rows or not self.view.query_length or not self.view.key_length:
            return Strip.blank(width, text_style(self.palette))
        return self._top_ruler(y, width)

    def _title(self, width: int) -> Strip:
        strong = text_style(self.palette, bold=True, accent=self.has_focus)
        mark = ("|" if self.look is Look.ASCII else "▌") if self.has_focus else " "
        old = "(old) " if self.stale else ""
        legend = self.legend()
        form, words = fitting_title(self.headings(), [name for _, name in legend], width - len(mark + old) - 2)
        segments = self._legend_segments(legend, form) if form is not None else []
        room = width - sum(len(segment.text) for segment in segments)
        title = f"{mark} {old}{words}"
        title = title if len(title) <= room else f"{title[: max(0, room - 1)]}{'~' if self.look is Look.ASCII else '…'}"
        return Strip([Segment(title.ljust(room)[:room], strong), *segments], width)

    def _legend_segments(self, legend: tuple[tuple[Ink, str], ...], form: LegendForm) -> list[Segment]:
        segments = []
        for ink, name in legend:
            if self.look is Look.COLOUR:
                segments.append(Segment(" " * form.swatch, pixel_style(self.palette, ink, ink)))
            else:
                glyphs = ASCII_GLYPHS if self.look is Look.ASCII else UNICODE_GLYPHS
                segments.append(Segment(glyphs[ink].ljust(form.swatch), text_style(self.palette)))
            words = f"{' ' * form.before}{name}{' ' * form.after}"
            segments.append(Segment(words, text_style(self.palette, dim=True)))
        return segments

    def _top_ruler(self, y: int, width: int) -> Strip:
        columns = self.extent.columns
        _, keys = self.axis_regions()
        names, numbers = top_labels(keys, self.view, columns)
        labels = names if y == 1 else numbers
        line = [" "] * columns
        for label in labels:
            line[label.place : label.place + len(label.text)] = label.text
        text = "".join(line)[:columns]
        style = text_style(self.palette, bold=y == 1, dim=y == 2)
        segments = [Segment(" " * self.label_room, style)]
        cursor = self.view.column_of(self.view.key_cursor)
        if y == 2 and 0 <= cursor < columns and self.view.key_length:
            mark = "▾" if self.look is not Look.ASCII else "v"
            segments += [
                Segment(text[:cursor], style),
                Segment(mark, text_style(self.palette, bold=True, accent=True)),
                Segment(text[cursor + 1 :], style),
            ]
        else:
            segments.append(Segment(text, style))
        return Strip(segments).crop(0, width)

    def _draw_row(self, row: int, width: int) -> Strip:
        extent = self.extent
        if self._pixels is None or self._pixels.shape != (2 * extent.rows, extent.columns):
            self._pixels = self.pixels(extent)
            self._bars = None
        segments = self._gutter(row, extent)
        upper, lower = self._pixels[2 * row], self._pixels[2 * row + 1]
        upper, lower = self._with_cursor(row, upper, lower)
        if self.look is Look.COLOUR:
            from compilemask_app.drawing.strips import half_block_row  # numpy comes with the first picture

            segments += half_block_row(upper, lower, self.palette)
        else:
            from compilemask_app.drawing.strips import glyph_row

            segments += glyph_row(upper, lower, text_style(self.palette), ascii_only=self.look is Look.ASCII)
        segments += self._bar(row, extent)
        return Strip(segments).crop(0, width)

    def _bar(self, row: int, extent: Extent) -> list[Segment]:
        if not self.has_bars:
            return []
        if self._bars is None:
            self._bars = self.bars(extent)
        if self._bars is None:
            return []
        from compilemask_app.drawing.overlays import bar_text

        share = float(self._bars[2 * row : 2 * row + 2].max())
        text = bar_text(share, BAR_ROOM - 1, ascii_only=self.look is Look.ASCII)
        return [Segment(text, text_style(self.palette))]

    def _gutter(self, row: int, extent: Extent) -> list[Segment]:
        if self._labels is None:
            self._labels = left_labels(self.axis_regions()[0], self.view, extent.rows)
        label = self._labels.get(row)
        here = row == self.view.row_of(self.view.query_cursor) and self.view.query_length > 0
        room = self.label_room - 1
        text = label.text.rjust(room)[:room] if label and room > 4 else " " * room
        style = text_style(self.palette, bold=bool(label and label.strong), dim=not (label and label.strong))
        mark = (">" if self.look is Look.ASCII else "▸") if here else " "
        return [
            Segment(text, style),
            Segment(mark, text_style(self.palette, bold=True, accent=True)),
        ]

    def _with_cursor(self, row: int, upper: Inks, lower: Inks) -> tuple[Inks, Inks]:
        view = self.view
        top = view.row_of(view.query_cursor)
        if view.query_length == 0 or view.key_length == 0 or not top <= row < top + max(1, -view.query_zoom):
            return upper, lower
        left = view.column_of(view.key_cursor)
        right = left + max(1, -2 * view.key_zoom)
        if right <= 0 or left >= len(upper):
            return upper, lower
        left = max(0, left)
        upper, lower = upper.copy(), lower.copy()
        state = int(max(upper[left], lower[left])) % 32
        ink = Ink.CURSOR_FULL if state == Ink.FULL else Ink.CURSOR_EMPTY if state <= Ink.EMPTY else Ink.CURSOR_PART
        ink = Ink.CURSOR_WRONG if Ink.LEFT_ONLY <= state <= Ink.DIFFERS else ink
        upper[left:right] = ink
        lower[left:right] = ink
        return upper, lower

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Never measured by content."""
        return container.height


def outside(extent: Extent) -> Inks:
    """[2 rows, columns] inks of a map of nothing."""
    import numpy as np

    return np.full((2 * extent.rows, extent.columns), Ink.OUTSIDE, dtype=np.uint8)
