"""`compile` and `compile_text` for Python callers, whom nothing else would show what a mask's text is warned of."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec

from compilemask.errors import MaskWarning
from compilemask.pipeline import compiling
from compilemask.pipeline.compiled import CompiledMask
from compilemask.source import Severity

Arguments = ParamSpec("Arguments")


def _warning(compiles: Callable[Arguments, CompiledMask]) -> Callable[Arguments, CompiledMask]:
    """The same function, but warnings of the mask are Python warnings too, MaskWarning."""

    @functools.wraps(compiles)
    def warned(*args: Arguments.args, **kwargs: Arguments.kwargs) -> CompiledMask:
        mask = compiles(*args, **kwargs)
        for finding in mask.diagnostics:
            if finding.severity is Severity.WARNING:
                warnings.warn(finding.render(), MaskWarning, stacklevel=2)
        return mask

    return warned


compile = _warning(compiling.compile)  # noqa: A001
compile_text = _warning(compiling.compile_text)
