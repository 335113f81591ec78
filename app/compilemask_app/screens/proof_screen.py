"""The proof: every check of a validation with its error and what was allowed, and the precision it was made in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static

from compilemask.measure.report import Check, Outcome, ValidationReport
from compilemask_app.actions import Scope, bindings
from compilemask_app.screens.over_screen import OverScreen, headed
from compilemask_app.widgets.job_bar import AS_WRITTEN, MEANT
from compilemask_app.widgets.key_footer import KeyFooter

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

COLUMNS = ("check", "result", "of budget", "   error", " allowed", "compared")
RESULTS = {
    Outcome.PASS: ("✓ right", "success"),
    Outcome.FAIL: ("✗ wrong", "error"),
    Outcome.SKIPPED: ("– skipped", "warning"),
}


class ProofScreen(OverScreen):
    """Shows one validation report; `outdated`: the text has changed since."""

    app: Workbench

    scope: ClassVar[Scope] = Scope.PROOF
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.PROOF)
    DEFAULT_CSS = """
    ProofScreen DataTable { height: auto; max-height: 75%; background: $surface; }
    ProofScreen #head { height: auto; background: $panel; padding: 0 1; text-style: bold; }
    ProofScreen #words { height: auto; padding: 1 1 0 1; }
    ProofScreen VerticalScroll { height: 1fr; }
    """

    def __init__(self, report: ValidationReport, *, outdated: bool) -> None:
        super().__init__()
        self.report = report
        self._outdated = outdated

    def compose(self) -> ComposeResult:
        yield Static(self._head(), id="head")
        yield DataTable(cursor_type="row")
        with VerticalScroll(can_focus=False):
            yield Static("", id="words")
        yield KeyFooter()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns(*COLUMNS)
        for check in self.report.checks:
            table.add_row(*self._row(check))
        failed = (place for place, check in enumerate(self.report.checks) if check.outcome is Outcome.FAIL)
        table.move_cursor(row=next(failed, 0))
        table.focus()
        if not self.report.checks:
            self.query_one("#words", Static).update(self._words(None))

    def _head(self) -> Text:
        report = self.report
        size = f"{report.query_length:,} × {report.key_length:,}"
        about = f": {AS_WRITTEN}" if report.passed else ""
        verdict = f"{report.verdict}{about}   {size}   {report.seconds:.1f} s   {report.machine}"
        return headed(f"PROOF   {report.mask}", verdict, self.app.theme_variables, outdated=self._outdated)

    def _row(self, check: Check) -> list[Text]:
        word, colour = RESULTS[check.outcome]
        cells = f": {check.wrong_cells:,} cells" if check.wrong_cells else ""
        return [
            Text(check.name),
            Text(word + cells, style=self.app.theme_variables.get(colour, "")),
            _figure(check.of_budget, ".2f", 9),
            _figure(check.largest_error, ".1e", 8),
            _figure(check.largest_allowed, ".1e", 8),
            Text(check.scope),
        ]

    @on(DataTable.RowHighlighted)
    def _look_at(self, event: DataTable.RowHighlighted) -> None:
        self.query_one("#words", Static).update(self._words(self.report.checks[event.cursor_row]))

    def _words(self, check: Check | None) -> Table:
        """What a narrow table cuts off, and what is said of all checks."""
        lines: list[tuple[str, str]] = []
        if check is not None:
            lines += [("compared", check.scope)]
            lines += [("precision", check.precision)] if check.precision else []
            lines += [("wrong", check.first_wrong.describe() + "; enter goes there")] if check.first_wrong else []
        lines += [("note", MEANT)] if self.report.passed else []
        lines += [("note", note) for note in self.report.notes]
        table = Table.grid(padding=(0, 2))
        for name, words in lines:
            table.add_row(Text(name, style=self.app.theme_variables.get("secondary", "")), Text(words))
        return table

    @on(DataTable.RowSelected)
    def _go_there(self, event: DataTable.RowSelected) -> None:
        wrong = self.report.checks[event.cursor_row].first_wrong
        design = self.app.design
        if wrong is not None and design is not None:
            self.dismiss(None)
            if self._outdated:
                design.go_to_cell(max(0, wrong.query), max(0, wrong.key))
                self.app.notify("it was wrong in an older text; v validates this one")
            else:
                design.jobs.point_at(wrong)


def _figure(value: float | None, form: str, width: int) -> Text:
    return Text("" if value is None else format(value, form).rjust(width))
