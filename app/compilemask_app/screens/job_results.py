"""What is known of validate, compile and time: a board of results for each document, open or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compilemask_app.job_board import JobBoard
from compilemask_app.widgets.job_bar import JobBar

if TYPE_CHECKING:
    from compilemask.job import Job
    from compilemask.worker_protocol import Reply
    from compilemask_app.document import Document
    from compilemask_app.screens.design_core import DesignCore


class JobResults:
    """Results stay with the document that they are about."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self._boards: dict[str, JobBoard] = {}

    @property
    def board(self) -> JobBoard:
        """What is known of the jobs of the document that is open."""
        return self._boards.get(self._screen.files.document.key, JobBoard())

    @board.setter
    def board(self, board: JobBoard) -> None:
        self._boards[self._screen.files.document.key] = board

    @property
    def fingerprint(self) -> int:
        """Of the text as it stands with the values given beside it: results of the same count, whenever they came.

        It is the same in every process, so that it can be kept with times.
        """
        from hashlib import blake2b

        whole = f"{self._screen.text}\0{self._screen.files.document.parameters!r}"
        return int.from_bytes(blake2b(whole.encode(errors="replace"), digest_size=8).digest())

    def carry(self, before: Document, after: Document) -> None:
        """A document has another place now; what is known of it is known there too."""
        if before.key in self._boards:
            self._boards[after.key] = self._boards[before.key]

    def numbered(self, job: Job, number: int) -> None:
        """The worker accepted the job that was asked for last, whatever document is open by now."""
        self._boards = {
            key: board.numbered(job, number) if board.awaits_number(job) else board
            for key, board in self._boards.items()
        }

    def text_of(self, number: int) -> int | None:
        """The fingerprint of the text that a run is about, while it runs."""
        entries = (entry for board in self._boards.values() for _, entry in board.entries)
        return next((entry.fingerprint for entry in entries if entry.number == number), None)

    def heard(self, reply: Reply) -> None:
        """Enter a reply on the board of the document that it is about, open or not."""
        self._boards = {key: board.heard(reply) for key, board in self._boards.items()}
        self.show()

    def lost(self, reason: str) -> None:
        """The worker is gone, and with it what it had not finished."""
        self._boards = {key: board.lost(reason) for key, board in self._boards.items()}
        self.show()

    def show(self) -> None:
        """The job bar as the board stands."""
        self._screen.query_one(JobBar).states = self.board.states(self.fingerprint)
