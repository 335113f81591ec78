"""`compilemask check`: every finding of every file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from compilemask import library
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import rendered, say, say_json
from compilemask.command_line.settings import parameters_of
from compilemask.command_line.streams import remark
from compilemask.errors import MaskFileError, UsageError
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline.memory import keep_freed_memory
from compilemask.source import Diagnostic, Severity

MISSING = "no-file"
UNREADABLE = "unreadable-file"


def run(arguments: Namespace) -> ExitCode:
    """Check all files before judging; exit 1 if one of them is invalid, 2 if one is not there or no text."""
    keep_freed_memory()
    params = parameters_of(arguments)
    results = [(name, _findings(name, params)) for name in arguments.files]
    valid = [_valid(found) for _, found in results]
    if arguments.json:
        say_json([findings_json(name, found) for name, found in results])
    else:
        for (name, found), good in zip(results, valid, strict=True):
            if found:
                remark(rendered(found, name))
            say(f"{name}: {'valid' if good else 'invalid'}{_counts(found)}")
    if any(item.code in (MISSING, UNREADABLE) for _, found in results for item in found):
        return ExitCode.WRONG_USE
    return ExitCode.GOOD if all(valid) else ExitCode.NO


def findings_json(name: str, found: Sequence[Diagnostic]) -> dict[str, Any]:
    """What `check --json` says of one file, and the other verbs' `--json` of a mask that is invalid."""
    return {"file": name, "valid": _valid(found), "diagnostics": [_json(item) for item in found]}


def _valid(found: Sequence[Diagnostic]) -> bool:
    return all(item.severity is not Severity.ERROR for item in found)


def _findings(name: str, params: dict[str, Any]) -> tuple[Diagnostic, ...]:
    try:
        library.locate(name)
    except UsageError as error:
        return (_of_file(name, MISSING, str(error)),)
    try:
        return compile_mask(name, params=params).diagnostics
    except MaskFileError as error:
        return error.diagnostics
    except UsageError as error:
        return (_of_file(name, UNREADABLE, str(error)),)


def _of_file(name: str, code: str, text: str) -> Diagnostic:
    """An error about the whole file, whose name stands before it anyway."""
    return Diagnostic(Severity.ERROR, code, text.removeprefix(name).lstrip(": "))


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
