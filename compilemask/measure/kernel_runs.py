"""Ways to run the kernels that validation compares: in Triton's interpreter, and on a GPU."""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from compilemask.kernel.configurations import Family, forward_configuration
from compilemask.kernel.prepared import Mask
from compilemask.kernel.reference import AttentionResult


@dataclass(frozen=True, slots=True)
class Inputs:
    """q, k and v [batch, heads, tokens, head_dim], the gradients that come in for out and LSE, and the scale."""

    q: Tensor
    k: Tensor
    v: Tensor
    dout: Tensor
    dlse: Tensor
    scale: float | None = None  # None: 1 / sqrt(head_dim)


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


ADVERSE_SCALE = 2.0**-10


def adverse_inputs(
    visible: Tensor, dtype: torch.dtype, head_dim: int, seed: int, query_length: int | None = None
) -> Inputs:
    """As `random_inputs`, but with scores that jump by hundreds, an outlier token and a tiny scale.

    Late keys, every 7th of the second half, are 100 times as long as the others, so that the largest score of a row
    comes late; one token in the middle has a query, key, value and incoming gradient 20 times as large; the scale is
    2**-10 with queries and keys that make up for it.
    """
    plain = random_inputs(visible, dtype, head_dim, seed + 1, query_length)
    growth = (ADVERSE_SCALE * math.sqrt(head_dim)) ** -0.5
    given = Inputs(plain.q * growth, plain.k * growth, plain.v, plain.dout, plain.dlse, ADVERSE_SCALE)
    queries, keys = given.q.shape[2], given.k.shape[2]
    given.k[:, :, keys // 2 :: 7] *= 100.0
    outlier_query, outlier_key = queries // 2, max(keys // 2 - 1, 0)
    for tensor in (given.q, given.dout):
        tensor[:, :, outlier_query] *= 20.0
    if outlier_key < keys // 2:  # a single key is long enough: both factors would leave float16
        for tensor in (given.k, given.v):
            tensor[:, :, outlier_key] *= 20.0
    return given


YES = ("1", "true", "yes", "on", "y")


def use_interpreter() -> bool:
    """Make Triton interpret in this process, from now on; false if it has been imported before, in order to compile.

    Triton's own library is made for one or the other when it is imported, so there is no way back.
    """
    if os.environ.get("TRITON_INTERPRET", "").lower() not in YES and "triton" in sys.modules:
        return False
    os.environ["TRITON_INTERPRET"] = "1"
    return True


def interpreted(mask: Mask, given: Inputs) -> AttentionResult:
    """Forward and backward kernels on CPU tensors, one program after another, in Triton's interpreter."""
    from compilemask.kernel.backward_configurations import backward_configuration
    from compilemask.kernel.backward_launch import ForwardResult, portable_backward
    from compilemask.kernel.device_tensors import to_device
    from compilemask.kernel.forward_launch import portable_forward

    width, dtype = given.q.shape[-1], given.q.dtype
    scale = 1.0 / math.sqrt(width) if given.scale is None else given.scale
    forward = forward_configuration(Family.INTERPRETER, dtype, width, width)
    backward = backward_configuration(Family.INTERPRETER, dtype, width, width)
    tensors, by_key, by_query = (
        to_device(mask.descriptor(launch.block_m, launch.block_n), given.q.device)
        for launch in (forward, backward.keys, backward.queries)
    )
    with np.errstate(over="ignore"):  # weights of hidden cells, which are thrown away, may be infinite
        out, lse = portable_forward(given.q, given.k, given.v, tensors, scale, forward)
        saved = ForwardResult(given.q, given.k, given.v, out, lse, given.dout, given.dlse)
        return AttentionResult(out, lse, *portable_backward(saved, by_key, by_query, scale, backward))


def called(mask: Mask, given: Inputs, *, gradients: bool) -> AttentionResult:
    """The public call, with autograd where gradients are wanted; on a GPU this runs the kernels."""
    from compilemask.kernel.api import attention

    def call(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        return attention(q, k, v, mask, scale=given.scale, return_lse=True, enable_gqa=q.shape[1] != k.shape[1])

    if not gradients:
        return AttentionResult(*call(given.q, given.k, given.v))
    q, k, v = (tensor.detach().clone().requires_grad_() for tensor in (given.q, given.k, given.v))
    out, lse = call(q, k, v)
    seen = torch.isfinite(lse)
    for_lse = torch.where(seen, given.dlse, 0.0)
    found = torch.autograd.grad((out, lse), (q, k, v), (given.dout, for_lse))
    return AttentionResult(out.detach(), lse.detach(), *found)
