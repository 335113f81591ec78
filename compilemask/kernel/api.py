"""`attention`: the call that people make."""

from __future__ import annotations

import math
from typing import Literal, overload

import torch
from torch import Tensor

from compilemask.errors import UsageError
from compilemask.kernel.autocast import autocast
from compilemask.kernel.configurations import is_usual
from compilemask.kernel.differentiable import check_reverse_mode, eager_attention, is_plain, transformed_attention
from compilemask.kernel.dispatch import check_batch_and_heads, forward_call
from compilemask.kernel.prepared import Mask, handle_of, prepared
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
    queries of the same tile that don't see it. Under `torch.autocast` tensors are cast as those of
    `scaled_dot_product_attention` are. Raises UsageError where an argument doesn't fit the others or the mask.
    """
    factor = None if scale is None else _number(scale)
    check_reverse_mode(q, k, v)
    q, k, v = autocast(q, k, v)
    if torch.compiler.is_compiling():
        _check(q, k, v, mask, enable_gqa)
        # an integer attribute is all that a graph may know of the mask
        output, lse = attention_op(q, k, v, mask.number, _scale(q, factor))
    elif is_plain(q, k, v):
        output, lse = _eager(q, k, v, mask, factor, enable_gqa)
    else:
        _check(q, k, v, mask, enable_gqa)
        check_batch_and_heads(q, prepared(mask.number))  # tensors without memory are never run
        output, lse = transformed_attention(q, k, v, handle_of(mask), _scale(q, factor))
    return (output, lse) if return_lse else output


def _eager(
    q: Tensor, k: Tensor, v: Tensor, mask: Mask, factor: float | None, enable_gqa: bool
) -> tuple[Tensor, Tensor]:
    """Tensors like those of an earlier call need no checks, and how such calls run is known."""
    ready = prepared(handle_of(mask))
    asked = (
        q.device, q.dtype, q.shape, q.stride(), k.device, k.dtype, k.shape, k.stride(), v.device, v.dtype, v.shape,
        v.stride(), enable_gqa, factor is None or is_usual(factor),
    )  # fmt: skip
    call = ready.call(asked)
    if call is None:
        _check(q, k, v, mask, enable_gqa)
        call = forward_call(q, k, v, ready, _scale(q, factor))
        ready.keep_call(asked, call)
    return eager_attention(q, k, v, ready, _scale(q, factor), call)


def _number(scale: float) -> float:
    if isinstance(scale, bool | str | bytes):  # which `float` takes, too
        raise UsageError(f"scale must be a number, but is {scale!r:.80}.")
    try:
        factor = float(scale)
    except OverflowError:
        raise UsageError("scale must be a number that a float can hold, but is larger.") from None
    except (TypeError, ValueError):
        raise UsageError(f"scale must be a number, but is {scale!r:.80}.") from None
    if not -math.inf < factor < math.inf:
        raise UsageError(f"scale must be a finite number, but is {factor}.")
    return factor


def _scale(q: Tensor, factor: float | None) -> float:
    return 1.0 / math.sqrt(q.shape[3]) if factor is None else factor


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Mask, enable_gqa: bool) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _check_tensor(name, tensor, q)
    _check_heads(q.shape[1], k.shape[1], v.shape[1], enable_gqa)
    if k.shape[3] != q.shape[3]:
        raise UsageError(f"k must have the head_dim of q, {q.shape[3]}, but has {k.shape[3]}.")
    handle_of(mask)
    _check_lengths(q, k, v, mask)


def _check_tensor(name: str, tensor: Tensor, q: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise UsageError(f"{name} must be a torch tensor, but is of type {type(tensor).__name__}.")
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
