"""What is known of validate, compile and time: states for the job bar, reports for the other screens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from compilemask.job import Job
from compilemask_app.widgets.job_bar import AS_WRITTEN, JobState, Phase

if TYPE_CHECKING:
    from compilemask.measure.report import CompileReport, TargetReport, TimingReport, ValidationReport
    from compilemask.worker_protocol import Failed, Reply

    Report = ValidationReport | CompileReport | TimingReport


@dataclass(frozen=True, slots=True)
class Entry:
    """One job: its state, the fingerprint of the text it was asked for, and the last report with that of its own text.

    A run that was cancelled or failed leaves the report of the run before it, which may be of an older text.
    """

    state: JobState = field(default_factory=JobState)
    number: int | None = None
    fingerprint: int = -1
    report: Report | None = None
    reported: int = -1


@dataclass(frozen=True, slots=True)
class JobBoard:
    """All jobs of one mask."""

    entries: tuple[tuple[Job, Entry], ...] = tuple((job, Entry()) for job in Job)

    def entry(self, job: Job) -> Entry:
        """What is known of one job."""
        return dict(self.entries)[job]

    def states(self, fingerprint: int) -> dict[Job, JobState]:
        """For the job bar; results of other texts are marked."""
        return {job: replace(entry.state, outdated=entry.fingerprint != fingerprint) for job, entry in self.entries}

    def is_old(self, job: Job, fingerprint: int) -> bool:
        """Whether the last report is of another text."""
        entry = self.entry(job)
        return entry.report is not None and entry.reported != fingerprint

    def asked(self, job: Job, fingerprint: int) -> JobBoard:
        """The job was asked for; its number is not known yet."""
        state = JobState(Phase.WAITING, "waiting for the worker")
        return self._with(job, replace(self.entry(job), state=state, fingerprint=fingerprint, number=None))

    def numbered(self, job: Job, number: int) -> JobBoard:
        """The worker accepted it under this number."""
        return self._with(job, replace(self.entry(job), number=number))

    def awaits_number(self, job: Job) -> bool:
        """Whether the job was asked for and the worker has not accepted it yet."""
        entry = self.entry(job)
        return entry.state.phase is Phase.WAITING and entry.number is None

    def busy(self) -> bool:
        """Whether any job waits or runs."""
        return any(entry.state.phase in (Phase.WAITING, Phase.RUNNING) for _, entry in self.entries)

    def heard(self, reply: Reply) -> JobBoard:
        """After a reply; replies about unknown numbers change nothing."""
        from compilemask.worker_protocol import Cancelled, Done, Hello, Progress, Trouble

        if isinstance(reply, Hello):
            return self
        job = next((job for job, entry in self.entries if entry.number == reply.id and reply.id is not None), None)
        if job is None:
            return self
        entry = self.entry(job)
        if isinstance(reply, Progress):
            return self._with(job, replace(entry, state=JobState(Phase.RUNNING, reply.text, reply.done, reply.total)))
        if isinstance(reply, Done):
            done = replace(entry, state=_finished(reply.report), number=None, report=reply.report)
            return self._with(job, replace(done, reported=entry.fingerprint))
        if isinstance(reply, Cancelled):
            return self._with(job, replace(entry, state=JobState(Phase.IDLE, "cancelled"), number=None))
        phase = Phase.UNABLE if reply.trouble is Trouble.UNAVAILABLE else Phase.BAD
        return self._with(job, replace(entry, state=JobState(phase, _told(reply)), number=None))

    def lost(self, reason: str) -> JobBoard:
        """The worker is gone; what it did not finish has failed, what it finished stays."""
        board = self
        for job, entry in self.entries:
            if entry.state.phase in (Phase.WAITING, Phase.RUNNING):
                board = board._with(job, replace(entry, state=JobState(Phase.BAD, reason), number=None))
        return board

    def _with(self, job: Job, entry: Entry) -> JobBoard:
        return JobBoard(tuple((other, entry if other is job else old) for other, old in self.entries))


def _told(reply: Failed) -> str:
    from compilemask.worker_protocol import Trouble

    return f"our bug: {reply.text}" if reply.trouble is Trouble.INTERNAL else reply.text


def _finished(report: Report) -> JobState:
    from compilemask.measure.report import CompileReport, ValidationReport

    if isinstance(report, ValidationReport):
        return _validated(report)
    if isinstance(report, CompileReport):
        return _compiled(report)
    return _timed(report)


def _validated(report: ValidationReport) -> JobState:
    from compilemask.measure.report import Outcome

    checks = len([check for check in report.checks if check.outcome is not Outcome.SKIPPED])
    if report.passed:
        worst = report.worst_of_budget
        budget = f", error ≤ {worst:.2f} of budget" if worst is not None else ""
        words = f"{report.verdict}: {AS_WRITTEN}, {checks} checks{budget}, {report.seconds:.1f} s, {report.machine}"
        short = f"as written: {', '.join(report.limits)}" if report.limits else "as written"
        return JobState(Phase.GOOD, words, short=short)
    failed = [check.name for check in report.checks if check.outcome is Outcome.FAIL]
    wrong = report.first_wrong
    if wrong is None:
        return JobState(Phase.BAD, f"wrong: {', '.join(failed)}" if failed else "nothing could be checked")
    key = f", key {wrong.key:,}" if wrong.key >= 0 else ""
    cell = f"query {wrong.query:,}{key}: expected {wrong.expected}, found {wrong.found}"
    return JobState(Phase.BAD, f"{cell} ({', '.join(failed)})")


def _compiled(report: CompileReport) -> JobState:
    shown = _main_kernels(report)
    parts = [f"{target.target} failed: {target.error.splitlines()[0]}" for target in shown if target.error is not None]
    built = [target for target in shown if target.error is None]
    if built:
        # Registers of all targets come first, as a narrow line may cut the rest.
        parts.append("registers " + ", ".join(_registers(target) for target in built))
        parts.append("shared memory " + ", ".join(f"{target.shared_bytes / 1024:.0f}" for target in built) + " KiB")
    return JobState(Phase.GOOD if report.passed else Phase.BAD, "   ".join(parts))


def _registers(target: TargetReport) -> str:
    spills = f" and {target.spills} B spilled" if target.spills else ""
    return f"{target.target} {target.registers}{spills}"


def _main_kernels(report: CompileReport) -> list[TargetReport]:
    """The first kernel of each target, and every kernel that failed."""
    first: dict[str, TargetReport] = {}
    for target in report.targets:
        first.setdefault(target.target, target)
    failed = [target for target in report.targets if target.error is not None]
    return [*first.values(), *(target for target in failed if first[target.target] is not target)]


def _timed(report: TimingReport) -> JobState:
    parts = []
    for entry in report.entries:
        if entry.forward_ms is not None:
            speed = f" {entry.useful_tflops:,.0f} TFLOP/s" if entry.useful_tflops is not None else ""
            ratio = f" ({entry.ratio:.2f}×)" if entry.ratio is not None and entry is not report.entries[0] else ""
            parts.append(f"{entry.what} {entry.forward_ms:.3f} ms{speed}{ratio}")
    return JobState(Phase.GOOD if parts else Phase.BAD, "   ".join(parts) or "no figure")
