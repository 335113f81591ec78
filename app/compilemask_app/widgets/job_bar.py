"""The state of validate, compile and time: one line each, with progress while they run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rich.text import Text
from textual import events
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
    """What to say of one job, and the `short` of it in little room. `outdated`: it was done for an older text."""

    phase: Phase = Phase.IDLE
    text: str = ""
    done: int = 0
    total: int = 0
    outdated: bool = False
    short: str = ""


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
_MORE = {Job.VALIDATE: "V", Job.COMPILE: "i", Job.TIME: "h"}
_HINTS = {
    Job.VALIDATE: "do tiles and kernel do what the text says?",
    Job.COMPILE: "registers, memory and code for each target, GPU or not",
    Job.TIME: "time on this machine's GPU, next to its peers",
}
_WHY = {Job.VALIDATE: "V says why", Job.COMPILE: "i says why", Job.TIME: "h says why"}
AS_WRITTEN = "does what the text says"
"""What a validation proves: not that the text is the mask that its author means."""
MEANT = "whether the text is the mask that you mean, no check knows; k compares it with a mask you trust"
BAR = 16
NAMED_FROM = 50
"""Columns in which the names of the jobs stand beside their keys."""
WHOLE_FROM = 78
"""Columns in which a verdict, its caveat and what it is about stand in words."""
ENDING_FROM = 42
"""Columns in which the key for the rest has words beside it, as the verdict and its caveat come first."""


class JobBar(Widget):
    """Three lines, one per job."""

    DEFAULT_CSS = "JobBar { height: 3; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    states: reactive[dict[Job, JobState]] = reactive(dict)

    async def on_click(self, event: events.Click) -> None:
        """A click on a line is its key."""
        place = event.get_content_offset(self)
        if place is not None and place.y < len(Job):
            await self.run_action(f"screen.run_job('{list(Job)[place.y].value}')")

    def render(self) -> Text:
        """Key, name, mark, words."""
        width = self.content_size.width
        lines = [self._line(job, self.states.get(job, JobState()), width) for job in Job]
        return Text("\n").join(lines)

    def _line(self, job: Job, state: JobState, width: int) -> Text:
        colours = self.app.theme_variables
        done = state.phase in (Phase.GOOD, Phase.BAD)
        old = state.outdated and done
        mark, colour = _OLD if old else _MARKS[state.phase]
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(_KEYS[job], style=f"bold {colours.get('footer-key-foreground', '')}")
        name = f" {job.value:<9}" if width >= NAMED_FROM or state.phase is Phase.IDLE else " "
        text.append(name, style="bold" if state.phase is not Phase.IDLE else "")
        text.append(f"{mark} ", style=colours.get(colour, "") if colour else "dim")
        if state.phase is Phase.RUNNING and state.total > 1:
            filled = min(BAR, state.done * BAR // state.total)
            text.append("━" * filled, style=colours.get("accent", ""))
            text.append("━" * (BAR - filled), style="dim")
            text.append(f" {state.done}/{state.total} ")
        said = state.short if state.short and width < WHOLE_FROM and not old else state.text
        words = said.splitlines()[0] if said else _HINTS[job] if state.phase is Phase.IDLE else ""
        text.append(words, style="dim" if state.phase is Phase.IDLE or old else "")
        if state.phase in (Phase.RUNNING, Phase.WAITING):
            return _ending(text, "x cancels", width)
        if done:
            return _ending(text, f"{_MORE[job]} shows all", width, key_only=old)
        return _ending(text, _WHY[job], width) if state.phase is Phase.UNABLE else text


def _ending(text: Text, words: str, width: int, *, key_only: bool = False) -> Text:
    """The line with the words at its end, which stay where the line is cut; with `key_only` their key alone then."""
    gap = "   "
    if width < ENDING_FROM or (key_only and text.cell_len + len(gap + words) > width):
        gap, words = " ", words.partition(" ")[0]
    if width and text.cell_len + len(gap + words) > width:
        text.truncate(max(0, width - len(gap + words)), overflow="ellipsis")
    return text.append(gap + words, style="dim")
