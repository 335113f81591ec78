"""The compile reader: resources per target, and the listings behind them."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Static, Tab, Tabs

from compilemask.measure.report import CompileReport, TargetReport
from compilemask_app.actions import Scope, bindings
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.widgets.code_view import CodeView

MOST_INSTRUCTIONS = 6
COLUMNS = ("target", "kernel", "registers", "spills", "shared", "tensor memory", "compiled", "instructions")


class ReaderScreen(Screen[None]):
    """Shows one compile report."""

    scope: ClassVar[Scope] = Scope.READER
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.READER)
    DEFAULT_CSS = """
    ReaderScreen DataTable { height: auto; max-height: 40%; background: $surface; }
    ReaderScreen #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    ReaderScreen #words { height: auto; padding: 0 1; color: $warning; max-height: 4; }
    """

    def __init__(self, report: CompileReport) -> None:
        super().__init__()
        self.report = report
        self._target = 0
        self._language = ""

    def compose(self) -> ComposeResult:
        yield Static(f"COMPILE   {self.report.mask}", id="head")
        yield DataTable(cursor_type="row", zebra_stripes=False)
        yield Static("", id="words")
        yield Tabs(id="languages")
        yield CodeView(id="code")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns(
            "target", "kernel", "registers", "spills", "shared", "tensor memory", "compiled", "instructions"
        )
        for target in self.report.targets:
            table.add_row(*_row(target))
        table.focus()

    @on(DataTable.RowHighlighted)
    async def _row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self._target = event.cursor_row
        target = self.report.targets[self._target]
        words = "\n".join(filter(None, [target.error, *target.warnings]))
        self.query_one("#words", Static).update(Text(words))
        names = [listing.language for listing in target.listings]
        if not names:
            self.query_one(CodeView).lines = ("no listing",)
        # Tabs raises ValueError for a tab that is gone already, as when the screen is closed while tabs are made.
        with suppress(ValueError):
            await self._offer(names)

    async def _offer(self, names: list[str]) -> None:
        """One tab a language; the language read last stays chosen."""
        tabs = self.query_one(Tabs)
        await tabs.clear()
        for name in names:
            await tabs.add_tab(Tab(name, id=f"language-{name}"))
        if names:
            tabs.active = f"language-{self._language if self._language in names else names[0]}"

    @on(Tabs.TabActivated)
    def _tab(self, event: Tabs.TabActivated) -> None:
        language = str(event.tab.label)
        listings = self.report.targets[self._target].listings
        self._language = language
        text = next((listing.text for listing in listings if listing.language == language), "")
        self.query_one(CodeView).lines = tuple(text.splitlines())

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.query_one(CodeView).focus()

    @work
    async def action_search(self) -> None:
        view = self.query_one(CodeView)
        answer = await self.app.push_screen_wait(Prompt("Search", view.sought, "for instance tcgen05, wgmma, BAR"))
        if answer is not None:
            view.sought = answer
            self.action_next_match(1)
            view.focus()

    def action_next_match(self, direction: int) -> None:
        view = self.query_one(CodeView)
        if not view.go_to_match(direction):
            self.notify(f"nothing found for {view.sought!r}" if view.sought else "press / to search")
        else:
            self.query_one("#head", Static).update(
                f"COMPILE   {self.report.mask}   {view.sought!r}: {view.current + 1} of {len(view.matches)} lines"
            )

    def action_close(self) -> None:
        if self.is_current:
            self.dismiss(None)


def _row(target: TargetReport) -> list[str]:
    if target.error is not None:
        return [target.target, target.kernel, "-", "-", "-", "-", f"{target.compile_s:.1f} s", "failed"]
    mix = [f"{item.name} {item.count:,}" for item in target.instructions if item.count][:MOST_INSTRUCTIONS]
    return [
        target.target,
        target.kernel,
        f"{target.registers:>9}",
        f"{target.spills:>4} B",
        f"{target.shared_bytes / 1024:>5.0f} KiB",
        f"{target.tensor_memory} columns" if target.tensor_memory else "-",
        f"{target.compile_s:.1f} s",
        "  ".join(mix),
    ]
