"""Which calls the Hopper kernels can compute, and whether this Triton can build them."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import torch
from torch import Tensor

from compilemask.kernel.configurations import is_usual


def gluon_accepts(query: Tensor, value: Tensor, scale: float, head_dims: range, module: str) -> bool:
    """Whether the Gluon kernel of `module`, which is made for `head_dims`, can compute this call."""
    return (
        query.dtype in (torch.bfloat16, torch.float16)
        and query.shape[3] in head_dims
        and value.shape[3] in head_dims
        and is_usual(scale)
        and gluon_runs(module)
    )


@cache
def gluon_runs(module: str) -> bool:
    """Whether this Triton has what the module is written in."""
    try:
        import_module(module)
    except (ImportError, AttributeError):
        return False
    return True
