"""The compile thread: turns the newest text into a picture. Older requests that it has not begun are dropped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilemask.errors import CompileMaskError, MaskFileError
from compilemask.source import Diagnostic, Severity
from compilemask_app.picture import Choice, MaskPicture, Picture


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A text at a revision, and what of it is to be looked at."""

    revision: int
    name: str
    text: str
    folder: Path | None = None
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    choice: Choice = field(default_factory=Choice)


@dataclass(frozen=True, slots=True)
class Broken:
    """The text does not compile."""

    revision: int
    diagnostics: tuple[Diagnostic, ...]


Outcome = MaskPicture | Broken
"""A `MaskPicture` that is no `Picture` yet is followed by its whole, unless a newer text overtakes it."""
Compile = Callable[[CompileRequest], Outcome]

DRAWN_S = 0.15
"""So long its tiles wait at most for a mask that was delivered to be drawn."""


class CompileThread:
    """One thread, one place for the newest request. `deliver` is called in that thread, first with the mask, then with
    the whole picture if `tiles` are wanted.
    """

    def __init__(self, work: Compile, deliver: Callable[[Outcome], None], *, tiles: bool = True) -> None:
        self._work = work
        self._tiles = tiles
        self._deliver = deliver
        self._wanted: CompileRequest | None = None
        self._stopped = False
        self._drawn = -1
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._loop, name="compile", daemon=True)
        self._thread.start()

    def submit(self, request: CompileRequest) -> None:
        """Ask for a picture; replaces a request that was not begun."""
        with self._change:
            self._wanted = request
            self._change.notify()

    def drawn(self, revision: int) -> None:
        """The mask of this revision stands on the screen: its tiles may be made."""
        with self._change:
            self._drawn = max(self._drawn, revision)
            self._change.notify()

    def stop(self) -> None:
        """Begin nothing more."""
        with self._change:
            self._stopped = True
            self._change.notify()

    def _loop(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._wanted is not None or self._stopped)
                if self._stopped:
                    return
                request, self._wanted = self._wanted, None
            if request is None:
                continue
            outcome = guarded(self._work, request)
            self._hand_over(outcome)
            if self._tiles and isinstance(outcome, MaskPicture):
                self._finish(outcome, request)

    def _finish(self, mask: MaskPicture, request: CompileRequest) -> None:
        """The rest of the picture, once the mask is drawn: two threads at it would be slower than one after another."""
        if isinstance(mask, Picture):
            return
        with self._change:
            self._change.wait_for(lambda: self._overtaken_or_drawn(mask), DRAWN_S)
            overtaken = self._wanted is not None or self._stopped
        if not overtaken:
            self._hand_over(guarded(lambda _: mask.whole(), request))

    def _overtaken_or_drawn(self, mask: MaskPicture) -> bool:
        return self._wanted is not None or self._stopped or self._drawn >= mask.revision

    def _hand_over(self, outcome: Outcome) -> None:
        if not self._stopped and not (isinstance(outcome, Broken) and self._overtaken(outcome)):
            self._deliver(outcome)

    def _overtaken(self, outcome: Outcome) -> bool:
        """Whether a newer text waits, or the end has come."""
        with self._change:
            return self._stopped or (self._wanted is not None and self._wanted.revision > outcome.revision)


def guarded(work: Compile, request: CompileRequest) -> Outcome:
    """Do the work; whatever goes wrong becomes findings, so that the thread lives on."""
    started = time.perf_counter()
    try:
        return work(request)
    except MaskFileError as error:
        return Broken(request.revision, error.diagnostics)
    except CompileMaskError as error:
        return Broken(request.revision, (Diagnostic(Severity.ERROR, "usage", str(error)),))
    except MemoryError:
        return Broken(
            request.revision, (Diagnostic(Severity.ERROR, "memory", "this mask needs more memory than there is"),)
        )
    except Exception as error:
        elapsed = time.perf_counter() - started
        message = f"this is our bug, not yours: {type(error).__name__}: {error} (after {elapsed:.1f} s)"
        return Broken(request.revision, (Diagnostic(Severity.ERROR, "bug", message),))
