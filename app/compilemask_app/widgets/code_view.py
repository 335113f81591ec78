"""A long listing to scroll and to search: only the lines on the screen are drawn."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from compilemask_app.actions import Scope, bindings
from compilemask_app.themes import syntax_for

_WORD = re.compile(
    r"(?P<comment>//.*$|/\*.*?\*/|\#.*$)|(?P<string>\"[^\"]*\")|(?P<keyword>^\s*(?:@!?%?\w+\s+)?[a-zA-Z_.][\w.]*)"
    r"|(?P<number>\b0x[0-9a-fA-F]+|\b\d[\w.]*)|(?P<relation>[%$]\w+|\bU?R\d+\b|\bU?P\d+\b)"
)
WIDEST = 400


class CodeView(ScrollView, can_focus=True):
    """Numbered lines; matches of the search are marked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.READER)
    DEFAULT_CSS = "CodeView { height: 1fr; background: $surface; }"

    lines: reactive[tuple[str, ...]] = reactive((), repaint=False)
    sought: reactive[str] = reactive("", repaint=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.matches: tuple[int, ...] = ()
        self.current = -1

    def watch_lines(self) -> None:
        """Another listing."""
        width = min(WIDEST, max((len(line) for line in self.lines), default=0)) + 8
        self.virtual_size = Size(width, len(self.lines))
        self.scroll_to(0, 0, animate=False)
        self._search()

    def watch_sought(self) -> None:
        """Another search."""
        self._search()

    def _search(self) -> None:
        wanted = self.sought.lower()
        self.matches = tuple(n for n, line in enumerate(self.lines) if wanted and wanted in line.lower())
        self.current = -1
        self.refresh()

    def go_to_match(self, direction: int) -> bool:
        """The next (1) or last (-1) line that matches, going round; False if there is none."""
        if not self.matches:
            return False
        self.current = (self.current + direction) % len(self.matches) if self.current >= 0 or direction > 0 else -1
        self.current %= len(self.matches)
        middle = max(0, self.matches[self.current] - self.size.height // 2)
        self.scroll_to(0, middle, animate=False)
        self.refresh()
        return True

    def render_line(self, y: int) -> Strip:
        """One line of the listing, coloured."""
        scroll_x, scroll_y = self.scroll_offset
        number = scroll_y + y
        width = self.size.width
        ground = self.rich_style
        if number >= len(self.lines):
            return Strip.blank(width, ground)
        here = self.current >= 0 and self.matches and self.matches[self.current] == number
        gutter = Segment(f"{number + 1:>6}{'▸' if here else ' '} ", ground + Style(dim=not here, bold=bool(here)))
        body = Strip(self._coloured(self.lines[number][:WIDEST].expandtabs(8), ground))
        body = body.crop(scroll_x, scroll_x + width - 8).extend_cell_length(width - 8, ground)
        return Strip([gutter, *body])

    def _coloured(self, line: str, ground: Style) -> list[Segment]:
        styles = syntax_for(self.app.current_theme.dark)
        spans = [(m.start(), m.end(), getattr(styles, m.lastgroup)) for m in _WORD.finditer(line) if m.lastgroup]
        if self.sought:
            spans = _marked(line, self.sought, spans, styles.error)
        segments: list[Segment] = []
        at = 0
        for begin, end, style in spans:
            segments += [Segment(line[at:begin], ground), Segment(line[begin:end], ground + style)]
            at = end
        segments.append(Segment(line[at:], ground))
        return [segment for segment in segments if segment.text]


def _marked(line: str, sought: str, spans: list[tuple[int, int, Style]], mark: Style) -> list[tuple[int, int, Style]]:
    """Matches of the search laid over the other colours."""
    found = [(m.start(), m.end(), mark) for m in re.finditer(re.escape(sought), line, re.IGNORECASE)]
    kept = [span for span in spans if all(span[1] <= begin or span[0] >= end for begin, end, _ in found)]
    return sorted([*kept, *found], key=lambda span: span[0])
