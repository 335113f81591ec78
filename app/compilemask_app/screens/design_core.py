"""What the design screen holds and shows: text on the left, what it means on the right."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static, TextArea

from compilemask.source import Diagnostic
from compilemask_app.document import Document
from compilemask_app.drawing.viewport import Viewport
from compilemask_app.framework import NewestSize
from compilemask_app.messages import (
    MapResized,
    MaskBroken,
    MaskReady,
    PictureReady,
    ViewChanged,
    WorkerLost,
    WorkerReplied,
)
from compilemask_app.picture import Choice, Picture
from compilemask_app.screens.compiling import Compiling
from compilemask_app.screens.file_flow import FileFlow
from compilemask_app.screens.job_results import JobResults
from compilemask_app.screens.shared_view import SharedView
from compilemask_app.widgets.cell_panel import CellPanel
from compilemask_app.widgets.completion_list import CompletionList
from compilemask_app.widgets.diagnostics_panel import DiagnosticsPanel
from compilemask_app.widgets.job_bar import JobBar
from compilemask_app.widgets.key_footer import KeyFooter
from compilemask_app.widgets.line_note import LineNote
from compilemask_app.widgets.map_pair import MapPair
from compilemask_app.widgets.mask_editor import MaskEditor
from compilemask_app.widgets.mask_view import MaskView, Overlay, PictureView
from compilemask_app.widgets.parameter_steppers import ParameterSteppers
from compilemask_app.widgets.region_matrix_view import RegionMatrixView
from compilemask_app.widgets.statistics_panel import StatisticsPanel
from compilemask_app.widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from compilemask_app.application import Workbench
    from compilemask_app.screens.compose_flow import ComposeFlow
    from compilemask_app.screens.import_flow import ImportFlow
    from compilemask_app.screens.job_flow import JobFlow
    from compilemask_app.screens.look_flow import LookFlow

READ_AFTER_S = 0.1
"""How long the region matrix and the steppers wait for the maps."""


class DesignCore(NewestSize, Screen[None]):
    """Text, maps, figures and jobs of one mask, without the keys."""

    CSS_PATH = "design.tcss"
    AUTO_FOCUS = "#mask"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual annotates it as it does
        (0, "-tiny"), (40, "-narrow"), (100, "-normal"), (150, "-wide"), (200, "-huge"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [(0, "-tiny-high"), (10, "-low"), (28, "-high")]  # noqa: RUF012

    app: Workbench

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.revision = 0
        self.choice = Choice()
        self.picture: Picture | None = None
        self.shared = SharedView(self)
        self._compiled_once = False
        self._reading: Timer | None = None
        self.files = FileFlow(self, document)
        self.results = JobResults(self)
        self.compiling = Compiling(self)

    # ------------------------------------------------------------ what the keys lead to

    @cached_property
    def composing(self) -> ComposeFlow:
        """What the matrix and the steppers do; loads the language, so not before the first paint."""
        from compilemask_app.screens.compose_flow import ComposeFlow

        return ComposeFlow(self)

    @cached_property
    def looks(self) -> LookFlow:
        """The way to the other screens, loaded when first gone."""
        from compilemask_app.screens.look_flow import LookFlow

        return LookFlow(self)

    @cached_property
    def imports(self) -> ImportFlow:
        """The way in for other programs' arrays, loaded when first gone."""
        from compilemask_app.screens.import_flow import ImportFlow

        return ImportFlow(self)

    @cached_property
    def jobs(self) -> JobFlow:
        """The way to the worker."""
        from compilemask_app.screens.job_flow import JobFlow

        return JobFlow(self)

    # ------------------------------------------------------------ layout

    def compose(self) -> ComposeResult:
        yield TitleBar()
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Static("REGIONS", classes="heading")
                yield RegionMatrixView(id="matrix")
                yield Static("SIZES", classes="heading")
                yield ParameterSteppers(id="parameters")
                yield Static("TEXT", classes="heading")
                yield MaskEditor(self.files.document.start, id="editor")
                yield DiagnosticsPanel(id="diagnostics")
            with Vertical(id="right"):
                yield MapPair(id="maps")
                with Vertical(id="facts"):
                    yield Static("CELL", classes="heading")
                    yield CellPanel()
                    yield Static("FIGURES", classes="heading")
                    yield StatisticsPanel()
                    yield Static("WORK", classes="heading")
                    yield JobBar()
        yield CompletionList()
        yield LineNote()
        yield Static("", id="too-small")
        yield KeyFooter()

    def on_mount(self) -> None:
        for view in self.panes:
            view.palette, view.look = self.app.palette_name, self.app.look
        self.query_one(MaskView).focus()
        self.files.announce()
        self.call_after_refresh(self._begin_compiling)

    def on_unmount(self) -> None:
        self.compiling.stop()
        self.files.stop()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        width, height = event.size
        small = width < 40 or height < 10
        self.set_class(small, "-tiny")
        note = f"{width}×{height} is too small: at least 40×10"
        self.query_one("#too-small", Static).update(note[: max(0, width)])

    # ------------------------------------------------------------ compiling

    @property
    def text(self) -> str:
        """The text as it stands in the editor."""
        return self.query_one(MaskEditor).text

    def _begin_compiling(self) -> None:
        """After the first paint, which would share its core with the loading of the compiler."""
        self._skip_header()
        self.compiling.begin()

    def _skip_header(self) -> None:
        """Show the text from its first line that is no comment, so that a long header does not hide the mask."""
        lines = self.text.splitlines()
        first = next((row for row, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
        editor = self.query_one(MaskEditor)
        if editor.has_focus or editor.cursor_location not in ((0, 0), (first, 0)):
            return
        editor.move_cursor((first, 0))
        editor.show_from(first)

    @on(TextArea.Changed, "#editor")
    def _text_changed(self) -> None:
        self.revision += 1
        self.compiling.submit()
        self.files.text_changed()
        self.results.show()
        self._read_later()

    def _read_later(self) -> None:
        """Matrix and steppers follow once the mask is drawn, or does not come soon: the maps go before them."""
        if self._reading is not None:
            self._reading.stop()
        if self._compiled_once:
            self._reading = self.set_timer(READ_AFTER_S, self.composing.read_text)

    def _outcome(self) -> None:
        """The compile thread has loaded the language, so that reading the text here is quick from now on."""
        if self._compiled_once:
            self.call_after_refresh(self.composing.read_text)
        else:
            self._compiled_once = True
            self.composing.read_text()
            self.call_after_refresh(self._skip_header)  # again: matrix and steppers take their room

    @on(MaskReady)
    def _show_mask(self, message: MaskReady) -> None:
        """Draw the mask at once; tiles, figures and the cell's tile follow with the whole picture."""
        pane, mask = self.query_one(MaskView), message.mask
        drawn = pane.picture
        late = drawn is not None and mask.revision < drawn.revision
        if late or pane.overlay is Overlay.WORK:  # whose bars are counted in tiles
            self.compiling.drawn(mask.revision)
            return
        self.call_after_refresh(self.compiling.drawn, mask.revision)
        pane.wrong = None
        self.shared.draw(pane, mask)
        title = self.query_one(TitleBar)
        title.picture, title.broken = mask, False

    @on(PictureReady)
    def _show(self, message: PictureReady) -> None:
        picture = message.picture
        if self.picture is not None and picture.revision < self.picture.revision:
            return
        self.picture = picture
        self.choice = picture.choice
        self.query_one(MaskView).wrong = None
        for pane in self.panes:
            if pane.picture is None or picture.revision >= pane.picture.revision:
                self.shared.draw(pane, picture)
        panel = self.query_one(CellPanel)
        panel.wrong, panel.picture, panel.view = None, picture, self.view
        self.query_one(StatisticsPanel).picture = picture
        title = self.query_one(TitleBar)
        title.picture, title.broken = picture, False
        self._tell(picture.diagnostics)
        self.compiling.mark_old(picture.revision)
        self._outcome()
        self.results.show()

    @on(MaskBroken)
    def _broken(self, message: MaskBroken) -> None:
        self._outcome()
        if message.revision != self.revision:
            return
        self.query_one(TitleBar).broken = True
        self._tell(message.diagnostics)
        self.compiling.mark_old(message.revision)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the text, or worth a warning."""
        return self.query_one(DiagnosticsPanel).diagnostics

    def _tell(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.query_one(MaskEditor).diagnostics = diagnostics
        self.query_one(DiagnosticsPanel).diagnostics = diagnostics

    # ------------------------------------------------------------ the shared viewport

    @property
    def panes(self) -> tuple[PictureView, ...]:
        """Both maps, shown or not."""
        return self.query_one(MapPair).panes

    @property
    def view(self) -> Viewport:
        """What the maps show, in tokens as written."""
        return self.shared.view

    @on(ViewChanged)
    def _view_changed(self, message: ViewChanged) -> None:
        self.shared.changed(message)

    @on(MapResized)
    def _map_resized(self) -> None:
        self.shared.room_changed()

    def show_line(self, line: int, column: int = 1) -> None:
        """The cursor of the text on a 1-based place."""
        self.add_class("-writing")
        editor = self.query_one(MaskEditor)
        self.call_after_refresh(editor.focus)
        editor.go_to(line, column)

    def go_to_cell(self, query: int, key: int) -> None:
        """The cursor on a cell, in view."""
        self.shared.go_to(query, key)

    # ------------------------------------------------------------ files

    def begin_document(self, text: str) -> None:
        """Show another text from its beginning, with no results yet."""
        self.choice = Choice()
        self.shared.whole = True
        editor = self.query_one(MaskEditor)
        if editor.text == text:
            self.revision += 1
            self.compiling.submit()
        else:
            editor.load_text(text)
        self.call_after_refresh(self._skip_header)
        self.results.show()

    # ------------------------------------------------------------ the worker

    @on(WorkerReplied)
    def _worker_replied(self, message: WorkerReplied) -> None:
        self.jobs.heard(message.reply)

    @on(WorkerLost)
    def _worker_lost(self, message: WorkerLost) -> None:
        self.results.lost(message.reason)
        self.notify(message.reason, title="Worker", severity="error")
