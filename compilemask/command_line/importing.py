"""`compilemask import`: a mask file from another program's array."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from pathlib import Path

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.streams import remark
from compilemask.errors import MaskFileError, UsageError
from compilemask.imports import EXPECTED, Form, Imported, guess, hidden_value, imported, read_array, write
from compilemask.pipeline import compile as compile_mask


def run(arguments: Namespace) -> ExitCode:
    """Write the mask file, and a data file beside it where the numbers are many."""
    source, output = Path(arguments.file), Path(arguments.output)
    if output.suffix != ".mask":
        raise UsageError(f"-o {output}: expected a name that ends in .mask")
    array = read_array(source)
    form = Form(arguments.form) if arguments.form else guess(array)
    if form is None:
        known = "\n".join(f"  {form.value}: {EXPECTED[form]}" for form in Form)
        axes = "\n  of heads make four axes by `x[None]`, of samples by `x[:, None]`" if array.ndim == 3 else ""
        raise UsageError(f"{source} holds {array.dtype} {list(array.shape)}, which is none of\n{known}{axes}")
    try:
        mask = imported(array, form, output.stem, causal=arguments.causal, length=arguments.length)
        _try(mask, output.name)
        hidden = hidden_value(array)
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from None
    if hidden is not None:
        remark(additive(source, hidden))
    for path in write(mask, output):
        remark(f"wrote {path}")
    return ExitCode.GOOD


def additive(path: Path, hidden: float) -> str:
    """How an array of floats was read."""
    return f"{path}: a mask to add, read as 0 = visible, {hidden:.6g} = hidden"


def _try(mask: Imported, name: str) -> None:
    """Compile the mask where nobody looks, so that nothing is written that could not be read back.

    Raises:
        UsageError: the text or its data file breaks a limit; the first error says which.
    """
    with tempfile.TemporaryDirectory(prefix="compilemask-import-") as folder:
        path = Path(folder) / name
        write(mask, path)
        try:
            compile_mask(path)
        except MaskFileError as error:
            first = error.diagnostics[0]
            raise UsageError(f"not imported, its mask file would be refused: {first.code}: {first.message}") from None
