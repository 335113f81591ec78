"""`attention`: the call that people make."""

from __future__ import annotations

import math
from typing import Literal, overload

import torch
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.errors import UsageError
from compilemask.kernel.autocast import autocast
from compilemask.kernel.checks import check, scale_factor
from compilemask.kernel.configurations import is_usual
from compilemask.kernel.differentiable import check_reverse_mode, eager_attention, is_plain, transformed_attention
from compilemask.kernel.dispatch import check_batch_and_heads, forward_call
from compilemask.kernel.prepared import handle_of, prepared
from compilemask.kernel.registration import attention_op, refuse_op


@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: AttentionMask, *,
    scale: float | None = ..., return_lse: Literal[False] = ..., enable_gqa: bool = ...,
) -> Tensor: ...  # fmt: skip
@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: AttentionMask, *,
    scale: float | None = ..., return_lse: Literal[True], enable_gqa: bool = ...,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: AttentionMask,
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
    factor = None if scale is None else scale_factor(scale)
    check_reverse_mode(q, k, v)
    q, k, v = autocast(q, k, v)
    if torch.compiler.is_compiling():
        try:
            check(q, k, v, mask, enable_gqa)
        except UsageError as error:  # raised here it would make Dynamo look for its way through everything below
            output, lse = refuse_op(q, v, str(error))
        else:
            # an integer attribute is all that a graph may know of the mask
            output, lse = attention_op(q, k, v, mask.number, _scale(q, factor))
    elif is_plain(q, k, v):
        output, lse = _eager(q, k, v, mask, factor, enable_gqa)
    else:
        check(q, k, v, mask, enable_gqa)
        check_batch_and_heads(q, prepared(mask.number))  # tensors without memory are never run
        output, lse = transformed_attention(q, k, v, handle_of(mask), _scale(q, factor))
    return (output, lse) if return_lse else output


def _eager(
    q: Tensor, k: Tensor, v: Tensor, mask: AttentionMask, factor: float | None, enable_gqa: bool
) -> tuple[Tensor, Tensor]:
    """Tensors like those of an earlier call need no checks, and how such calls run is known."""
    ready = prepared(handle_of(mask))
    asked = (
        q.device, q.dtype, q.shape, q.stride(), k.device, k.dtype, k.shape, k.stride(), v.device, v.dtype, v.shape,
        v.stride(), enable_gqa, factor is None or is_usual(factor),
    )  # fmt: skip
    call = ready.call(asked)
    if call is None:
        check(q, k, v, mask, enable_gqa)
        call = forward_call(q, k, v, ready, _scale(q, factor))
        ready.keep_call(asked, call)
    return eager_attention(q, k, v, ready, _scale(q, factor), call)


def _scale(q: Tensor, factor: float | None) -> float:
    return 1.0 / math.sqrt(q.shape[3]) if factor is None else factor
