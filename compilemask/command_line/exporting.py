"""`compilemask export`: a mask for other programs."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from compilemask import library
from compilemask.command_line import streams
from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import check_head, compiled_of
from compilemask.command_line.settings import parameters_of
from compilemask.command_line.streams import remark
from compilemask.errors import UsageError
from compilemask.measure.export.forms import ENDINGS, contradicts, ending_of
from compilemask.measure.export.writing import FIGURES, Wanted, write


def run(arguments: Namespace) -> ExitCode:
    """Write one file and say what it holds."""
    output = Path(arguments.output)
    arguments.to = _form(output, arguments.to)
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: the folder {output.parent} does not exist")
    if output.exists() and Path(arguments.mask).exists() and output.samefile(arguments.mask):
        raise UsageError(f"-o {output}: this is the mask itself; expected another file")
    compiled = compiled_of(arguments)
    check_head(compiled, arguments.batch or 0, arguments.head or 0)
    blocks = (arguments.block_m, arguments.block_n)
    wanted = Wanted(
        arguments.to, arguments.batch, arguments.head, arguments.all, blocks, parameters_of(arguments),
        library.locate(arguments.mask).parent,
    )  # fmt: skip
    try:
        remark(write(compiled, output, arguments.mask, wanted))
    except BrokenPipeError:  # whoever reads has what they wanted
        streams.forget(sys.stdout)
    return ExitCode.GOOD


def _form(output: Path, wanted: str | None) -> str:
    """What is written: `--to` wins over the ending, and says so where they differ."""
    ending = ending_of(output.name)
    if wanted is not None:
        if contradicts(output.name, wanted) and wanted not in FIGURES:
            remark(f"-o {output}: {ending} is the ending of {ENDINGS[ending or '']}; written is {wanted}, as --to says")
        return wanted
    if ending is None:
        raise UsageError(f"-o {output}: the ending says no form ({', '.join(ENDINGS)} do); expected --to")
    return ENDINGS[ending]
