"""`compilemask export`: a mask for other programs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import check_head, compiled_of
from compilemask.command_line.screen import remark
from compilemask.errors import UsageError
from compilemask.measure.export import dense


def run(arguments: Namespace) -> ExitCode:
    """Write one file."""
    output = Path(arguments.output)
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: the folder {output.parent} does not exist")
    compiled = compiled_of(arguments)
    check_head(compiled, arguments.batch, arguments.head)
    remark(dense.write(compiled, output, arguments.batch, arguments.head, every=arguments.all))
    return ExitCode.GOOD
