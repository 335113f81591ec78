"""Findings about the text: each with its line, what was expected and what to do."""

from __future__ import annotations

from rich.text import Text
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from compilemask.source import Diagnostic, Severity


class DiagnosticsPanel(OptionList):
    """One entry per finding; choosing it goes there. Takes no room when there is nothing to say."""

    DEFAULT_CSS = """
    DiagnosticsPanel { height: auto; max-height: 9; border: none; padding: 0 1; display: none; background: $panel; }
    DiagnosticsPanel.some { display: block; }
    """

    diagnostics: reactive[tuple[Diagnostic, ...]] = reactive((), repaint=False)

    class GoTo(Message):
        """Show this place in the text."""

        def __init__(self, line: int, column: int) -> None:
            super().__init__()
            self.line, self.column = line, column

    def watch_diagnostics(self) -> None:
        """Fill the list."""
        self.clear_options()
        colours = self.app.theme_variables
        self.add_options([Option(_prompt(diagnostic, colours)) for diagnostic in self.diagnostics])
        self.set_class(bool(self.diagnostics), "some")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index >= len(self.diagnostics):
            return
        span = self.diagnostics[event.option_index].span
        if span is not None:
            self.post_message(self.GoTo(span.line, span.column))


def _prompt(diagnostic: Diagnostic, colours: dict[str, str]) -> Text:
    name = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "secondary"}[diagnostic.severity]
    place = f"{diagnostic.span.line}:{diagnostic.span.column} " if diagnostic.span else ""
    text = Text(overflow="fold")
    text.append(place, style="dim")
    text.append(f"{diagnostic.severity.value} ", style=f"bold {colours.get(name, '')}")
    text.append(diagnostic.message)
    if diagnostic.hint:
        text.append(f"\n{diagnostic.hint}", style="dim")
    return text
