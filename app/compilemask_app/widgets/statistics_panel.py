"""What the mask costs: counts of tiles, useful share, work per query tile."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive

from compilemask_app.picture import Figures, Picture
from compilemask_app.widgets.steady import Steady

NAME, COLUMN, GAP = 14, 36, 3
"""Columns of a name, of a pair, and between pairs."""


class StatisticsPanel(Steady):
    """A short table of figures."""

    DEFAULT_CSS = "StatisticsPanel { height: 5; padding: 0 1; text-wrap: nowrap; }"

    picture: reactive[Picture | None] = reactive(None, repaint=False)

    def watch_picture(self) -> None:
        self.say_again()

    def words(self) -> Text:
        """Pairs of a name and a figure in columns, as many as fit."""
        if self.picture is None:
            return Text("")
        pairs = pairs_of(self.picture.figures)
        columns = max(1, min(3, self.content_size.width // COLUMN))
        rows = -(-len(pairs) // columns)
        text = Text()
        for row in range(rows):
            text.append("\n" if row else "")
            for place in range(row, len(pairs), rows):
                name, figure = pairs[place]
                text.append(name.ljust(NAME), style="dim").append(figure.rjust(COLUMN - NAME - GAP)).append(" " * GAP)
        return text


def pairs_of(figures: Figures) -> list[tuple[str, str]]:
    """(name, figure) of all counts."""
    tiles = figures.tiles_empty + figures.tiles_partial + figures.tiles_full
    skipped = figures.tiles_empty / tiles if tiles else 0.0
    runs = "runs as stored" if figures.stored else "runs per row"
    return [
        ("visible cells", f"{figures.visible:,}"),
        (runs, f"{figures.mean_runs_per_row:.1f}, most {figures.max_runs_per_row}"),
        ("empty rows", f"{figures.empty_rows:,}"),
        ("unseen keys", f"{figures.unseen_keys:,}"),
        ("tiles skipped", f"{figures.tiles_empty:,} ({skipped:.1%})"),
        ("tiles partial", f"{figures.tiles_partial:,} ({_kinds(figures.distinct_partial)})"),
        ("tiles full", f"{figures.tiles_full:,}"),
        ("useful cells", f"{figures.useful:.1%}"),
        ("per query tile", f"{figures.lightest:,} to {figures.heaviest:,}"),
        ("descriptor", _bytes(figures.descriptor_bytes)),
    ]


def _bytes(number: int | None) -> str:
    if number is None:
        return "-"
    return f"{number / 1024:,.1f} KiB" if number < 1 << 20 else f"{number / (1 << 20):,.1f} MiB"


def _kinds(number: int) -> str:
    return f"{number:,} kind" + ("" if number == 1 else "s")
