"""CompileMask: design attention masks as rules between regions of tokens, and compile them for GPUs.

mask = compile("shared_prompt_rm")
out = attention(q, k, v, mask)   # imports torch

Importing this package imports neither torch nor triton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compilemask.errors import CompileMaskError, MaskFileError, UnavailableError, UsageError
from compilemask.pipeline import CompiledMask, compile, compile_text

if TYPE_CHECKING:
    from compilemask.kernel.api import attention

__version__ = "0.1.0"

__all__ = [
    "CompileMaskError",
    "CompiledMask",
    "MaskFileError",
    "UnavailableError",
    "UsageError",
    "attention",
    "compile",
    "compile_text",
]


def __getattr__(name: str) -> Any:
    if name == "attention":
        from compilemask.kernel.api import attention

        return attention
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
