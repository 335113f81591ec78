"""Tensor maps of the Hopper backward kernel's own memory: how TMA addresses query terms and sums of dQ."""

from __future__ import annotations

from functools import cache
from typing import Any

from torch import Tensor


class ContiguousMap:
    """Makes tensor maps for contiguous tensors of one shape; the checks of the first one hold for all."""

    def __init__(self, shape: tuple[int, int, int], block: tuple[int, int, int], layout: object) -> None:
        strides = [shape[1] * shape[2], shape[2], 1]
        self._arguments = (list(shape), strides, list(block), layout)
        self._template: dict[str, object] = {}

    def __call__(self, tensor: Tensor) -> object:
        descriptor = _descriptor()
        if not self._template:
            made = descriptor(tensor, *self._arguments)
            self._template = {**vars(made), "base": None}
            return made
        made = descriptor.__new__(descriptor)
        made.__dict__.update(self._template, base=tensor)
        return made


def terms_map(heads: int, terms: int, length: int, step: int) -> ContiguousMap:
    """Over float32 [heads, terms, queries]: all terms of `step` queries at a time."""
    return ContiguousMap((heads, terms, length), (1, terms, step), _layout(0))


def sums_map(heads: int, length: int, width: int, step: int, columns: int) -> ContiguousMap:
    """Over int32 [heads, queries, width]: boxes of step x columns."""
    return ContiguousMap((heads, length, width), (1, step, columns), _layout(128))


@cache
def _descriptor() -> Any:
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    return TensorDescriptor


@cache
def _layout(swizzle_bytes: int) -> object:
    from triton.experimental.gluon import language as gl

    return gl.NVMMASharedLayout(swizzle_byte_width=swizzle_bytes, element_bitwidth=32, rank=3)
