"""The compiling process: a request as JSON on stdin, a report per line on stdout, `done <target>` after each target."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback

from compilemask.measure.compile_targets_request import CompileRequest, failed_report, report_to_json
from compilemask.measure.report import Listing, TargetReport


def main() -> None:
    request = CompileRequest.from_json(sys.stdin.read())
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # compilers print to stdout what is no answer
    for target in request.targets:
        for report in compile_for(target, request):
            answers.write(report_to_json(report) + "\n")
        answers.write(f"done {target}\n")


def compile_for(target: str, request: CompileRequest) -> list[TargetReport]:
    """Every kernel that a forward and backward call launches on `target`."""
    from compilemask.measure.compile_targets_launches import launches
    from compilemask.measure.compile_targets_recording import recording

    capability = int(target.removeprefix("sm_"))
    reports = []
    for launch in launches(capability, request):
        try:
            with recording(capability) as found:
                launch.call()
            reports += [_report(target, kernel, request.emit) for kernel in found.kernels]
        except Exception as problem:  # whatever a compiler raises becomes the target's one line
            traceback.print_exc()
            reports.append(failed_report(target, launch.name, f"{type(problem).__name__}: {problem}"))
    return reports


def _report(target: str, kernel: object, emit: tuple[str, ...]) -> TargetReport:
    from compilemask.measure.compile_targets_assembly import count_instructions, disassemble, resources
    from compilemask.measure.compile_targets_recording import Compiled

    assert isinstance(kernel, Compiled)
    cubin, ptx = kernel.stages["cubin"], kernel.stages["ptx"]
    assert isinstance(cubin, bytes)
    assert isinstance(ptx, str)
    warnings: tuple[str, ...] = ()
    try:
        sass = disassemble(cubin)
    except (OSError, subprocess.SubprocessError) as problem:
        sass, warnings = "", (f"no assembly: {problem}",)
    used = resources(cubin)
    if used.stack_bytes:
        warnings += (f"{used.stack_bytes} bytes of stack per thread: registers are spilled to memory",)
    texts = {**{name: text for name, text in kernel.stages.items() if isinstance(text, str)}, "sass": sass}
    return TargetReport(
        target=target,
        kernel=kernel.kernel,
        registers=used.registers,
        spills=used.stack_bytes,
        shared_bytes=kernel.shared_bytes,
        tensor_memory=kernel.tensor_memory,
        instructions=count_instructions(ptx, sass),
        compile_s=round(kernel.seconds, 3),
        warnings=warnings,
        listings=tuple(Listing(name, texts[name]) for name in emit),
    )


if __name__ == "__main__":
    main()
