"""`compile` and `compile_text` for Python callers, whom nothing else would show what a mask's text is warned of."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilemask.errors import MaskWarning
from compilemask.pipeline import compiling
from compilemask.pipeline.compiled import CompiledMask
from compilemask.source import Severity

if TYPE_CHECKING:
    from compilemask.language.builder import Mask


def compile(  # noqa: A001
    mask: str | Path | Mask,
    *,
    params: Mapping[str, Any] | None = None,
    samples: compiling.Samples | None = None,
    **parameters: Any,
) -> CompiledMask:
    """Compile a mask file, a mask of the library or a mask built in Python.

    `mask` is a path, a library name or a `compilemask.language.builder.Mask`. Parameters are given by name, as keywords
    or in `params` (names that collide with the arguments of this function); `samples` gives some of them per batch
    entry. Findings that don't stop it are Python warnings, MaskWarning, and `diagnostics` of the mask.

    Raises:
        MaskFileError: the file or its sizes are wrong; it holds every finding.
        UsageError: there is no such mask, a parameter is given twice, or an argument is of the wrong kind.
    """
    return _warned(compiling.compile(mask, params=params, samples=samples, **parameters))


def compile_text(
    text: str,
    *,
    name: str = "<text>",
    params: Mapping[str, Any] | None = None,
    samples: compiling.Samples | None = None,
    folder: Path | None = None,
    **parameters: Any,
) -> CompiledMask:
    """Compile a text; `folder` is where its `include` and `from` files lie. Warns and raises as `compile` does."""
    return _warned(compiling.compile_text(text, name=name, params=params, samples=samples, folder=folder, **parameters))


def _warned(mask: CompiledMask) -> CompiledMask:
    for finding in mask.diagnostics:
        if finding.severity is Severity.WARNING:
            warnings.warn(finding.render(), MaskWarning, stacklevel=3)
    return mask
