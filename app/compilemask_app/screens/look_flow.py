"""From the design screen to the other screens: compare, read code, times, export, go to a cell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from compilemask.measure.export.forms import FORMS
from compilemask.measure.report import CompileReport, ValidationReport
from compilemask.worker_protocol import Job
from compilemask_app.jobs.exporting import export, snippet
from compilemask_app.picture import Picture
from compilemask_app.screens.compare_flow import CompareFlow
from compilemask_app.screens.dialogs import Prompt, TryPrompt
from compilemask_app.screens.figures_screen import Facts, FiguresScreen
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.screens.reader_screen import ReaderScreen
from compilemask_app.screens.times_screen import TimesScreen
from compilemask_app.widgets.cell_panel import CellPanel
from compilemask_app.widgets.job_bar import MEANT, Phase

if TYPE_CHECKING:
    from compilemask_app.screens.design_core import DesignCore

WITHOUT_A_GPU = """\
c compiles for each target without a GPU: registers, spills, code
to time on another machine's GPU: compilemask open --worker "ssh HOST compilemask worker\""""


class LookFlow:
    """Opens what looks at the mask in another way."""

    def __init__(self, screen: DesignCore) -> None:
        self._screen = screen
        self._comparing = CompareFlow(screen)

    async def compare(self) -> None:
        """Ask what to compare with, and show it."""
        await self._comparing.begin()

    def figures(self) -> None:
        """Everything in words, in full."""
        screen = self._screen
        picture = screen.picture
        if picture is None or picture.compiled is None:
            screen.notify("nothing to show yet: no text compiled so far")
            return
        facts = Facts(
            screen.files.document.name,
            f"{picture.query_length:,} × {picture.key_length:,}   {picture.density:.2%} visible",
            screen.query_one(CellPanel).words(),
            picture.figures,
            f"{picture.choice.block_m}×{picture.choice.block_n}",
            tuple((job.value, self._job_words(job)) for job in Job),
            snippet(picture.compiled, screen.files.document),
            picture.revision < screen.revision,
        )
        screen.app.push_screen(FiguresScreen(facts))

    def _job_words(self, job: Job) -> Text:
        """All that is said of a job: its state, and of a validation its notes."""
        board, fingerprint = self._screen.results.board, self._screen.results.fingerprint
        entry, state = board.entry(job), board.states(fingerprint)[job]
        if state.phase is Phase.IDLE:
            return Text(state.text or "not asked for yet", style="dim")
        done = state.phase in (Phase.GOOD, Phase.BAD)
        words = [("~ old, of an earlier text: " if state.outdated and done else "") + state.text]
        if isinstance(entry.report, ValidationReport) and done:
            words += [*([MEANT] if entry.report.passed else []), *entry.report.notes]
        return Text("\n".join(words))

    def proof(self) -> None:
        """The checks of the last validation."""
        screen = self._screen
        report = screen.results.board.entry(Job.VALIDATE).report
        if isinstance(report, ValidationReport):
            screen.app.push_screen(ProofScreen(report, outdated=self._is_old(Job.VALIDATE)))
        else:
            self._tell_why(Job.VALIDATE, "it is validating: V shows the checks once that is done", "v validates")

    def reader(self) -> None:
        """The listings of the last compilation."""
        report = self._screen.results.board.entry(Job.COMPILE).report
        if isinstance(report, CompileReport):
            self._screen.app.push_screen(ReaderScreen(report, outdated=self._is_old(Job.COMPILE)))
        else:
            self._tell_why(Job.COMPILE, "it is compiling: i shows the code once that is done", "c compiles")

    def _is_old(self, job: Job) -> bool:
        """Whether the last report of a job is of another text than the one on the screen."""
        results = self._screen.results
        return results.board.is_old(job, results.fingerprint)

    def _tell_why(self, job: Job, running: str, how: str) -> None:
        """Why there is no report yet; what went wrong in full, which its line may cut."""
        state = self._screen.results.board.entry(job).state
        if state.phase in (Phase.WAITING, Phase.RUNNING):
            self._screen.notify(running)
        elif state.phase in (Phase.BAD, Phase.UNABLE):
            self._screen.notify(state.text, title=job.value, severity="error", timeout=10, markup=False)
        else:
            self._screen.notify(f"nothing to show yet: {how}")

    def times(self) -> None:
        """The history of times, and in full what became of the last run, which its line may cut."""
        results = self._screen.results
        state = results.board.entry(Job.TIME).state
        told = state.text if state.phase in (Phase.BAD, Phase.UNABLE) else ""
        if state.phase is Phase.UNABLE:
            told += f"\n{WITHOUT_A_GPU}"
        note = told or ("" if state.phase is Phase.GOOD else "t takes them where there is a GPU")
        self._screen.app.push_screen(TimesScreen(self._screen.files.document.name, note, f"{results.fingerprint:016x}"))

    async def go_to_cell(self) -> None:
        """Ask for a query and a key."""
        screen = self._screen
        picture = screen.picture
        if picture is None:
            return
        here = f"{screen.view.query_cursor}, {screen.view.key_cursor}"
        prompt = Prompt("Go to cell", here, "query, key", check=lambda text: _cell(text, picture)[1])
        answer = await screen.app.ask(prompt)
        if answer:
            cell, _ = _cell(answer, picture)
            if cell is not None:
                screen.go_to_cell(*cell)

    async def export(self) -> None:
        """Ask for a file name and write it."""
        screen = self._screen
        picture = screen.picture
        if picture is None or picture.compiled is None:
            return
        start = str(screen.files.folder / f"{picture.name}.npy")
        compiled, document, choice = picture.compiled, screen.files.document, picture.choice
        said: list[str] = []

        def attempt(typed: str) -> None:
            said.append(export(compiled, Path(typed).expanduser(), document, choice.batch, choice.head))

        if await screen.app.ask(TryPrompt("Export", start, FORMS, attempt)) is not None:
            screen.notify(said[-1])


def _cell(text: str, picture: Picture) -> tuple[tuple[int, int] | None, str | None]:
    """(the cell, None) or (None, what is wrong)."""
    if re.search(r"[^\W\d]", text):
        return None, "numbers only: query, key"
    numbers = [int(part.replace(",", "").replace("_", "")) for part in re.findall(r"\d[\d_]*", text)]
    if len(numbers) != 2:
        return None, "expected two numbers: query, key"
    query, key = numbers
    if query >= picture.query_length or key >= picture.key_length:
        return None, f"queries run to {picture.query_length - 1:,}, keys to {picture.key_length - 1:,}"
    return (query, key), None
