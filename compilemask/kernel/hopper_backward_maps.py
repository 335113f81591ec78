"""Tensor maps of the Hopper backward kernel: how TMA addresses tensors in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

ALIGNMENT = 16  # bytes, of the base and of every stride


@cache
def _gluon() -> tuple[Any, Any]:
    from triton.experimental.gluon import language
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    return language, TensorDescriptor


@cache
def _layout(element_bits: int, rank: int, swizzle_bytes: int) -> Any:
    language, _ = _gluon()
    return language.NVMMASharedLayout(swizzle_byte_width=swizzle_bytes, element_bitwidth=element_bits, rank=rank)


def addressable(tensor: Tensor) -> Tensor:
    """The tensor, or a copy that TMA can address: columns together, aligned, and no axis that repeats an entry."""
    unit = ALIGNMENT // tensor.element_size()
    strides = zip(tensor.shape[:-1], tensor.stride(), strict=False)
    fits = tensor.stride(-1) == 1 and all(n == 1 or (s > 0 and s % unit == 0) for n, s in strides)
    if not fits:
        return tensor.contiguous()
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone(memory_format=torch.contiguous_format)


def rows_map(tensor: Tensor, length: int, rows: int, width: int) -> Any:
    """Over an addressable 16-bit [batch, heads, tokens, head_dim]: boxes of rows x width; 0 beyond `length`."""
    batch, heads, tokens, head_dim = tensor.shape
    by_batch, by_head, by_row, _ = tensor.stride()
    # the stride of an axis of length 1 is never used, but must be legal
    strides = [by_batch if batch > 1 else 128, by_head if heads > 1 else 128, by_row if tokens > 1 else 128, 1]
    shape = [batch, heads, max(length, 1), head_dim]
    return _gluon()[1](tensor, shape, strides, [1, 1, rows, width], _layout(16, 4, 128))


def terms_map(terms: Tensor, step: int) -> Any:
    """Over contiguous float32 [heads, terms, queries]: all terms of `step` queries at a time."""
    heads, rows, length = terms.shape
    return _gluon()[1](terms, [heads, rows, length], [rows * length, length, 1], [1, rows, step], _layout(32, 3, 0))


def sums_map(sums: Tensor, step: int, width: int) -> Any:
    """Over contiguous int32 [heads, queries, head_dim]: boxes of step x width."""
    heads, length, head_dim = sums.shape
    strides = [length * head_dim, head_dim, 1]
    return _gluon()[1](sums, [heads, length, head_dim], strides, [1, step, width], _layout(32, 3, 128))
