"""Tensor maps: how TMA on Hopper addresses the tensors of a call."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

TMA_ALIGNMENT = 16  # bytes


class MapTemplate:
    """Makes tensor maps of one geometry; Triton's checks, which cost microseconds, are made for the first one.

    What lies outside reads 0 and isn't written.
    """

    def __init__(self, shape: list[int], strides: list[int], block: list[int], layout: object) -> None:
        self._arguments = (shape, strides, block, layout)
        self._fields: dict[str, object] = {}

    def __call__(self, tensor: Tensor, trusted: bool = True) -> object:
        """The map over `tensor`; `trusted` says that the checks need not be repeated."""
        descriptor = _tensor_descriptor()
        if not trusted or not self._fields:
            made = descriptor(tensor, *self._arguments)
            self._fields = {**vars(made), "base": None}
            return made
        made = descriptor.__new__(descriptor)
        made.__dict__.update(self._fields, base=tensor)
        return made


class TensorMapOf:
    """Makes tensor maps over [batch, heads, length, head_dim] for tensors of one geometry.

    A tensor that TMA can't address is copied first.
    """

    def __init__(self, like: Tensor, length: int, rows: int, width: int) -> None:
        self.copies = not _fits_tma(like)
        batch, heads, tokens, head_dim = like.shape
        by_batch, by_head, by_row, _ = like.stride()
        if self.copies:
            by_batch, by_head, by_row = heads * tokens * head_dim, tokens * head_dim, head_dim
        # the stride of an axis of length 1 is never used, but must be legal
        strides = [by_batch if batch > 1 else 128, by_head if heads > 1 else 128, by_row if tokens > 1 else 128, 1]
        self._make = MapTemplate(
            [batch, heads, max(length, 1), head_dim], strides, [1, 1, rows, width], _layout(128, 16, 4)
        )

    def __call__(self, tensor: Tensor, trusted: bool) -> object:
        """`trusted`: the checks passed for this geometry before."""
        if self.copies:
            tensor = tensor.contiguous()
        elif tensor.data_ptr() % TMA_ALIGNMENT:
            tensor = _aligned(tensor)
        return self._make(tensor, trusted)


def terms_map(heads: int, terms: int, length: int, step: int) -> MapTemplate:
    """Over contiguous float32 [heads, terms, queries]: all terms of `step` queries at a time."""
    return MapTemplate([heads, terms, length], [terms * length, length, 1], [1, terms, step], _layout(0, 32, 3))


def sums_map(heads: int, length: int, width: int, step: int, columns: int) -> MapTemplate:
    """Over contiguous int32 [heads, queries, width]: boxes of step x columns."""
    return MapTemplate([heads, length, width], [length * width, width, 1], [1, step, columns], _layout(128, 32, 3))


def _aligned(tensor: Tensor) -> Tensor:
    """A copy with the same strides."""
    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(tensor)


@cache
def _tensor_descriptor() -> Any:
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    return TensorDescriptor


@cache
def _layout(swizzle_bytes: int, element_bits: int, rank: int) -> object:
    from triton.experimental.gluon import language as gl

    return gl.NVMMASharedLayout(swizzle_byte_width=swizzle_bytes, element_bitwidth=element_bits, rank=rank)


def _fits_tma(tensor: Tensor) -> bool:
    """16-byte aligned strides, and none that repeats an entry."""
    unit = TMA_ALIGNMENT // tensor.element_size()
    strides = zip(tensor.shape[:3], tensor.stride(), strict=False)
    return tensor.stride(3) == 1 and all(n == 1 or (s > 0 and s % unit == 0) for n, s in strides)
