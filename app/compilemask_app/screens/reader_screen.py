"""The compile reader: resources per target, and the listings behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Static, Tab, Tabs

from compilemask.measure.report import CompileReport, TargetReport
from compilemask_app.actions import Scope, bindings
from compilemask_app.framework import LastingTabs
from compilemask_app.screens.dialogs import Prompt
from compilemask_app.screens.over_screen import OverScreen, headed
from compilemask_app.widgets.code_view import CodeView
from compilemask_app.widgets.key_footer import KeyFooter

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

MOST_INSTRUCTIONS = 6
COLUMNS = ("target", "kernel", "registers", "spills", "shared", "tensor memory", "compiled", "instructions")


class ReaderScreen(OverScreen):
    """Shows one compile report; `outdated`: the text has changed since."""

    app: Workbench

    scope: ClassVar[Scope] = Scope.READER
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.READER)
    DEFAULT_CSS = """
    ReaderScreen DataTable { height: auto; max-height: 40%; background: $surface; }
    ReaderScreen #head { height: auto; background: $panel; padding: 0 1; text-style: bold; }
    ReaderScreen #words { height: auto; padding: 0 1; color: $warning; max-height: 4; }
    """

    def __init__(self, report: CompileReport, *, outdated: bool) -> None:
        super().__init__()
        self.report = report
        self._outdated = outdated
        self._target = 0
        self._language = ""
        self._shown = ""
        self._elsewhere: tuple[int, str] | None = None
        self._seek = False
        self._languages = tuple(
            dict.fromkeys(listing.language for target in report.targets for listing in target.listings)
        )

    def compose(self) -> ComposeResult:
        yield Static(self._head(), id="head")
        yield DataTable(cursor_type="row", zebra_stripes=False)
        yield Static("", id="words")
        yield LastingTabs(*(Tab(name, id=_tab_id(name)) for name in self._languages), id="languages")
        yield CodeView(id="code")
        yield KeyFooter()

    def _head(self, words: str = "") -> Text:
        built = len([target for target in self.report.targets if target.error is None])
        words = words or f"{built} of {len(self.report.targets)} kernels compiled"
        return headed(f"COMPILE   {self.report.mask}", words, self.app.theme_variables, outdated=self._outdated)

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns(*COLUMNS)
        for target in self.report.targets:
            table.add_row(*_row(target))
        table.focus()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self._target = event.cursor_row
        target = self.report.targets[self._target]
        words = "\n".join(filter(None, [target.error, *target.warnings]))
        self.query_one("#words", Static).update(Text(words))
        self._offer([listing.language for listing in target.listings])

    def _offer(self, names: list[str]) -> None:
        """The tabs of the languages that there are for a target; the language read last stays chosen."""
        tabs = self.query_one(Tabs)
        for name in names:
            tabs.show(_tab_id(name))
        chosen = self._language if self._language in names else next(iter(names), "")
        if chosen:
            tabs.active = _tab_id(chosen)
        for name in self._languages:
            if name not in names:
                tabs.hide(_tab_id(name))
        self._read(chosen)

    @on(Tabs.TabActivated)
    def _tab(self, event: Tabs.TabActivated) -> None:
        language = str(event.tab.label)
        if any(listing.language == language for listing in self.report.targets[self._target].listings):
            self._language = language
            self._read(language)

    def _read(self, language: str) -> None:
        listings = self.report.targets[self._target].listings
        found = next((listing.text for listing in listings if listing.language == language), "no listing")
        self._shown = language
        if self._elsewhere is not None:  # another row was chosen: enter goes to its listing
            self._elsewhere = None
            self.query_one("#head", Static).update(self._head())
        self.query_one(CodeView).lines = tuple(found.splitlines())
        if self._seek:
            self._seek = False
            self.action_next_match(1)

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        if self._elsewhere is None:
            self.query_one(CodeView).focus()
        else:
            self.action_go_elsewhere()

    @work
    async def action_search(self) -> None:
        view = self.query_one(CodeView)
        answer = await self.app.ask(Prompt("Search", view.sought, "for instance tcgen05, wgmma, BAR"))
        if answer is not None:
            view.sought = answer
            self.action_next_match(1)
            view.focus()

    def action_next_match(self, direction: int) -> None:
        view = self.query_one(CodeView)
        if not view.sought:
            self.notify("press / to search")
        elif not view.go_to_match(direction):
            self._tell_elsewhere(view.sought)
        else:
            self._elsewhere = None
            found = f"{view.sought!r}: {view.current + 1} of {len(view.matches)} lines"
            self.query_one("#head", Static).update(self._head(found))

    def _tell_elsewhere(self, sought: str) -> None:
        """Nothing in this listing: in which other there is something, first of the same language, and how to go there.

        The head says it, as it stays.
        """
        places = matches_elsewhere(self.report, sought, self._target, self._shown)
        self._elsewhere = places[0][:2] if places else None
        here = f"{sought!r}: not in {self._named(self._target, self._shown)}"
        if not places:
            self.query_one("#head", Static).update(self._head(f"{sought!r}: in no listing of any row"))
            return
        target, language, lines = places[0]
        rest = f"; {len(places) - 1} other listings too" if len(places) > 1 else ""
        there = f"{self._named(target, language)} has {lines}: enter goes there{rest}"
        self.query_one("#head", Static).update(self._head(f"{here}; {there}"))

    def _named(self, target: int, language: str) -> str:
        """`sm_100 forward ptx`."""
        row = self.report.targets[target]
        return f"{row.target} {row.kernel_words} {language}".rstrip()

    def action_next_row(self) -> None:
        self.query_one(DataTable).move_cursor(row=(self._target + 1) % max(1, len(self.report.targets)))

    def action_next_kind(self) -> None:
        names = [listing.language for listing in self.report.targets[self._target].listings]
        if names:
            here = names.index(self._shown) if self._shown in names else -1
            self.query_one(Tabs).active = _tab_id(names[(here + 1) % len(names)])

    def action_go_elsewhere(self) -> None:
        """To the listing that holds what this one does not."""
        if self._elsewhere is None:
            return
        target, self._language = self._elsewhere
        self._elsewhere, self._seek = None, True
        table = self.query_one(DataTable)
        if target == self._target:
            self._offer([listing.language for listing in self.report.targets[target].listings])
        else:
            table.move_cursor(row=target)  # which reads the listing, and then seeks in it


def matches_elsewhere(report: CompileReport, sought: str, target: int, language: str) -> list[tuple[int, str, int]]:
    """(target, language, lines that match) of all listings but this one: those of the same language first."""
    wanted = sought.lower()
    found = []
    for place, row in enumerate(report.targets):
        for listing in row.listings:
            lines = sum(wanted in line.lower() for line in listing.text.splitlines())
            if lines and (place, listing.language) != (target, language):
                found.append((place, listing.language, lines))
    return sorted(found, key=lambda one: one[1] != language)


def _tab_id(language: str) -> str:
    return f"language-{language}"


def _row(target: TargetReport) -> list[str]:
    if target.error is not None:
        return [target.target, target.kernel_words, "-", "-", "-", "-", f"{target.compile_s:.1f} s", "failed"]
    mix = [f"{item.name} {item.count:,}" for item in target.instructions if item.count][:MOST_INSTRUCTIONS]
    return [
        target.target,
        target.kernel_words,
        f"{target.registers:>9}",
        f"{target.spills:>4} B",
        f"{target.shared_bytes / 1024:>5.0f} KiB",
        f"{target.tensor_memory} columns" if target.tensor_memory else "-",
        f"{target.compile_s:.1f} s",
        "  ".join(mix),
    ]
