"""The region matrix: rows look, columns are seen, a cell holds the relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive

from compilemask_app.actions import Scope, bindings
from compilemask_app.composing import HEADS
from compilemask_app.widgets.steady import Steady

if TYPE_CHECKING:
    from compilemask_app.composing.region_matrix import RegionMatrix

NAME_WIDTH = 11
MOST_ROWS = 8
LEAST_COLUMN = 9
ADD_REGION = "+ region"
"""Adds a region when clicked; stands where rows and columns meet."""


class RegionMatrixView(Steady, can_focus=True):
    """Shows the matrix of the text and asks for changes; it changes nothing itself."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.MATRIX)
    DEFAULT_CSS = "RegionMatrixView { height: auto; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    matrix: reactive[RegionMatrix | None] = reactive(None, repaint=False)
    row: reactive[int] = reactive(0)
    """`HEADS` on the head of a column, where keys and palette change the column's region."""
    column: reactive[int] = reactive(0)
    locked: reactive[int] = reactive(0)
    """The line with an error of form that has to be mended first, 0 if none."""

    class Wanted(Message):
        """`what` shall be done with the cell or region under the cursor: pick, hide, add, rename,
        resize, split, repeat, delete, line."""

        def __init__(self, what: str, row: int, column: int) -> None:
            super().__init__()
            self.what, self.row, self.column = what, row, column

    def watch_matrix(self, old: RegionMatrix | None, new: RegionMatrix | None) -> None:
        """Keep the cursor inside; another number of rows needs other room."""
        rows, columns = self._shape()
        if (len(old.rows) if old else 0) != rows:
            self.refresh(layout=True)
        self.row, self.column = min(self.row, max(0, rows - 1)), min(self.column, max(0, columns - 1))
        self.say_again()

    def go_to(self, name: str) -> None:
        """The cursor on the row of a region, or on its column where it stands on the heads."""
        if self.matrix is None:
            return
        regions = self.matrix.columns if self.row == HEADS else self.matrix.rows
        place = next((place for place, region in enumerate(regions) if region.name == name), None)
        if place is not None and self.row == HEADS:
            self.column = place
        elif place is not None:
            self.row = place

    def _shape(self) -> tuple[int, int]:
        return (len(self.matrix.rows), len(self.matrix.columns)) if self.matrix else (0, 0)

    # ------------------------------------------------------------ drawing

    def words(self) -> Text:
        """Column heads, rows, and the rules of the cell under the cursor."""
        matrix = self.matrix
        if matrix is None or not matrix.rows or not matrix.columns:
            return Text("no regions yet: write a layout", style="dim")
        colours = self.app.theme_variables
        first, last, width = self._columns_shown()
        text = Text().append(ADD_REGION.ljust(NAME_WIDTH), style=colours.get("accent", ""))
        for column in range(first, last):
            text.append_text(self._head(matrix, column, width))
        top = self._first_row()
        for row in range(top, min(len(matrix.rows), top + MOST_ROWS)):
            strong = "bold" if self.has_focus and row == self.row else ""
            name = _cut(matrix.rows[row].name, NAME_WIDTH)
            text.append("\n").append(name, style=f"{strong} {colours.get('secondary', '')}")
            for column in range(first, last):
                text.append_text(self._cell(matrix, row, column, width))
        return text.append_text(self._details(matrix))

    def _head(self, matrix: RegionMatrix, column: int, width: int) -> Text:
        strong = "bold" if self.has_focus and column == self.column else ""
        style = f"{strong} {self.app.theme_variables.get('secondary', '')}"
        name = matrix.columns[column].name
        if (self.row, self.column) != (HEADS, column):
            return Text(_cut(name, width), style=style)
        return self._marked(name, (HEADS, column), width, style)

    def _cell(self, matrix: RegionMatrix, row: int, column: int, width: int) -> Text:
        words = matrix.summary(row, column)
        return self._marked(words, (row, column), width, "dim" if words == "·" else "")

    def _marked(self, words: str, place: tuple[int, int], width: int, style: str) -> Text:
        """The words, bright where the cursor is."""
        colours = self.app.theme_variables
        here = place == (self.row, self.column)
        if here and self.has_focus:
            style = f"bold {colours.get('background', '')} on {colours.get('primary', '')}"
        elif here:
            style = f"{style} underline"
        return Text.assemble((_cut(words, width - 1), style), " ")

    def _details(self, matrix: RegionMatrix) -> Text:
        """Two lines about what is under the cursor."""
        colours = self.app.theme_variables
        text = Text("\n")
        if self.locked:
            return text.append(f"line {self.locked} has an error of form\n", style=colours.get("warning", ""))
        if self.row == HEADS:
            return text.append_text(self._about_region(matrix))
        return text.append_text(self._about_cell(matrix))

    def _about_region(self, matrix: RegionMatrix) -> Text:
        from compilemask_app.composing.region_matrix import size_text

        region = matrix.region(self.row, self.column)
        text = Text(f"region {matrix.title(self.row, self.column)}")
        text.append(f"   line {region.leaf.span.line}\n", style="dim")
        return text.append(f"  size {size_text(region)}")

    def _about_cell(self, matrix: RegionMatrix) -> Text:
        text = Text()
        look, seen = matrix.rows[self.row].name, matrix.columns[self.column].name
        rules = matrix.effective(self.row, self.column)
        hint = "   ↑ keys" if matrix.two_sided else ""
        if not rules:
            return text.append(f"{look} does not see {seen}{hint}\n", style="dim")
        last = rules[-1]
        lines = ", ".join(str(applied.rule.span.line) for applied in rules)
        text.append(f"{look} {'sees' if last.rule.shows else 'cannot see'} {seen}")
        text.append(f"   line {lines}{hint}\n", style="dim")
        return text.append(f"  {last.how}")

    def _columns_shown(self) -> tuple[int, int, int]:
        """(first, last + 1, width of one)."""
        columns = self._shape()[1]
        room = max(LEAST_COLUMN, self.content_size.width - NAME_WIDTH)
        fitting = max(1, min(columns, room // LEAST_COLUMN))
        first = min(max(0, self.column - fitting + 1), columns - fitting)
        return first, first + fitting, max(LEAST_COLUMN, min(24, room // fitting))

    def _first_row(self) -> int:
        return max(0, self.row - MOST_ROWS + 1)

    # ------------------------------------------------------------ keys and mouse

    def key_up(self) -> None:
        """The row above; above the first, the heads."""
        self.row = max(HEADS, self.row - 1)

    def key_down(self) -> None:
        """The row below."""
        self.row = min(max(0, self._shape()[0] - 1), self.row + 1)

    def key_left(self) -> None:
        """The column before."""
        self.column = max(0, self.column - 1)

    def key_right(self) -> None:
        """The column after."""
        self.column = min(max(0, self._shape()[1] - 1), self.column + 1)

    def on_click(self, event: events.Click) -> None:
        """Once selects, twice picks a relation or renames; the corner adds a region."""
        rows = len(self.matrix.rows) if self.matrix else 0
        x, y = event.x - 1, event.y
        if not rows or y > min(MOST_ROWS, rows):
            return
        on_names = x < NAME_WIDTH
        if y == 0 and on_names:
            if x < len(ADD_REGION):
                self.action_add_region()
            return
        self.row = min(rows - 1, self._first_row() + y - 1) if y else HEADS
        if not on_names:
            first, last, width = self._columns_shown()
            self.column = min(last - 1, first + (x - NAME_WIDTH) // width)
        if event.chain == 2:
            (self.action_rename_region if on_names else self.action_pick)()

    def action_pick(self) -> None:
        """The relation of a cell; of a head, the name, which is what stands there."""
        self._want("rename" if self.row == HEADS else "pick")

    def action_hide(self) -> None:
        self._want("hide")

    def action_add_region(self) -> None:
        self._want("add")

    def action_rename_region(self) -> None:
        self._want("rename")

    def action_resize_region(self) -> None:
        self._want("resize")

    def action_split_region(self) -> None:
        self._want("split")

    def action_repeat_region(self) -> None:
        self._want("repeat")

    def action_delete_region(self) -> None:
        self._want("delete")

    def action_line(self) -> None:
        self._want("line")

    def _want(self, what: str) -> None:
        if self.matrix is not None and self.matrix.rows and self.matrix.columns:
            self.post_message(self.Wanted(what, self.row, self.column))


def _cut(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: max(0, width - 1)] + "…").ljust(width)
