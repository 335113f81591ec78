"""Ways to run the kernels that validation compares: in Triton's interpreter, and on a GPU."""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.kernel.prepared import prepared
from compilemask.kernel.reference import AttentionResult
from compilemask.measure.machine import version_of


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
    visible: Tensor,
    dtype: torch.dtype,
    head_dim: int,
    seed: int,
    query_length: int | None = None,
    key_heads: int | None = None,
) -> Inputs:
    """Inputs for `visible` [batch, heads, queries, keys], the same at every call, with NaN in keys that nobody sees.

    `query_length` is given where `visible` holds some of the rows only; then no key is spoilt. `key_heads` (all heads
    by default) share the query heads evenly.
    """
    batch, heads, rows, keys = visible.shape
    queries, key_heads = query_length or rows, key_heads or heads
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(device=visible.device, dtype=dtype)

    q, k, v = normal(batch, heads, queries, head_dim), *(normal(batch, key_heads, keys, head_dim) for _ in range(2))
    if query_length is None:
        unseen = ~visible.any(2).reshape(batch, key_heads, -1, keys).any(2)
        k[unseen], v[unseen] = math.nan, math.nan
    return Inputs(q, k, v, normal(batch, heads, queries, head_dim), normal(batch, heads, queries).float())


ADVERSE_SCALE = 2.0**-10


def adverse_inputs(
    visible: Tensor,
    dtype: torch.dtype,
    head_dim: int,
    seed: int,
    query_length: int | None = None,
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


def start_interpreter() -> str:
    """Makes Triton interpret in this process, from now on; returns "", or the words why it can't.

    Triton's own library is made for one or the other when it is imported, so there is no way back.
    """
    if os.environ.get("TRITON_INTERPRET", "").lower() not in YES and "triton" in sys.modules:
        return "this process uses Triton to compile; a new one can interpret"
    triton, numpy = version_of("triton"), version_of("numpy")  # some builds of Triton go by another name
    if triton and numpy and _numbers(triton) < (3, 7) and _numbers(numpy) >= (2, 4):
        return f"Triton {triton} can't interpret with NumPy {numpy}: install Triton 3.7 or later, or NumPy before 2.4"
    os.environ["TRITON_INTERPRET"] = "1"
    return ""


def _numbers(release: str) -> tuple[int, ...]:
    """Major and minor number of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])


def interpreted(mask: AttentionMask, given: Inputs) -> AttentionResult:
    """The public call on CPU tensors, forward and backward, by the Triton kernels in Triton's interpreter."""
    prepared(mask.number).interpret()
    with np.errstate(over="ignore"):  # weights of hidden cells, which are thrown away, may be infinite
        return _with_gradients(mask, given, given.dlse)


def called(mask: AttentionMask, given: Inputs, *, gradients: bool) -> AttentionResult:
    """The public call, with autograd where gradients are wanted; on a GPU this runs the kernels."""
    if not gradients:
        return AttentionResult(*_call(mask, given, given.q, given.k, given.v))
    return _with_gradients(mask, given, None)


def _with_gradients(mask: AttentionMask, given: Inputs, dlse: Tensor | None) -> AttentionResult:
    """Outputs and gradients; without `dlse` that of `given`, and 0 for queries that see nothing."""
    q, k, v = (tensor.detach().clone().requires_grad_() for tensor in (given.q, given.k, given.v))
    out, lse = _call(mask, given, q, k, v)
    dlse = torch.where(torch.isfinite(lse), given.dlse, 0.0) if dlse is None else dlse
    found = torch.autograd.grad(_Incoming.apply(out, lse, given.dout, dlse), (q, k, v))  # type: ignore[no-untyped-call]
    return AttentionResult(out.detach(), lse.detach(), *found)


class _Incoming(torch.autograd.Function):
    """A number with these gradients for out and LSE; `torch.autograd.grad` takes them too, but loads sympy first."""

    @staticmethod
    def forward(ctx: Any, out: Tensor, lse: Tensor, dout: Tensor, dlse: Tensor) -> Tensor:
        ctx.save_for_backward(dout, dlse)
        return lse.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor | None, ...]:
        return *ctx.saved_tensors, None, None


def _call(mask: AttentionMask, given: Inputs, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    from compilemask.kernel.api import attention

    return attention(q, k, v, mask, scale=given.scale, return_lse=True, enable_gqa=q.shape[1] != k.shape[1])
