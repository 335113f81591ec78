"""Tensor maps: how TMA on Hopper addresses the tensors of a call."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

TMA_ALIGNMENT = 16  # bytes


class TensorMapOf:
    """Makes tensor maps over [batch, heads, length, head_dim] for tensors of one geometry.

    What lies outside reads 0 and isn't written. A tensor that TMA can't address is copied first.
    """

    def __init__(self, like: Tensor, length: int, rows: int, width: int) -> None:
        self.copies = not _fits_tma(like)
        batch, heads, tokens, head_dim = like.shape
        by_batch, by_head, by_row, _ = like.stride()
        if self.copies:
            by_batch, by_head, by_row = heads * tokens * head_dim, tokens * head_dim, head_dim
        # the stride of an axis of length 1 is never used, but must be legal
        strides = [by_batch if batch > 1 else 128, by_head if heads > 1 else 128, by_row if tokens > 1 else 128, 1]
        self.arguments = ([batch, heads, max(length, 1), head_dim], strides, [1, 1, rows, width], _layout())
        self.template: dict[str, object] = {}

    def __call__(self, tensor: Tensor, trusted: bool) -> object:
        """`trusted` leaves out the checks, which cost microseconds and passed for this geometry before."""
        if self.copies:
            tensor = tensor.contiguous()
        elif tensor.data_ptr() % TMA_ALIGNMENT:
            tensor = _aligned(tensor)
        if not trusted or not self.template:
            made = _tensor_descriptor()(tensor, *self.arguments)
            self.template = {**vars(made), "base": None}
            return made
        descriptor = _tensor_descriptor()
        made = descriptor.__new__(descriptor)
        made.__dict__.update(self.template, base=tensor)
        return made


def _aligned(tensor: Tensor) -> Tensor:
    """A copy with the same strides."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(tensor)


@cache
def _tensor_descriptor() -> Any:
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    return TensorDescriptor


@cache
def _layout() -> object:
    from triton.experimental.gluon import language as gl

    return gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=4)


def _fits_tma(tensor: Tensor) -> bool:
    """16-byte aligned strides, and none that repeats an entry."""
    unit = TMA_ALIGNMENT // tensor.element_size()
    strides = zip(tensor.shape[:3], tensor.stride(), strict=False)
    return tensor.stride(3) == 1 and all(n == 1 or (s > 0 and s % unit == 0) for n, s in strides)
