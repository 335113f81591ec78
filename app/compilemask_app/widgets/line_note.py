"""What is wrong with the line under the cursor, right under that line."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Offset
from textual.widgets import Static

from compilemask.source import Diagnostic, Severity

WIDTH = 60


class LineNote(Static):
    """Floats under a line of the text."""

    DEFAULT_CSS = f"""
    LineNote {{
        layer: above; position: absolute; display: none; width: auto; max-width: {WIDTH}; height: auto;
        padding: 0 1; background: $panel-lighten-1;
    }}
    LineNote.open {{ display: block; }}
    """

    def tell(self, findings: list[Diagnostic], place: Offset) -> None:
        """Show the findings of a line at a place of the screen; none closes it."""
        self.set_class(bool(findings), "open")
        if not findings:
            return
        colours = self.app.theme_variables
        text = Text()
        for number, finding in enumerate(findings):
            serious = finding.severity is Severity.ERROR
            text.append("\n" if number else "").append("▲ ", style=colours.get("error" if serious else "warning", ""))
            text.append(finding.message)
            if finding.hint:
                text.append(f"\n  {finding.hint}", style="dim")
        self.update(text)
        self.styles.offset = (max(0, place.x), place.y)
