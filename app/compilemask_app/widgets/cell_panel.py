"""The cell under the cursor: where it is, whether it is visible, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive

from compilemask_app.drawing.viewport import Viewport
from compilemask_app.picture import Picture
from compilemask_app.widgets.steady import Steady

if TYPE_CHECKING:
    from compilemask.measure.report import WrongCell

RUNS_SHOWN = 4


class CellPanel(Steady):
    """Three lines about one cell."""

    DEFAULT_CSS = "CellPanel { height: 3; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    picture: reactive[Picture | None] = reactive(None, repaint=False)
    view: reactive[Viewport] = reactive(Viewport(0, 0), repaint=False)
    wrong: reactive[WrongCell | None] = reactive(None)

    def watch_picture(self) -> None:
        self.say_again()

    def watch_view(self) -> None:
        self.say_again()

    def words(self) -> Text:
        """Place, reason, row and tile."""
        picture, view = self.picture, self.view
        if picture is None or not picture.query_length or not picture.key_length:
            return Text("no cells", style="dim")
        query = min(view.query_cursor, picture.query_length - 1)
        key = min(view.key_cursor, picture.key_length - 1)
        colours = self.app.theme_variables
        reason = picture.explain(query, key)
        lines = Text(no_wrap=True, overflow="ellipsis")
        lines.append("query ", style="dim").append(f"{query:,}", style="bold")
        lines.append(f" {picture.queries.place(query)}   ")
        lines.append("key ", style="dim").append(f"{key:,}", style="bold")
        lines.append(f" {picture.keys.place(key)}\n")
        mark, colour = ("■ visible", "primary") if reason.visible else ("□ hidden", "accent")
        lines.append(mark, style=f"bold {colours.get(colour, '')}").append(f"  {reason.text}")
        if self.wrong is not None and (max(0, self.wrong.query), max(0, self.wrong.key)) == (query, key):
            lines.append(f"   {_found(self.wrong)}", style=f"bold {colours.get('error', '')}")
        lines.append("\n")
        lines.append("row sees ", style="dim").append(_runs(picture, query))
        lines.append("   tile ", style="dim").append(_tile(picture, query, key))
        return lines


def _found(wrong: WrongCell) -> str:
    """Short where it can be: whether a cell is to be visible stands before it."""
    if wrong.expected in ("visible", "hidden"):
        return f"validation found it {wrong.found}"
    return f"validation: expected {wrong.expected}, found {wrong.found}"


def _runs(picture: Picture, query: int) -> str:
    from compilemask.intervals.one_query import runs_of_query  # numpy comes with the first picture

    runs = runs_of_query(picture.lowered, query)
    if not runs:
        return "no key"
    shown = [f"{start:,}..{end - 1:,}" for start, end in runs[:RUNS_SHOWN]]
    more = len(runs) - len(shown)
    return "keys " + ", ".join(shown) + (f" and {more:,} more runs" if more else "")


def _tile(picture: Picture, query: int, key: int) -> str:
    from compilemask.tiles.tile_map import TileKind  # numpy comes with the first picture

    tiles = picture.tiles
    row, column = picture.tile_of(query, key)
    kind = tiles.kind(row, column)
    if kind is not TileKind.PARTIAL:
        return f"({row}, {column}) {kind.name.lower()}"
    return f"({row}, {column}) partial, pattern {tiles.pattern_number(row, column)} of {tiles.distinct_partial}"
