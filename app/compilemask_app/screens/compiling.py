"""From the text of the design screen to its pictures: asks the compile thread and posts what comes of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from compilemask_app.jobs.compile_job import CompileRequest, CompileThread, Outcome
from compilemask_app.messages import MaskBroken, MaskReady, PictureReady
from compilemask_app.picture import MaskPicture, Picture

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore

PATIENCE_S = 0.25
"""How long a picture may lag behind the text before it is marked as old."""


class Compiling:
    """Compiles the newest text; what is shown of an older one is marked after a while."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self._thread: CompileThread | None = None

    def begin(self) -> None:
        """Start the thread, and compile the text as it stands."""
        self._thread = CompileThread(self._screen.app.services.compile, self._deliver)
        self.submit()

    def stop(self) -> None:
        """Begin nothing more."""
        if self._thread is not None:
            self._thread.stop()

    def drawn(self, revision: int) -> None:
        """The mask of a revision stands on the screen."""
        if self._thread is not None:
            self._thread.drawn(revision)

    def submit(self) -> None:
        """Compile the text as it stands now."""
        screen = self._screen
        document = screen.files.document
        if self._thread is not None:
            self._thread.submit(
                CompileRequest(
                    screen.revision, document.name, screen.text, document.folder, document.parameters, screen.choice
                )
            )
            screen.set_timer(PATIENCE_S, partial(self.mark_old, screen.revision))

    def mark_old(self, wanted: int) -> None:
        """Mark the maps while the picture of a revision that was asked for is not there."""
        for pane in self._screen.panes:
            pane.stale = pane.picture is not None and pane.picture.revision < wanted

    def _deliver(self, outcome: Outcome) -> None:
        """From the thread."""
        if isinstance(outcome, Picture):
            self._screen.post_message(PictureReady(outcome))
        elif isinstance(outcome, MaskPicture):
            self._screen.post_message(MaskReady(outcome))
        else:
            self._screen.post_message(MaskBroken(outcome.revision, outcome.diagnostics))
