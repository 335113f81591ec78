"""The state of validate, compile and time: one line each, with progress while they run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from compilemask.job import Job


class Phase(Enum):
    """Where a job stands."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    GOOD = "good"
    BAD = "bad"
    UNABLE = "unable"


@dataclass(frozen=True, slots=True)
class JobState:
    """What to say of one job. `outdated`: it was done for an older text."""

    phase: Phase = Phase.IDLE
    text: str = ""
    done: int = 0
    total: int = 0
    outdated: bool = False


_MARKS = {
    Phase.IDLE: ("·", ""),
    Phase.WAITING: ("…", "accent"),
    Phase.RUNNING: ("▶", "accent"),
    Phase.GOOD: ("✓", "success"),
    Phase.BAD: ("✗", "error"),
    Phase.UNABLE: ("–", "warning"),
}
_OLD = ("~ old:", "warning")
"""In the place of the sign: a result of another text is neither green nor red, and no narrow line cuts it off."""

_KEYS = {Job.VALIDATE: "v", Job.COMPILE: "c", Job.TIME: "t"}
_HINTS = {
    Job.VALIDATE: "check against the dense reference",
    Job.COMPILE: "registers, memory and code for each target, GPU or not",
    Job.TIME: "time on this machine's GPU, next to its peers",
}
BAR = 16


class JobBar(Widget):
    """Three lines, one per job."""

    DEFAULT_CSS = "JobBar { height: 3; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    states: reactive[dict[Job, JobState]] = reactive(dict)

    def render(self) -> Text:
        """Key, name, mark, words."""
        text = Text(no_wrap=True, overflow="ellipsis")
        for job in Job:
            state = self.states.get(job, JobState())
            if job is not Job.VALIDATE:
                text.append("\n")
            self._line(text, job, state)
        return text

    def _line(self, text: Text, job: Job, state: JobState) -> None:
        colours = self.app.theme_variables
        old = state.outdated and state.phase in (Phase.GOOD, Phase.BAD)
        mark, colour = _OLD if old else _MARKS[state.phase]
        text.append(_KEYS[job], style=f"bold {colours.get('footer-key-foreground', '')}")
        text.append(f" {job.value:<9}", style="bold" if state.phase is not Phase.IDLE else "")
        text.append(f"{mark} ", style=colours.get(colour, "") if colour else "dim")
        if state.phase is Phase.RUNNING and state.total > 1:
            filled = min(BAR, state.done * BAR // state.total)
            text.append("━" * filled, style=colours.get("accent", ""))
            text.append("━" * (BAR - filled), style="dim")
            text.append(f" {state.done}/{state.total} ")
        words = state.text.splitlines()[0] if state.text else _HINTS[job] if state.phase is Phase.IDLE else ""
        text.append(words, style="dim" if state.phase is Phase.IDLE or old else "")
        if state.phase in (Phase.RUNNING, Phase.WAITING):
            text.append("   x cancels", style="dim")
