"""`compilemask export`: a mask for other programs."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.masks import check_head, compiled_of
from compilemask.command_line.screen import remark
from compilemask.command_line.settings import parameters_of
from compilemask.errors import UsageError
from compilemask.measure.export.forms import ENDINGS, contradicts, ending_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from compilemask.pipeline import CompiledMask

FIGURES = ("png", "svg", "pdf")


def run(arguments: Namespace) -> ExitCode:
    """Write one file and say what it holds."""
    output = Path(arguments.output)
    arguments.to = _form(output, arguments.to)
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: the folder {output.parent} does not exist")
    compiled = compiled_of(arguments)
    check_head(compiled, arguments.batch, arguments.head)
    if arguments.to == "dense":
        from compilemask.measure.export import dense

        remark(dense.write(compiled, output, arguments.batch, arguments.head, every=arguments.all))
    elif arguments.to in FIGURES:
        _write_figure(compiled, output, arguments)
    elif arguments.to in ("cudnn", "flashmask"):
        _write_endpoints(compiled, output, arguments.to)
    else:
        _write_python(compiled, output, arguments)
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


def _write_figure(compiled: CompiledMask, output: Path, arguments: Namespace) -> None:
    from compilemask.measure.export import figure

    if output.suffix.lower() != f".{arguments.to}":
        raise UsageError(f"-o {output}: expected a name that ends in .{arguments.to}")
    if not compiled.query_length or not compiled.key_length:
        raise UsageError(f"{compiled.name} has no cells, so there is nothing to draw")
    figure.write(compiled, output, arguments.batch, arguments.head)
    remark(f"wrote {output}")


def _write_endpoints(compiled: CompiledMask, output: Path, form: str) -> None:
    import numpy as np

    from compilemask.measure.export import endpoints

    make = endpoints.cudnn_mask_func if form == "cudnn" else endpoints.flashmask_indices
    values: NDArray[Any] = make(compiled)
    with output.open("wb") as file:
        np.save(file, values)
    remark(f"wrote {output}: int32 {list(values.shape)}")


def _write_python(compiled: CompiledMask, output: Path, arguments: Namespace) -> None:
    from compilemask.measure.export import snippets

    if arguments.to == "flex":
        text = snippets.flex_module(compiled)
    else:
        text = snippets.python_snippet(compiled, arguments.mask, parameters_of(arguments))
    output.write_text(text, encoding="utf-8")
    remark(f"wrote {output}")
