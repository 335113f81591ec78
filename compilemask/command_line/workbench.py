"""`compilemask open`, and no verb at all: the workbench; without a terminal, the whole report as text."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.errors import MaskFileError

if TYPE_CHECKING:
    from pathlib import Path

    from compilemask.language.syntax import File

FIRST_MASK = "shared_prompt_rm"
REPORTED_TARGETS = ("sm_80", "sm_90", "sm_100")


def run(arguments: Namespace) -> int:
    """Open the workbench where there is a terminal, else print the report."""
    arguments.mask = arguments.mask or FIRST_MASK
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _open(arguments)
    return _report(arguments)


def _open(arguments: Namespace) -> int:
    from compilemask_app.main import open_workbench

    from compilemask.command_line.settings import parameters_of

    parameters = parameters_of(arguments)
    if parameters:
        _check_settings(arguments.mask, parameters)
    return open_workbench(arguments.mask, parameters, arguments.worker)


def _check_settings(mask: str, parameters: dict[str, Any]) -> None:
    """Refuse settings that the mask can't take; a mask with errors of its own opens, to be mended there.

    Raises:
        MaskFileError: a parameter does not exist, or the mask is invalid with these values only.
        UsageError: there is no such mask.
    """
    from compilemask_app.document import first_document

    from compilemask.language.binder import bind
    from compilemask.language.parser import parse
    from compilemask.source import Source

    document = first_document(mask)
    try:
        file = parse(Source(str(document.path or document.name), document.text))
    except MaskFileError:
        return
    try:
        bind(file, parameters, folder=document.folder)
    except MaskFileError as error:
        if _to_blame(error) or _binds(file, document.folder):
            raise


def _to_blame(error: MaskFileError) -> bool:
    return any(item.code in ("unknown-parameter", "parameter-value") for item in error.diagnostics)


def _binds(file: File, folder: Path | None) -> bool:
    from compilemask.language.binder import bind

    try:
        bind(file, folder=folder)
    except MaskFileError:
        return False
    return True


def _report(arguments: Namespace) -> int:
    from compilemask.command_line.compiling import NO_TRITON
    from compilemask.command_line.masks import compiled_of
    from compilemask.command_line.screen import progress_line, say, width
    from compilemask.command_line.showing import COMFORTABLE_WIDTH, show
    from compilemask.command_line.views import compile_table, validation_table

    compiled = compiled_of(arguments)
    show(compiled, drawn=min(width(), COMFORTABLE_WIDTH))
    from compilemask.measure.compile_targets import compile_targets
    from compilemask.measure.machine import has_triton
    from compilemask.measure.validate import validate

    with progress_line() as progress:
        proof = validate(compiled, progress=progress)
    say()
    validation_table(proof)
    if not has_triton():
        say(NO_TRITON)
        return ExitCode.GOOD if proof.passed else ExitCode.NO
    with progress_line() as progress:
        built = compile_targets(compiled, REPORTED_TARGETS, directions=("forward",), progress=progress)
    say()
    compile_table(built)
    return ExitCode.GOOD if proof.passed and built.passed else ExitCode.NO
