"""What is wrong with the line under the cursor, right under that line, or above it at the end of the text's room."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Offset, Region
from textual.widgets import Static

from compilemask.source import Diagnostic, Severity

WIDTH = 60


class LineNote(Static):
    """Floats beside a line of the text."""

    DEFAULT_CSS = f"""
    LineNote {{
        layer: above; position: absolute; display: none; width: auto; max-width: {WIDTH}; height: auto;
        padding: 0 1; background: $panel-lighten-1;
    }}
    LineNote.open {{ display: block; }}
    """

    def tell(self, findings: list[Diagnostic], line: Offset, room: Region) -> None:
        """Show the findings of a line that begins at a place of the screen, within the room of the text.

        No findings close it, and so does too little room below and above: the list of findings tells them too.
        """
        text = self._words(findings)
        lines = text.wrap(self.app.console, WIDTH - 2)
        width = min(WIDTH, max((part.cell_len for part in lines), default=0) + 2)
        below, above = line.y + 1, line.y - len(lines)
        fits_below = below + len(lines) <= room.bottom
        fits = fits_below or above >= room.y
        self.set_class(bool(findings) and room.contains_point((room.x, line.y)) and fits, "open")
        self.update(text)
        self.styles.offset = (max(0, min(line.x, self.screen.size.width - width)), below if fits_below else above)

    def _words(self, findings: list[Diagnostic]) -> Text:
        colours = self.app.theme_variables
        text = Text()
        for number, finding in enumerate(findings):
            serious = finding.severity is Severity.ERROR
            text.append("\n" if number else "").append("▲ ", style=colours.get("error" if serious else "warning", ""))
            text.append(finding.message)
            if finding.hint:
                text.append(f"\n  {finding.hint}", style="dim")
        return text
