"""Launches that skip Triton's per-call work: it re-derives the specialisation of every argument at each launch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

_compiled: dict[Hashable, Any] = {}


def compiled_already(kernel: Any, variant: Hashable) -> bool:
    """Whether `launch` has met this kernel and variant."""
    return (kernel, variant) in _compiled


def launch(
    kernel: Any, variant: Hashable, grid: tuple[int, int, int], arguments: Sequence[Any], num_warps: int
) -> None:
    """Runs `kernel` with positional `arguments`, constants included.

    `variant` must tell apart all calls that compile differently: device, dtypes, constants, and the divisibility of
    any argument that the kernel lets Triton specialise.
    """
    key = (kernel, variant)
    compiled = _compiled.get(key)
    if compiled is None:
        _compiled[key] = kernel[grid](*arguments, num_warps=num_warps)
    else:
        compiled[grid](*arguments)
