"""What the design screen knows of validate, compile and time: a board of results for each document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from compilemask_app.job_board import JobBoard
from compilemask_app.messages import WorkerLost, WorkerReplied
from compilemask_app.screens.design_actions import DesignActions
from compilemask_app.widgets.job_bar import JobBar

if TYPE_CHECKING:
    from compilemask.job import Job
    from compilemask.worker_protocol import Reply
    from compilemask_app.document import Document


class DesignJobs(DesignActions):
    """Hears the worker; results stay with the document that they are about, open or not."""

    def __init__(self) -> None:
        super().__init__()
        self._boards: dict[str, JobBoard] = {}

    @property
    def text(self) -> str:
        """The text as it stands in the editor."""
        raise NotImplementedError

    @property
    def board(self) -> JobBoard:
        """What is known of the jobs of the document that is open."""
        return self._boards.get(self.files.document.key, JobBoard())

    @board.setter
    def board(self, board: JobBoard) -> None:
        self._boards[self.files.document.key] = board

    def carry_results(self, before: Document, after: Document) -> None:
        """A document has another place now; what is known of it is known there too."""
        if before.key in self._boards:
            self._boards[after.key] = self._boards[before.key]

    @property
    def fingerprint(self) -> int:
        """Of the text as it stands with the values given beside it: results of the same count, whenever they came."""
        return hash((self.text, repr(self.files.document.parameters)))

    def job_numbered(self, job: Job, number: int) -> None:
        """The worker accepted the job that was asked for last, whatever document is open by now."""
        self._boards = {
            key: board.numbered(job, number) if board.awaits_number(job) else board
            for key, board in self._boards.items()
        }

    def job_heard(self, reply: Reply) -> None:
        """Enter a reply on the board of the document that it is about, open or not."""
        self._boards = {key: board.heard(reply) for key, board in self._boards.items()}
        self.show_jobs()

    def show_jobs(self) -> None:
        """The job bar as the board stands."""
        self.query_one(JobBar).states = self.board.states(self.fingerprint)

    @on(WorkerReplied)
    def _worker_replied(self, message: WorkerReplied) -> None:
        self.jobs.heard(message.reply)

    @on(WorkerLost)
    def _worker_lost(self, message: WorkerLost) -> None:
        self._boards = {key: board.lost(message.reason) for key, board in self._boards.items()}
        self.show_jobs()
        self.notify(message.reason, title="Worker", severity="error")
