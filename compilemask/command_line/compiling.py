"""`compilemask compile`: the kernel of a mask for GPUs that need not be here."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask.command_line.arguments import DIRECTIONS
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import compiled_of
from compilemask.command_line.screen import progress_line, say, say_json
from compilemask.command_line.views import compile_table
from compilemask.errors import UnavailableError
from compilemask.measure.machine import has_triton
from compilemask.measure.report import CompileReport, TargetReport

NO_TRITON = "Triton is not installed on this machine, so nothing can be compiled; it exists for Linux only"


def run(arguments: Namespace) -> ExitCode:
    """Compile for every target; exit 1 if one of them fails."""
    from compilemask.measure.compile_targets import compile_targets

    if not has_triton():
        raise UnavailableError(NO_TRITON)
    compiled = compiled_of(arguments)
    emit = (arguments.emit,) if arguments.emit else ()
    with progress_line() as progress:
        report = compile_targets(
            compiled,
            tuple(arguments.target or ()),
            head_dim=arguments.head_dim,
            dtype=arguments.dtype,
            emit=emit,
            directions=tuple(arguments.direction or DIRECTIONS),
            progress=progress,
        )
    if arguments.json:
        say_json(compile_json(report))
    elif arguments.emit:
        _print_listings(report)
    else:
        compile_table(report)
    return ExitCode.GOOD if report.passed else ExitCode.NO


def _print_listings(report: CompileReport) -> None:
    for target in report.targets:
        for listing in target.listings:
            say(listing.text.rstrip("\n"))


def compile_json(report: CompileReport) -> dict[str, Any]:
    """The object of `compile --json`."""
    return {"name": report.mask, "targets": [_target(target) for target in report.targets]}


def _target(target: TargetReport) -> dict[str, Any]:
    return {
        "target": target.target,
        "kernel": target.kernel,
        "registers": target.registers,
        "spills": target.spills,
        "shared_bytes": target.shared_bytes,
        "tensor_memory": target.tensor_memory,
        "instructions": {item.name: item.count for item in target.instructions},
        "compile_s": target.compile_s,
        "warnings": list(target.warnings),
        "error": target.error,
        "listings": {listing.language: listing.text for listing in target.listings},
    }
