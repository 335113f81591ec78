"""Validate, compile and time from the design screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilemask.measure.report import TimingReport, ValidationReport, WrongCell
from compilemask.worker_protocol import Done, Hello, Job, MaskInput, Options, Reply
from compilemask_app.widgets.cell_panel import CellPanel
from compilemask_app.widgets.job_bar import Phase
from compilemask_app.widgets.mask_view import MaskView

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore


class JobFlow:
    """Starts jobs for the text as it stands, and takes what comes back."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen

    async def start(self, job: Job) -> None:
        """Ask the worker for a job, unless it is at it already."""
        screen = self._screen
        if screen.results.board.entry(job).state.phase in (Phase.WAITING, Phase.RUNNING):
            screen.notify(f"{job.value} is running; x cancels it")
            return
        screen.results.board = screen.results.board.asked(job, screen.results.fingerprint)
        screen.results.show()
        document = screen.files.document
        folder = str(document.folder.resolve()) if document.folder is not None else None
        mask = MaskInput(document.name, screen.text, folder, document.parameters)
        number = await screen.app.worker.run(job, mask, self._options(job))
        if number is not None:
            screen.results.numbered(job, number)

    async def cancel(self) -> None:
        """Cancel all that runs or waits."""
        if not self._screen.results.board.busy():
            self._screen.notify("nothing is running")
        await self._screen.app.worker.cancel()

    def _options(self, job: Job) -> Options:
        settings, choice = self._screen.app.settings, self._screen.choice
        if job is Job.COMPILE:
            return Options(targets=settings.targets, emit=("ptx", "sass", "ttgir"), head_dim=settings.head_dim)
        if job is Job.VALIDATE:
            return Options(block_m=choice.block_m, block_n=choice.block_n)
        return Options(heads=settings.heads, head_dim=settings.head_dim, dtype=settings.dtype)

    def heard(self, reply: Reply) -> None:
        """A reply of the worker."""
        screen = self._screen
        if isinstance(reply, Hello):
            screen.app.worker_hello = reply
            return
        about = screen.results.text_of(reply.id) if isinstance(reply, Done) else None
        mine = isinstance(reply, Done) and any(entry.number == reply.id for _, entry in screen.results.board.entries)
        screen.results.heard(reply)
        if not isinstance(reply, Done):
            return
        current = mine and about == screen.results.fingerprint
        if current and isinstance(reply.report, ValidationReport) and reply.report.first_wrong is not None:
            self.point_at(reply.report.first_wrong)
        if isinstance(reply.report, TimingReport):
            screen.app.remember_times(reply.report, "" if about is None else f"{about:016x}")

    def point_at(self, wrong: WrongCell) -> None:
        """The first wrong cell that a validation found: marked, under the cursor, and explained."""
        pane = self._screen.query_one(MaskView)
        cell = (max(0, wrong.query), max(0, wrong.key))
        pane.wrong = cell
        pane.invalidate()
        self._screen.query_one(CellPanel).wrong = wrong
        self._screen.go_to_cell(*cell)
