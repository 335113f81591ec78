"""What the mask costs: counts of tiles, useful share, work per query tile."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from compilemask_app.picture import Figures, Picture


class StatisticsPanel(Widget):
    """A short table of figures."""

    DEFAULT_CSS = "StatisticsPanel { height: 5; padding: 0 1; }"

    picture: reactive[Picture | None] = reactive(None)

    def render(self) -> Table | Text:
        """Pairs of a name and a figure in columns, as many as fit."""
        if self.picture is None:
            return Text("")
        pairs = _pairs(self.picture.figures)
        columns = 3 if self.size.width >= 124 else 2 if self.size.width >= 64 else 1
        table = Table.grid(padding=(0, 2), expand=False)
        for _ in range(columns):
            table.add_column(style="dim", no_wrap=True)
            table.add_column(justify="right", no_wrap=True)
        rows = -(-len(pairs) // columns)
        for row in range(rows):
            cells: list[str] = []
            for column in range(columns):
                place = row + column * rows
                cells += list(pairs[place]) if place < len(pairs) else ["", ""]
            table.add_row(*cells)
        return table


def _pairs(figures: Figures) -> list[tuple[str, str]]:
    tiles = figures.tiles_empty + figures.tiles_partial + figures.tiles_full
    skipped = figures.tiles_empty / tiles if tiles else 0.0
    return [
        ("visible cells", f"{figures.visible:,}"),
        ("runs per row", f"{figures.mean_runs_per_row:.1f}, most {figures.max_runs_per_row}"),
        ("empty rows", f"{figures.empty_rows:,}"),
        ("keys never seen", f"{figures.unseen_keys:,}"),
        ("tiles skipped", f"{figures.tiles_empty:,} ({skipped:.1%})"),
        ("tiles partial", f"{figures.tiles_partial:,} ({figures.distinct_partial:,} distinct)"),
        ("tiles full", f"{figures.tiles_full:,}"),
        ("useful cells in visited", f"{figures.useful:.1%}"),
        ("tiles per query tile", f"{figures.lightest:,} to {figures.heaviest:,}"),
        ("descriptor", _bytes(figures.descriptor_bytes)),
    ]


def _bytes(number: int | None) -> str:
    if number is None:
        return "-"
    return f"{number / 1024:,.1f} KiB" if number < 1 << 20 else f"{number / (1 << 20):,.1f} MiB"
