"""The three jobs of a worker. torch is loaded by the first of them that needs it, not at the start."""

from __future__ import annotations

from pathlib import Path

from compilemask.measure.progress import Progress
from compilemask.measure.report import CompileReport, TimingReport, ValidationReport
from compilemask.worker_protocol import Job, MaskInput, Options, Run


def carry_out(run: Run, progress: Progress) -> ValidationReport | CompileReport | TimingReport:
    """Compile the mask of `run` and do its job.

    Raises:
        MaskFileError, UsageError, UnavailableError: as the stages do.
        Stopped: out of `progress`.
    """
    compiled = _compiled(run.mask)
    progress(0, 1, "loading torch")
    if run.job is Job.VALIDATE:
        return _validate(compiled, run.options, progress)
    if run.job is Job.COMPILE:
        return _compile(compiled, run.options, progress)
    return _time(compiled, run.options, progress)
