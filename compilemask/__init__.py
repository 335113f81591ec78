"""CompileMask: design attention masks as rules between regions of tokens, and compile them for GPUs.

mask = compile("shared_prompt_rm")
out = attention(q, k, v, mask)   # imports torch

Importing this package imports neither numpy nor torch; each name is loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilemask.descriptor.attention_mask import AttentionMask
    from compilemask.errors import CompileMaskError, MaskFileError, MaskWarning, UnavailableError, UsageError
    from compilemask.kernel.api import attention
    from compilemask.pipeline import CompiledMask
    from compilemask.pipeline.warned import compile, compile_text  # noqa: A004

__version__ = "0.1.0"

__all__ = [
    "AttentionMask",
    "CompileMaskError",
    "CompiledMask",
    "MaskFileError",
    "MaskWarning",
    "UnavailableError",
    "UsageError",
    "attention",
    "compile",
    "compile_text",
]

_HOMES = {
    "AttentionMask": "compilemask.descriptor.attention_mask",
    "CompileMaskError": "compilemask.errors",
    "MaskFileError": "compilemask.errors",
    "MaskWarning": "compilemask.errors",
    "UnavailableError": "compilemask.errors",
    "UsageError": "compilemask.errors",
    "CompiledMask": "compilemask.pipeline",
    "attention": "compilemask.kernel.api",
    "compile": "compilemask.pipeline.warned",
    "compile_text": "compilemask.pipeline.warned",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
