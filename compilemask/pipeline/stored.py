"""A mask for tensors whose tokens lie in its order already: a model moves them once, not every call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor import Descriptor
from compilemask.descriptor.registry import register

if TYPE_CHECKING:
    from compilemask.pipeline.compiled import CompiledMask


class StoredMask:
    """The same visible pairs of tokens as those of a mask, for tensors in the mask's token order.

    With q [batch, heads, queries, head_dim], k and v in the order of the text, and `rows, columns = mask.query_order,
    mask.key_order`: `attention(q[:, :, rows], k[:, :, columns], v[:, :, columns], mask.stored)` is
    `attention(q, k, v, mask)[:, :, rows]`.
    """

    def __init__(self, mask: CompiledMask) -> None:
        self._mask = mask
        self._descriptors: dict[tuple[int, int], Descriptor] = {}
        self.number = register(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy, or a mask read from a pickle, gets a number of its own."""
        self.__dict__.update(state)
        self.number = register(self)

    def __repr__(self) -> str:
        return f"StoredMask({self.name!r}, {self.query_length} queries x {self.key_length} keys)"

    @property
    def name(self) -> str:
        """The mask's."""
        return self._mask.name

    @property
    def batch(self) -> int:
        """Batch entries that the mask tells apart; 1 serves every batch."""
        return self._mask.batch

    @property
    def heads(self) -> int:
        """Heads that the mask tells apart; 1 serves every number of heads."""
        return self._mask.heads

    @property
    def query_length(self) -> int:
        """Number of queries, padding included."""
        return self._mask.query_length

    @property
    def key_length(self) -> int:
        """Number of keys, padding included."""
        return self._mask.key_length

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        """What a kernel reads. UsageError for tiles of no or more than 256 tokens."""
        if (block_m, block_n) not in self._descriptors:
            ordered = self._mask.descriptor(block_m, block_n)
            self._descriptors[block_m, block_n] = replace(ordered, query_order=None, key_order=None)
        return self._descriptors[block_m, block_n]

    def dense(self, batch: int = 0, head: int = 0) -> NDArray[np.bool_]:
        """Boolean [queries, keys], both in the mask's order; the caller answers for its size."""
        return self._mask.dense(batch, head)[np.ix_(self._mask.query_order, self._mask.key_order)]
