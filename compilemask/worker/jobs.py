"""The three jobs of a worker. torch is loaded by the first of them that needs it, not at the start."""

from __future__ import annotations

from pathlib import Path

from compilemask.measure.progress import Progress
from compilemask.measure.report import CompileReport, TimingReport, ValidationReport
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.worker_protocol import Job, MaskInput, Run


def carry_out(run: Run, progress: Progress) -> ValidationReport | CompileReport | TimingReport:
    """Compile the mask of `run` and do its job.

    Raises:
        MaskFileError, UsageError, UnavailableError: as the stages do.
        Stopped: out of `progress`.
    """
    compiled = _compiled(run.mask)
    progress(0, 1, "loading torch")
    options = run.options
    if run.job is Job.VALIDATE:
        from compilemask.measure.validate import validate

        return validate(compiled, block_m=options.block_m, block_n=options.block_n, progress=progress)
    if run.job is Job.COMPILE:
        from compilemask.measure.compile_targets import compile_targets

        return compile_targets(compiled, options.targets, emit=options.emit, progress=progress)
    from compilemask.measure.timing import Setting, time_mask

    setting = Setting(options.batch, options.heads, options.head_dim, options.dtype)
    return time_mask(compiled, setting, progress=progress)


def _compiled(mask: MaskInput) -> CompiledMask:
    folder = Path(mask.folder) if mask.folder is not None else None
    return compile_text(mask.text, name=mask.name, folder=folder, params=dict(mask.parameters))
