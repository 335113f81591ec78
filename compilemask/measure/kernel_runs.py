"""Ways to run the kernels that validation compares: in Triton's interpreter, and on a GPU."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.configurations import Family, forward_configuration
from compilemask.kernel.prepared import Mask
from compilemask.kernel.reference import AttentionResult


@dataclass(frozen=True, slots=True)
class Inputs:
    """q, k and v [batch, heads, tokens, head_dim] and the gradients that come in for out and LSE."""

    q: Tensor
    k: Tensor
    v: Tensor
    dout: Tensor
    dlse: Tensor


def random_inputs(
    visible: Tensor, dtype: torch.dtype, head_dim: int, seed: int, query_length: int | None = None
) -> Inputs:
    """Inputs for `visible` [batch, heads, queries, keys], the same at every call, with NaN in keys that nobody sees.

    `query_length` is given where `visible` holds some of the rows only; then no key is spoilt.
    """
    batch, heads, rows, keys = visible.shape
    queries = rows if query_length is None else query_length
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(device=visible.device, dtype=dtype)

    q, k, v = (normal(batch, heads, length, head_dim) for length in (queries, keys, keys))
    if query_length is None:
        unseen = ~visible.any(2)
        k[unseen], v[unseen] = math.nan, math.nan
    return Inputs(q, k, v, normal(batch, heads, queries, head_dim), normal(batch, heads, queries).float())


def use_interpreter() -> None:
    """Make Triton interpret; to be called before any kernel is imported."""
    os.environ["TRITON_INTERPRET"] = "1"


def interpreted(mask: Mask, given: Inputs) -> AttentionResult:
    """Forward and backward kernels on CPU tensors, one program after another, in Triton's interpreter."""
    from compilemask.kernel.backward_configurations import backward_configuration
    from compilemask.kernel.backward_launch import ForwardResult, portable_backward
    from compilemask.kernel.device_tensors import to_device
    from compilemask.kernel.forward_launch import portable_forward

    width, dtype = given.q.shape[-1], given.q.dtype
    scale = 1.0 / math.sqrt(width)
    forward = forward_configuration(Family.INTERPRETER, dtype, width, width)
    backward = backward_configuration(Family.INTERPRETER, dtype, width, width)
    tensors, by_key, by_query = (
        to_device(mask.descriptor(launch.block_m, launch.block_n), given.q.device)
        for launch in (forward, backward.keys, backward.queries)
    )
    out, lse = portable_forward(given.q, given.k, given.v, tensors, scale, forward)
    saved = ForwardResult(given.q, given.k, given.v, out, lse, given.dout, given.dlse)
    return AttentionResult(out, lse, *portable_backward(saved, by_key, by_query, scale, backward))


def called(mask: Mask, given: Inputs, *, gradients: bool) -> AttentionResult:
    """The public call, with autograd where gradients are wanted; on a GPU this runs the kernels."""
    from compilemask.kernel.api import attention

    if not gradients:
        return AttentionResult(*attention(given.q, given.k, given.v, mask, return_lse=True))
    q, k, v = (tensor.detach().clone().requires_grad_() for tensor in (given.q, given.k, given.v))
    out, lse = attention(q, k, v, mask, return_lse=True)
    seen = torch.isfinite(lse)
    loss = (out.float() * given.dout.float()).sum() + (torch.where(seen, lse, 0.0) * given.dlse).sum()
    return AttentionResult(out.detach(), lse.detach(), *torch.autograd.grad(loss, (q, k, v)))
