"""What `attention` refuses, in words."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.errors import UsageError
from compilemask.kernel.prepared import handle_of

DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)
LARGEST_HEAD_DIM = 256


def scale_factor(scale: float) -> float:
    """The scale as a finite float; UsageError for anything else."""
    if isinstance(scale, Tensor) and scale.requires_grad:
        raise UsageError("scale gets no gradient, so it can't be a tensor that wants one; multiply q by it instead.")
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


def check(q: Tensor, k: Tensor, v: Tensor, mask: AttentionMask, enable_gqa: bool) -> None:
    """Raises UsageError where tensors don't fit each other or the mask."""
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


def _check_lengths(q: Tensor, k: Tensor, v: Tensor, mask: AttentionMask) -> None:
    for name, tensor, length, what in (
        ("q", q, mask.query_length, "queries"), ("k", k, mask.key_length, "keys"), ("v", v, mask.key_length, "keys")
    ):  # fmt: skip
        if tensor.shape[2] == length:
            continue
        whose = f"the mask {mask.name}" if hasattr(mask, "name") else "the mask"
        known = f"{name} must have the {length} {what} of {whose}, but has {tensor.shape[2]} tokens"
        if tensor.shape[1] == length:
            raise UsageError(f"{known}: is it [batch, tokens, heads, head_dim]? Then transpose(1, 2) first.")
        raise UsageError(f"{known}; compile the mask with the sizes of these tensors.")
