"""The text of the mask: highlighting, and what is wrong with a line at its end."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.reactive import reactive
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from compilemask.errors import MaskFileError
from compilemask.source import Diagnostic, Source
from compilemask_app.actions import Scope, bindings
from compilemask_app.composing.text_edits import TextEdit, applied, placed
from compilemask_app.themes import syntax_for
from compilemask_app.widgets.completion_list import CompletionList
from compilemask_app.widgets.highlighting import highlight, underline
from compilemask_app.widgets.line_note import LineNote

_OPENS_BLOCK = re.compile(r"\s*((layout|queries|keys)\s*$|rules\b[^:]*$|\w+\s+repeat\b[^:]*$)")
_PARTIAL_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")


class MaskEditor(TextArea):
    """A code editor for mask files."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.EDITOR)
    DEFAULT_CSS = "MaskEditor { border: none; padding: 0; height: 1fr; }"

    diagnostics: reactive[tuple[Diagnostic, ...]] = reactive((), repaint=False)

    def __init__(self, text: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            text,
            id=id,
            soft_wrap=False,
            show_line_numbers=True,
            tab_behavior="indent",
            highlight_cursor_line=False,
            compact=True,
            theme="css",
        )
        self.indent_width = 4
        self._accepting = False
        self._top = 0
        self._by_line: dict[int, list[Diagnostic]] = {}

    def watch_diagnostics(self) -> None:
        """Redraw the lines with other findings."""
        self._by_line.clear()
        for diagnostic in self.diagnostics:
            if diagnostic.span is not None:
                self._by_line.setdefault(diagnostic.span.line - 1, []).append(diagnostic)
        self.notify_style_update()
        self.refresh()
        self._note_line()

    def on_text_area_selection_changed(self) -> None:
        """Another line, another note."""
        self._note_line()

    def on_focus(self) -> None:
        """Notes belong to the cursor."""
        self._top = 0
        self.call_after_refresh(self._note_line)

    def _note_line(self) -> None:
        if not self.is_attached:
            return
        note = self.screen.query(LineNote).first(LineNote)
        row, _ = self.cursor_location
        findings = self._by_line.get(row, []) if self.has_focus else []
        if self.screen.query_one(CompletionList).is_open:
            findings = []
        note.tell(findings, Offset(self.region.x + self.gutter_width, self.cursor_screen_offset.y), self.region)

    def on_resize(self) -> None:
        """The line with the cursor stays in view when findings take room from the text, as do matrix and steppers."""
        if not self.has_focus:
            self.call_after_refresh(self._show_top)
        else:
            self.call_after_refresh(self.scroll_cursor_visible)
            self.call_after_refresh(self._keep_beside)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The note and the suggestions stay with their line."""
        super().watch_scroll_y(old_value, new_value)
        if self.has_focus:
            self._keep_beside()

    def _keep_beside(self) -> None:
        """What floats beside the cursor goes where it is now."""
        if not self.is_attached:
            return
        offered = self.screen.query_one(CompletionList)
        if offered.is_open:
            offered.place(self.cursor_screen_offset)
        self._note_line()

    def get_line(self, line_index: int) -> Text:
        """A line with its colours, findings underlined and told at its end."""
        line = super().get_line(line_index)
        styles = syntax_for(self.app.current_theme.dark)
        highlight(line, styles)
        for diagnostic in self._by_line.get(line_index, ()):
            underline(line, diagnostic, styles)
        return line

    def action_text_start(self) -> None:
        self.move_cursor((0, 0))

    def action_text_end(self) -> None:
        self.move_cursor(self.document.end)

    def action_unindent(self) -> None:
        """Take one depth of indentation from every line of the selection, as one step that can be undone."""
        (first, _), (last, to_column) = sorted(self.selection)
        if last > first and to_column == 0:
            last -= 1
        lines = [self.document.get_line(row) for row in range(first, last + 1)]
        shorter = [line[min(self.indent_width, len(line) - len(line.lstrip(" "))) :] for line in lines]
        if shorter == lines:
            return
        was = self.selection
        self.replace("\n".join(shorter), (first, 0), (last, len(lines[-1])), maintain_selection_offset=False)
        taken = {
            first + number: len(old) - len(new) for number, (old, new) in enumerate(zip(lines, shorter, strict=True))
        }
        ends = [(row, max(0, column - taken.get(row, 0))) for row, column in (was.start, was.end)]
        self.selection = Selection(*ends)

    def action_format(self) -> None:
        from compilemask.language.parser import parse
        from compilemask.language.printer import format_file

        try:
            formatted = format_file(parse(Source("text", self.text)))
        except MaskFileError:
            self.notify("the text has errors of form; mend them first", severity="warning")
        else:
            if formatted != self.text:
                self.replace_all(formatted)

    # ------------------------------------------------------------ completion

    def action_complete(self) -> None:
        self._offer(least=0)

    def _offer(self, least: int) -> None:
        """Offer what fits after a word of at least `least` letters."""
        from compilemask.language.completion import complete

        row, column = self.cursor_location
        partial = _PARTIAL_WORD.search(self.document.get_line(row)[:column])
        length = len(partial.group()) if partial else 0
        found = complete(self.text, row + 1, column + 1) if length >= least else []
        if length and len(found) == 1 and found[0].label == (partial.group() if partial else ""):
            found = []
        self.screen.query_one(CompletionList).offer(found, self.cursor_screen_offset)
        self.call_after_refresh(self._keep_beside)  # an edit may scroll the text

    async def on_key(self, event: events.Key) -> None:
        """Keys of the suggestions, of indentation, and those bound here; the framework enters the characters.

        Bound keys are done here, not once the event has come up to the application: characters would overtake them.
        """
        if self._chosen_with(event) or self._indented_with(event.key) or await self._bound(event.key):
            event.stop()
            event.prevent_default()

    def _chosen_with(self, event: events.Key) -> bool:
        """Whether the key chose among the suggestions; one that can't belong to a word closes them."""
        offered = self.screen.query_one(CompletionList)
        if not offered.is_open:
            return False
        if event.key in ("down", "up"):
            offered.looked_at = True
            (offered.action_cursor_down if event.key == "down" else offered.action_cursor_up)()
        elif event.key == "enter" and not offered.looked_at and self._word_is_complete():
            offered.close()
            return False
        elif event.key in ("tab", "enter"):
            self._accept(offered)
        else:
            if event.character is None or not (event.character.isalnum() or event.character == "_"):
                offered.close()
            return False
        return True

    def _indented_with(self, key: str) -> bool:
        if key == "enter":
            self._new_line()
            return True
        return key == "backspace" and self._unindent()

    async def _bound(self, key: str) -> bool:
        """Do what the key is bound to in the text, if it is."""
        found = None if len(key) == 1 else self.screen.active_bindings.get(key)
        return (
            found is not None
            and found.node is self
            and found.enabled
            and await self.app.run_action(found.binding.action, self)
        )

    def _new_line(self) -> None:
        """A line as deep as this one, deeper below a line that opens a block; an empty line ends its block."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before and not self.document.get_line(row).strip() and self.selection.is_empty:
            self.replace("\n", (row, 0), (row, column), maintain_selection_offset=False)
            return
        depth = len(before) - len(before.lstrip(" "))
        if _OPENS_BLOCK.match(before):
            depth += self.indent_width
        self.replace("\n" + " " * depth, *self.selection, maintain_selection_offset=False)

    def _unindent(self) -> bool:
        """Take one depth of indentation away; False where the cursor stands behind something else."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if not before or before.strip() or not self.selection.is_empty:
            return False
        begin = (column - 1) // self.indent_width * self.indent_width
        self.replace("", (row, begin), (row, column), maintain_selection_offset=False)
        return True

    def _word(self) -> str:
        """The part of a word before the cursor."""
        row, column = self.cursor_location
        partial = _PARTIAL_WORD.search(self.document.get_line(row)[:column])
        return partial.group() if partial else ""

    def _word_is_complete(self) -> bool:
        """Whether the word before the cursor could stand there as it is: enter then begins a line."""
        from compilemask.language.completion import complete

        row, column = self.cursor_location
        word = self._word()
        return bool(word) and any(item.label == word for item in complete(self.text, row + 1, column))

    def take_suggestion(self) -> None:
        """Write the suggestion that is highlighted."""
        self._accept(self.screen.query_one(CompletionList))

    def _accept(self, offered: CompletionList) -> None:
        chosen = offered.chosen
        offered.close()
        if chosen is None:
            return
        row, column = self.cursor_location
        begin = column - len(self._word())
        self._accepting = True
        self.replace(chosen.label, (row, begin), (row, column), maintain_selection_offset=False)

    def on_text_area_changed(self) -> None:
        """Offer suggestions as a word grows."""
        if self._accepting or not self.has_focus:
            self._accepting = False
            return
        self._offer(least=2)

    def on_blur(self) -> None:
        """Suggestions and notes belong to the cursor."""
        self.screen.query_one(CompletionList).close()
        self.call_after_refresh(self._note_line)

    def show_from(self, row: int) -> None:
        """This line first, in whatever room the text has, until somebody goes to the text."""
        self._top = row
        self.call_after_refresh(self._show_top)

    def _show_top(self) -> None:
        if self._top and not self.has_focus:
            self.scroll_to(0, self._top, animate=False)

    def make(self, edits: list[TextEdit]) -> None:
        """Make edits that do not overlap, as one step that can be undone; the cursor keeps its place in the text."""
        lines = self.text.split("\n")
        in_place = sorted((placed(edit, lines) for edit in edits), reverse=True)
        if len(in_place) == 1:
            self.replace(in_place[0].text, in_place[0].start, in_place[0].end, maintain_selection_offset=True)
        elif in_place:
            self.replace_all(applied(self.text, in_place))

    def replace_all(self, text: str) -> None:
        """Another text, as one edit that can be undone; the cursor stays where it can."""
        cursor = self.cursor_location
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.clamp_visitable(cursor))

    def go_to(self, line: int, column: int = 1) -> None:
        """The cursor on a 1-based place, in view."""
        row = min(max(0, line - 1), self.document.line_count - 1)
        self.move_cursor((row, min(max(0, column - 1), len(self.document.get_line(row)))))
