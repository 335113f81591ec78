"""Writes a compiled mask in any of the forms, for the command line and the workbench alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilemask.errors import UsageError
from compilemask.files import replacing, write_in_one_step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compilemask.pipeline import CompiledMask

FIGURES = ("png", "svg", "pdf")
_HOLDS = dict.fromkeys(("flashmask", "flex", "python"), "holds every sample and head as it is")
_HOLDS |= {"cudnn": "holds one sample with every head", **dict.fromkeys(FIGURES, "shows one sample and head")}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written: the form, and which samples and heads; None: as many as the form can hold."""

    form: str  # dense, cudnn, flashmask, flex, python, png, svg or pdf
    batch: int | None = None
    head: int | None = None
    every: bool = False  # dense: [batch, head, query, key]
    blocks: tuple[int | None, int | None] = (None, None)  # flex: queries and keys of a tile
    parameters: Mapping[str, Any] = field(default_factory=dict)  # python: what the mask was compiled with
    folder: Path | None = None  # python: where the mask's file looks for others


def write(compiled: CompiledMask, output: Path, mask: str, wanted: Wanted) -> str:
    """Write one file in one step and say what it holds. `mask` is the path or library name for a Python snippet.

    Raises:
        UsageError: the form can't hold what is wanted; nothing is written then.
        OSError: the file can't be written.
    """
    _check(compiled, wanted)
    if wanted.form == "dense":
        from compilemask.measure.export import dense

        said = dense.write(compiled, output, wanted.batch or 0, wanted.head or 0, every=wanted.every)
        return said if wanted.every else said + _which(compiled, wanted.batch or 0, wanted.head or 0)
    if wanted.form in FIGURES:
        return _write_figure(compiled, output, wanted)
    if wanted.form in ("cudnn", "flashmask"):
        return _write_endpoints(compiled, output, wanted)
    return _write_python(compiled, output, mask, wanted)


def _check(compiled: CompiledMask, wanted: Wanted) -> None:
    """Refuse what the form has no use for, so that nothing that was asked for is left out without a word."""
    chosen = wanted.batch is not None or wanted.head is not None
    compiled.number_of(wanted.batch or 0, wanted.head or 0)
    if wanted.every and wanted.form != "dense":
        raise UsageError(f"--all is for dense arrays; {wanted.form} {_HOLDS[wanted.form]}")
    if wanted.every and chosen:
        raise UsageError("--all takes every sample and head: expected neither --batch nor --head with it")
    if wanted.form == "python" and chosen:
        raise UsageError("a Python snippet compiles the whole mask: expected neither --batch nor --head")
    if wanted.form != "flex" and wanted.blocks != (None, None):
        raise UsageError(f"--block-m and --block-n are for flex; {wanted.form} has no tiles")
    if wanted.form == "cudnn" and wanted.batch is None and compiled.batch > 1:
        raise UsageError(
            f"cuDNN's mask_func has no axis for samples, and {compiled.name} tells {compiled.batch} apart: "
            f"choose one with --batch 0 to {compiled.batch - 1}"
        )


def _which(compiled: CompiledMask, batch: int | None, head: int | None) -> str:
    """`, sample 1 of 4, head 0 of 2`: which were chosen of those that the mask tells apart."""
    pairs = (("sample", batch, compiled.batch), ("head", head, compiled.heads))
    return "".join(f", {what} {number} of {count}" for what, number, count in pairs if number is not None and count > 1)


def _write_figure(compiled: CompiledMask, output: Path, wanted: Wanted) -> str:
    from compilemask.measure.export import figure

    if output.suffix.lower() not in ("", f".{wanted.form}"):  # a stream has no ending
        raise UsageError(f"-o {output}: expected a name that ends in .{wanted.form}")
    if not compiled.query_length or not compiled.key_length:
        raise UsageError(f"{compiled.name} has no cells, so there is nothing to draw")
    figure.write(compiled, output, wanted.batch or 0, wanted.head or 0, wanted.form)
    return f"wrote {output}{_which(compiled, wanted.batch or 0, wanted.head or 0)}"


def _write_endpoints(compiled: CompiledMask, output: Path, wanted: Wanted) -> str:
    from compilemask.measure.export import endpoints

    if wanted.form == "cudnn":
        values = endpoints.cudnn_mask_func(compiled, wanted.batch or 0, wanted.head)
    else:
        values = endpoints.flashmask_indices(compiled, wanted.batch, wanted.head)
    _save(output, values)
    return f"wrote {output}: int32 {list(values.shape)}{_which(compiled, wanted.batch, wanted.head)}"


def _save(output: Path, values: NDArray[np.int32]) -> None:
    """As `numpy.save`, which asks every file for its position and so can't write into a pipe."""
    import numpy as np

    with replacing(output) as file:
        header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": values.shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)


def _write_python(compiled: CompiledMask, output: Path, mask: str, wanted: Wanted) -> str:
    from compilemask.measure.export import flex_module, snippets

    if wanted.form == "flex":
        blocks = (wanted.blocks[0] or flex_module.BLOCK, wanted.blocks[1] or flex_module.BLOCK)
        text = flex_module.flex_module(compiled, wanted.batch, wanted.head, blocks)
    else:
        text = snippets.python_snippet(compiled, mask, wanted.parameters, wanted.folder)
    write_in_one_step(output, text)
    return f"wrote {output}{_which(compiled, wanted.batch, wanted.head)}"
