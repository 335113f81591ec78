"""The three jobs of a worker. torch is loaded by the first of them that needs it, not at the start."""

from __future__ import annotations

from pathlib import Path

from compilemask.errors import UnavailableError
from compilemask.measure.machine import gpu_name
from compilemask.measure.progress import Progress
from compilemask.measure.report import CompileReport, TimingReport, ValidationReport
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.worker_protocol import Job, MaskInput, Options, Run


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

        return compile_targets(
            compiled,
            options.targets,
            emit=options.emit,
            progress=progress,
            heads=options.heads,
            head_dim=options.head_dim,
            dtype=options.dtype,
        )
    return _timed(compiled, options, progress)


def _timed(compiled: CompiledMask, options: Options, progress: Progress) -> TimingReport:
    from compilemask.measure.timing import NO_GPU, Setting, time_mask
    from compilemask.measure.validate import validate

    if gpu_name() is None:
        raise UnavailableError(NO_GPU)
    proof = validate(compiled, progress=progress)
    setting = Setting(options.batch, options.heads, options.head_dim, options.dtype)
    return time_mask(compiled, setting, proof=proof, progress=progress)


def _compiled(mask: MaskInput) -> CompiledMask:
    folder = Path(mask.folder) if mask.folder is not None else None
    return compile_text(mask.text, name=mask.name, folder=folder, params=dict(mask.parameters))
