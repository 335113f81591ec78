"""`attention`: the call that people make."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal, cast, overload

import torch
from torch import Tensor

from compilemask.errors import UsageError
from compilemask.kernel.differentiable import differentiable_attention
from compilemask.kernel.prepared import Mask, NumberedMask, handle_of
from compilemask.kernel.registration import attention_op

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
LARGEST_HEAD_DIM = 256


@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, scale: float | None = ..., return_lse: Literal[False] = ...,
    enable_gqa: bool = ...,
) -> Tensor: ...  # fmt: skip
@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, scale: float | None = ..., return_lse: Literal[True],
    enable_gqa: bool = ...,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Mask,
    *,
    scale: float | None = None,
    return_lse: bool = False,
    enable_gqa: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """softmax(q k^T * scale, over the visible keys) v.

    `q` is [batch, heads, queries, head_dim], `k` [batch, key heads, keys, head_dim], `v` [batch, key heads, keys,
    value head_dim]; any strides; bfloat16, float16, float32 or float64; head_dim up to 256. `scale` defaults to
    1 / sqrt(head_dim). With `enable_gqa` the heads of `q` may be a multiple of those of `k` and `v`. A query that sees
    nothing gives 0, and -inf in the LSE.

    Returns [batch, heads, queries, value head_dim], with `return_lse` also the natural logarithm of the sum of
    exponentials, [batch, heads, queries], float32 (float64 for float64 tensors). Both can be differentiated, once. Keys
    that nobody sees and queries that see nothing may hold anything; NaN in a key that some queries see can also reach
    queries of the same tile that don't see it. Raises UsageError where an argument doesn't fit the others or the mask.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _check_tensor(name, tensor, q)
    _check_heads(q.shape[1], k.shape[1], v.shape[1], enable_gqa)
    if k.shape[3] != q.shape[3]:
        raise UsageError(f"k must have the head_dim of q, {q.shape[3]}, but has {k.shape[3]}.")
    if isinstance(mask, str | Path):
        raise UsageError(f"mask must be a compiled mask, but is {str(mask)!r}; compilemask.compile makes one of it.")
    _check_lengths(q, k, v, mask)
    factor = 1.0 / math.sqrt(q.shape[3]) if scale is None else float(scale)
    if torch.compiler.is_compiling():
        # an integer attribute is all that a graph may know of the mask
        output, lse = attention_op(q, k, v, cast(NumberedMask, mask).number, factor)
    else:
        output, lse = differentiable_attention(q, k, v, handle_of(mask), factor)
    return (output, lse) if return_lse else output


def _check_tensor(name: str, tensor: Tensor, q: Tensor) -> None:
    if tensor.dim() != 4:
        raise UsageError(f"{name} must be [batch, heads, tokens, head_dim], but has shape {list(tensor.shape)}.")
    if tensor.dtype not in DTYPES:
        raise UsageError(f"{name} must be bfloat16, float16, float32 or float64, but is {tensor.dtype}.")
    if tensor.dtype != q.dtype:
        raise UsageError(f"{name} must have the dtype of q, {q.dtype}, but is {tensor.dtype}.")
    if tensor.device != q.device:
        raise UsageError(f"{name} must be on the device of q, {q.device}, but is on {tensor.device}.")
    if tensor.shape[0] != q.shape[0]:
        raise UsageError(f"{name} must have the batch size of q, {q.shape[0]}, but has {tensor.shape[0]}.")
    if not 1 <= tensor.shape[3] <= LARGEST_HEAD_DIM:
        raise UsageError(f"{name} must have a head_dim from 1 to {LARGEST_HEAD_DIM}, but has {tensor.shape[3]}.")


def _check_heads(heads: int, key_heads: int, value_heads: int, enable_gqa: bool) -> None:
    if key_heads != value_heads:
        raise UsageError(f"v must have the heads of k, {key_heads}, but has {value_heads}.")
    if heads != key_heads and not enable_gqa:
        raise UsageError(
            f"k must have the {heads} heads of q, but has {key_heads}; grouped heads need enable_gqa=True."
        )
    if key_heads < 1 or heads % key_heads:
        raise UsageError(f"q must have a multiple of the {key_heads} heads of k, but has {heads}.")


def _check_lengths(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> None:
    if q.shape[2] != mask.query_length:
        raise UsageError(f"q must have the mask's {mask.query_length} queries, but has {q.shape[2]} tokens.")
    for name, tensor in (("k", k), ("v", v)):
        if tensor.shape[2] != mask.key_length:
            raise UsageError(f"{name} must have the mask's {mask.key_length} keys, but has {tensor.shape[2]} tokens.")
