"""Times of this and earlier runs: a table, a plot over the length, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Static

from compilemask.errors import UsageError
from compilemask.files import write_in_one_step
from compilemask_app import history
from compilemask_app.actions import Scope, bindings
from compilemask_app.drawing.plot import Plot, Point, Series, plot
from compilemask_app.history import HistoryError, TimeRow
from compilemask_app.screens.dialogs import TryPrompt
from compilemask_app.screens.over_screen import OverScreen
from compilemask_app.widgets.key_footer import KeyFooter

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

COLUMNS = (
    "when", "text", "mask", "length", "what", "forward ms", "spread", "useful TFLOP/s", "executed",
    "× ours", "GPU", "shape",
)  # fmt: skip
MARKS = "●○◆□▲△×+"
COLOURS = ("primary", "accent", "success", "secondary", "error", "warning")


class TimesScreen(OverScreen):
    """Shows the history of one mask, or of all where this one has none.

    `note` says what became of the last run, or how to start one; `text` is the mask's present one, as `TimeRow.text`.
    """

    scope: ClassVar[Scope] = Scope.TIMES
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.TIMES)
    DEFAULT_CSS = """
    TimesScreen #head { height: auto; background: $panel; padding: 0 1; text-style: bold; }
    TimesScreen DataTable { height: auto; max-height: 60%; background: $surface; scrollbar-size-horizontal: 0; }
    TimesScreen #plot { height: 1fr; padding: 1 1 0 1; }
    """

    app: Workbench

    def __init__(self, mask: str, note: str, text: str) -> None:
        super().__init__()
        self._mask, self._note, self._text = mask, note, text
        self.rows: tuple[TimeRow, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static("", id="head")
        yield DataTable(cursor_type="row")
        yield Static("", id="plot")
        yield KeyFooter()

    def on_mount(self) -> None:
        path = self.app.services.history_file
        try:
            self.rows = history.rows(path, self._mask)
            everything = () if self.rows else history.rows(path)
        except HistoryError as error:
            self.notify(str(error), severity="error")
            return
        old = any(row.text not in ("", self._text) for row in self.rows)
        words = [self._note] if self._note else []
        if not self.rows:
            words[:0] = ["none yet" + (", those of other masks below" if everything else "")]
            self.rows = everything
        elif old:
            words[:0] = ["rows marked ~ older are of an earlier text of this mask"]
        self.query_one("#head", Static).update(f"TIMES   {self._mask}   {'   '.join(words)}")
        self._fill()
        self.query_one(DataTable).focus()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._draw()

    def _fill(self) -> None:
        table = self.query_one(DataTable)
        lines = [_cells(row, self._text if row.mask == self._mask else "") for row in self.rows]
        filled = [place for place in range(len(COLUMNS)) if not lines or any(line[place] for line in lines)]
        table.add_columns(*(COLUMNS[place] for place in filled))
        for line in lines:
            table.add_row(*(line[place] for place in filled))
        self._draw()

    def _draw(self) -> None:
        size = self.query_one("#plot", Static).content_size
        series = series_of(self.rows)
        drawn = plot(series, max(20, size.width), max(6, size.height - 1))
        self.query_one("#plot", Static).update(_coloured(drawn, series, self.app.theme_variables))

    @work
    async def action_export(self) -> None:
        design = self.app.design
        folder = design.files.folder if design is not None else Path.cwd()
        start = str(folder / f"{self._mask}_times.csv")
        table, rows = history.as_csv(self.rows), len(self.rows)

        def attempt(typed: str) -> None:
            try:
                write_in_one_step(Path(typed).expanduser(), table)
            except OSError as error:
                raise UsageError(f"not written: {error.strerror or error}: {typed}") from None

        answer = await self.app.ask(TryPrompt("Export times", start, "a .csv file", attempt))
        if answer is not None:
            self.notify(f"wrote {rows} rows to {answer}")


def series_of(rows: tuple[TimeRow, ...]) -> tuple[Series, ...]:
    """Useful TFLOP/s over the length, the newest run of each length, one series per implementation."""
    newest: dict[str, dict[int, Point]] = {}
    for row in rows:
        if row.useful_tflops is None:
            continue
        half = row.useful_tflops * (row.spread or 0.0) / 2
        point = Point(row.query_length, row.useful_tflops, row.useful_tflops - half, row.useful_tflops + half)
        newest.setdefault(row.what, {}).setdefault(row.query_length, point)
    return tuple(
        Series(what, MARKS[place % len(MARKS)], tuple(points[length] for length in sorted(points)))
        for place, (what, points) in enumerate(newest.items())
    )


def _coloured(drawn: Plot, series: tuple[Series, ...], colours: dict[str, str]) -> Text:
    text = Text(no_wrap=True)
    for place, one in enumerate(series):
        text.append(f"{one.mark} {one.name}   ", style=colours.get(COLOURS[place % len(COLOURS)], ""))
    text.append("useful TFLOP/s over tokens\n" if series else "", style="dim")
    for line, owners in zip(drawn.lines, drawn.owners, strict=True):
        for character, owner in zip(line, owners, strict=False):
            style = "dim" if owner < 0 else colours.get(COLOURS[owner % len(COLOURS)], "")
            text.append(character, style=style)
        text.append("\n")
    return text


def _cells(row: TimeRow, text: str) -> tuple[str, ...]:
    """A row of the table, marked if it is not of this text; what an earlier version did not record is empty."""
    return (
        row.at, "~ older" if text and row.text and row.text != text else "", row.mask, f"{row.query_length:>9,}",
        row.what, _number(row.forward_ms, 3),
        "" if row.spread is None else f"{row.spread:>6.1%}", _number(row.useful_tflops, 0),
        _number(row.executed_tflops, 0), _number(row.ratio, 2), row.gpu,
        f"{row.batch}×{row.heads}×{row.head_dim} {row.dtype}",
    )  # fmt: skip


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:>9,.{digits}f}"
