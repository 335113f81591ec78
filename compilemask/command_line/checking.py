"""`compilemask check`: every finding of every file."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask import library
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import remark, rendered, say, say_json
from compilemask.command_line.settings import parameters_of
from compilemask.errors import MaskFileError, UsageError
from compilemask.pipeline import compile as compile_mask
from compilemask.source import Diagnostic, Severity

MISSING = "no-file"


def run(arguments: Namespace) -> ExitCode:
    """Check all files before judging; exit 1 if one of them is invalid, 2 if one is not there."""
    params = parameters_of(arguments)
    results = [(name, _findings(name, params)) for name in arguments.files]
    valid = [all(item.severity is not Severity.ERROR for item in found) for _, found in results]
    if arguments.json:
        files = [
            {"file": name, "valid": good, "diagnostics": [_json(item) for item in found]}
            for (name, found), good in zip(results, valid, strict=True)
        ]
        say_json(files)
    else:
        for (name, found), good in zip(results, valid, strict=True):
            if found:
                remark(rendered(found, name))
            say(f"{name}: {'valid' if good else 'invalid'}{_counts(found)}")
    if any(item.code == MISSING for _, found in results for item in found):
        return ExitCode.WRONG_USE
    return ExitCode.GOOD if all(valid) else ExitCode.NO


def _findings(name: str, params: dict[str, Any]) -> tuple[Diagnostic, ...]:
    try:
        library.locate(name)
    except UsageError as error:
        return (Diagnostic(Severity.ERROR, MISSING, str(error)),)
    try:
        return compile_mask(name, params=params).diagnostics
    except MaskFileError as error:
        return error.diagnostics


def _counts(found: tuple[Diagnostic, ...]) -> str:
    counts = [(severity.value, sum(item.severity is severity for item in found)) for severity in Severity]
    words = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts if count]
    return f" ({', '.join(words)})" if words else ""


def _json(item: Diagnostic) -> dict[str, Any]:
    span = item.span
    return {
        "severity": item.severity.value,
        "code": item.code,
        "message": item.message,
        "hint": item.hint,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
    }
