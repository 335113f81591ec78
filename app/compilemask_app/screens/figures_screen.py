"""All that is known of a mask in words: the cell, the counts with what they mean, the jobs in full, how to use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from compilemask_app.actions import Scope, bindings
from compilemask_app.picture import Figures
from compilemask_app.screens.over_screen import OverScreen, headed
from compilemask_app.widgets.key_footer import KeyFooter
from compilemask_app.widgets.statistics_panel import pairs_of

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

MEANINGS = {
    "visible cells": "query and key pairs that attend",
    "runs per row": "stretches of visible keys of a query, on average and at most",
    "runs as stored": "the same in the kernel's token order, in which the mask is kept",
    "empty rows": "queries that see nothing: their output is 0",
    "unseen keys": "keys that no query sees",
    "tiles skipped": "tiles without a visible cell: the kernel never touches them",
    "tiles partial": "tiles that need a pattern; equal patterns are one kind, stored once",
    "tiles full": "tiles without a hidden cell: no pattern is read",
    "useful cells": "visible cells of all that the visited tiles compute",
    "per query tile": "key tiles that a query tile visits, from the least to the most",
    "descriptor": "what the kernels read of this mask",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the screen says. `cell` and `jobs` in full; `snippet` None where the mask's file says something else."""

    mask: str
    size: str
    cell: Text
    figures: Figures
    tile: str
    jobs: tuple[tuple[str, Text], ...]
    snippet: str | None
    outdated: bool


class FiguresScreen(OverScreen):
    """Shows them under each other, so that nothing is cut in a narrow terminal."""

    app: Workbench

    scope: ClassVar[Scope] = Scope.FIGURES
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.FIGURES)
    DEFAULT_CSS = """
    FiguresScreen #head { height: auto; background: $panel; padding: 0 1; text-style: bold; }
    FiguresScreen VerticalScroll { height: 1fr; padding: 0 1; background: $surface; }
    FiguresScreen #facts { height: auto; }
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self.facts = facts

    def compose(self) -> ComposeResult:
        facts = self.facts
        words = f"{facts.size}   tiles {facts.tile}"
        head = headed(f"FIGURES   {facts.mask}", words, self.app.theme_variables, outdated=facts.outdated)
        yield Static(head, id="head")
        with VerticalScroll():
            yield Static(self._body(), id="facts")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _body(self) -> Group:
        facts = self.facts
        return Group(
            self._heading("CELL"), _wrapped(facts.cell),
            self._heading("FIGURES"), self._figures(),
            self._heading("WORK"), self._jobs(),
            self._heading("USE IT"), self._use(),
        )  # fmt: skip

    def _heading(self, words: str) -> Padding:
        style = f"bold {self.app.theme_variables.get('secondary', '')}"
        return Padding(Text(words, style=style), (0 if words == "CELL" else 1, 0, 0, 0))

    def _figures(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(overflow="fold", style="dim")
        for name, figure in pairs_of(self.facts.figures):
            table.add_row(name, Text(figure, style="bold"), MEANINGS[name])
        return table

    def _jobs(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for name, words in self.facts.jobs:
            table.add_row(name, words)
        return table

    def _use(self) -> Text:
        snippet = self.facts.snippet
        if snippet is None:
            return Text("save the mask (ctrl+s): the lines that use it in a model compile its file", style="dim")
        return Text(snippet, overflow="fold")

    def action_copy(self) -> None:
        """The lines of Python to the terminal's clipboard."""
        snippet = self.facts.snippet
        if snippet is None:
            self.notify("save the mask first: the lines compile its file", severity="warning")
            return
        self.app.copy_to_clipboard(snippet)
        self.notify("copied the lines of Python, if the terminal lets programs copy; f3 writes them to a .py file")


def _wrapped(text: Text) -> Text:
    """Folded where the lines of the design screen are cut."""
    whole = text.copy()
    whole.no_wrap, whole.overflow = False, "fold"
    return whole
