"""`compilemask validate`: the mask and its kernel against slow references."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import compiled_of
from compilemask.command_line.screen import progress_line, say_json
from compilemask.command_line.views import validation_table
from compilemask.measure.report import Check, ValidationReport, WrongCell


def run(arguments: Namespace) -> ExitCode:
    """Run every check; exit 1 if one is red."""
    from compilemask.measure.validate import validate

    compiled = compiled_of(arguments)
    with progress_line() as progress:
        report = validate(compiled, block_m=arguments.block_m, block_n=arguments.block_n, progress=progress)
    if arguments.json:
        say_json(validation_json(report))
    else:
        validation_table(report)
    return ExitCode.GOOD if report.passed else ExitCode.NO


def validation_json(report: ValidationReport) -> dict[str, Any]:
    """The object of `validate --json`."""
    return {
        "name": report.mask,
        "query_length": report.query_length,
        "key_length": report.key_length,
        "machine": report.machine,
        "passed": report.passed,
        "limits": list(report.limits),
        "worst_of_budget": report.worst_of_budget,
        "checks": [_check(check) for check in report.checks],
        "notes": list(report.notes),
        "seconds": report.seconds,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "outcome": check.outcome.value,
        "scope": check.scope,
        "of_budget": check.of_budget,
        "largest_error": check.largest_error,
        "largest_allowed": check.largest_allowed,
        "precision": check.precision,
        "wrong_cells": check.wrong_cells,
        "first_wrong": None if check.first_wrong is None else _cell(check.first_wrong),
    }


def _cell(cell: WrongCell) -> dict[str, Any]:
    return {
        "batch": cell.batch,
        "head": cell.head,
        "query": cell.query if cell.query >= 0 else None,
        "key": cell.key if cell.key >= 0 else None,
        "query_region": cell.query_region,
        "key_region": cell.key_region,
        "tile": list(cell.tile),
        "expected": cell.expected,
        "found": cell.found,
    }
