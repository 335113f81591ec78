"""Masks given cell by cell, and tensors that fit them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import register


@dataclass(eq=False)
class DenseMask:
    """A mask given cell by cell, [batch or 1, heads or 1, queries, keys]."""

    cells: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self.number = register(self)

    @property
    def query_length(self) -> int:
        return int(self.cells.shape[2])

    @property
    def key_length(self) -> int:
        return int(self.cells.shape[3])

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        return descriptor_from_dense(self.cells, block_m, block_n)


def mixed_mask(batch: int, heads: int, queries: int, keys: int) -> DenseMask:
    """Full, partial and empty tiles, queries that see nothing and keys that nobody sees."""
    cells = np.random.default_rng(1).random((batch, heads, queries, keys)) < 0.3
    cells[..., 128:, :128] = True
    cells[..., :3, :] = False
    cells[..., 7] = False
    return DenseMask(cells)


def tensors(mask: DenseMask, heads: int = 2, kv_heads: int = 2, batch: int = 2, dtype: torch.dtype = torch.float32,
            head_dim: int = 16, head_dim_v: int = 24) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    torch.manual_seed(2)
    shapes = ((heads, mask.query_length, head_dim), (kv_heads, mask.key_length, head_dim))
    q, k = (torch.randn(batch, *shape, dtype=dtype, requires_grad=True) for shape in shapes)
    return q, k, torch.randn(batch, kv_heads, mask.key_length, head_dim_v, dtype=dtype, requires_grad=True)
