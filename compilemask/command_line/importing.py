"""`compilemask import`: a mask file from another program's array."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.screen import remark
from compilemask.errors import UsageError
from compilemask.imports import EXPECTED, Form, guess, imported, read_array, write


def run(arguments: Namespace) -> ExitCode:
    """Write the mask file, and a data file beside it where the numbers are many."""
    source, output = Path(arguments.file), Path(arguments.output)
    if output.suffix != ".mask":
        raise UsageError(f"-o {output}: expected a name that ends in .mask")
    array = read_array(source)
    form = Form(arguments.form) if arguments.form else guess(array)
    if form is None:
        known = "\n".join(f"  {form.value}: {EXPECTED[form]}" for form in Form)
        raise UsageError(f"{source} holds {array.dtype} {list(array.shape)}, which is none of\n{known}")
    try:
        mask = imported(array, form, output.stem, causal=arguments.causal, length=arguments.length)
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from None
    for path in write(mask, output):
        remark(f"wrote {path}")
    return ExitCode.GOOD
