"""`compilemask time`: the kernel beside what people would otherwise use."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import compiled_of
from compilemask.command_line.screen import progress_line, say_json
from compilemask.command_line.validating import validation_json
from compilemask.command_line.views import timing_table, validation_table
from compilemask.errors import UnavailableError
from compilemask.measure.machine import gpu_name
from compilemask.measure.report import TimingReport

NOT_TIMED = "validation failed, so nothing was timed"


def run(arguments: Namespace) -> ExitCode:
    """Validate, then time; exit 3 without a GPU, 1 while validation is red."""
    from compilemask.measure.timing import NO_GPU, Setting, time_mask

    if gpu_name() is None:
        raise UnavailableError(NO_GPU)
    from compilemask.measure.validate import validate

    compiled = compiled_of(arguments)
    with progress_line() as progress:
        proof = validate(compiled, progress=progress)
        if proof.passed:
            setting = Setting(arguments.batch_size, arguments.heads, arguments.head_dim, arguments.dtype)
            report = time_mask(compiled, setting, proof=proof, progress=progress)
    if not proof.passed:
        if arguments.json:
            say_json({"name": proof.mask, "error": NOT_TIMED, "validation": validation_json(proof)})
        else:
            validation_table(proof)
        return ExitCode.NO
    if arguments.json:
        say_json(timing_json(report))
    else:
        timing_table(report)
    return ExitCode.GOOD


def timing_json(report: TimingReport) -> dict[str, Any]:
    """The object of `time --json`."""
    return {
        "name": report.mask,
        "gpu": report.gpu,
        "batch": report.batch,
        "heads": report.heads,
        "head_dim": report.head_dim,
        "dtype": report.dtype,
        "query_length": report.query_length,
        "key_length": report.key_length,
        "entries": [
            {
                "what": entry.what,
                "forward_ms": entry.forward_ms,
                "spread": entry.spread,
                "useful_tflops": entry.useful_tflops,
                "executed_tflops": entry.executed_tflops,
                "ratio": entry.ratio,
                "note": entry.note,
            }
            for entry in report.entries
        ],
    }
