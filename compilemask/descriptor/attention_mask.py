"""What `attention` takes for a mask."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from compilemask.descriptor.descriptor import Descriptor


@runtime_checkable
class AttentionMask(Protocol):
    """A mask that the kernels can run: a `CompiledMask`, or the `stored` of one."""

    @property
    def number(self) -> int:
        """From `descriptor.registry.register`: stands for the mask where only numbers pass."""

    @property
    def query_length(self) -> int:
        """Number of queries."""

    @property
    def key_length(self) -> int:
        """Number of keys."""

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        """What a kernel reads, for tiles of that many queries and keys."""
