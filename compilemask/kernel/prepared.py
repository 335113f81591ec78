"""Masks that kernels have met: a small number for each, and what was built for it on each device.

Operators registered with PyTorch take tensors and numbers only, so a mask travels through them as its handle.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import find
from compilemask.errors import InternalError, UsageError
from compilemask.kernel.device_tensors import DeviceTensors, to_device
from compilemask.kernel.uploads import current_stream, keep_until_read, uploading

Built = TypeVar("Built")
MOST_KEPT = 256  # geometries of calls: a model whose batch size never repeats must not fill the memory


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """Token orders as int64 tensors; None where the caller's order is kept."""

    query: Tensor | None  # slot i of the kernel holds the caller's query[i]
    query_inverse: Tensor | None
    key: Tensor | None
    key_inverse: Tensor | None


class PreparedMask:
    """One mask, with everything that was derived from it for running; built on first use, then kept."""

    def __init__(self, mask: AttentionMask, number: int) -> None:
        self._mask, self.number = weakref.ref(mask), number
        self.interpreted = False
        self._descriptors: dict[tuple[int, int], Descriptor] = {}
        self._tensors: dict[tuple[int, int, torch.device], DeviceTensors] = {}
        self._orders: dict[torch.device, Orders] = {}
        self._derived: dict[Hashable, object] = {}
        self._calls: dict[Hashable, Callable[..., tuple[Tensor, Tensor]]] = {}
        # device and stream of readers that PyTorch knows to read all that was built so far
        self._readers: set[tuple[torch.device, int]] = set()
        variant = self.descriptor(128, 128).variant
        self.batch, self.heads = int(variant.shape[0]), int(variant.shape[1])

    def interpret(self) -> None:
        """From now on CPU tensors go through the Triton kernels, which Triton has to interpret in this process."""
        self.interpreted = True
        self._calls.clear()

    def descriptor(self, block_m: int, block_n: int) -> Descriptor:
        """The descriptor for one tile size."""
        found = self._descriptors.get((block_m, block_n))
        if found is None:
            mask = self._mask()
            if mask is None:
                raise InternalError("a mask was used after it was deleted")
            found = self._descriptors[block_m, block_n] = mask.descriptor(block_m, block_n)
        return found

    def tensors(self, block_m: int, block_n: int, device: torch.device) -> DeviceTensors:
        """The descriptor's tensors on a device."""
        found = self._tensors.get((block_m, block_n, device))
        if found is None:
            with uploading(device):
                found = to_device(self.descriptor(block_m, block_n), device)
            self._tensors[block_m, block_n, device] = found
            self._readers.clear()
        return found

    def orders(self, device: torch.device) -> Orders:
        """The token orders on a device."""
        found = self._orders.get(device)
        if found is None:
            with uploading(device):
                found = self._orders[device] = _orders(self.descriptor(128, 128), device)
            self._readers.clear()
        return found

    def recall(self, key: Hashable) -> object | None:
        """What a kernel path kept under `key` (a schedule, say), or None."""
        return self._derived.get(key)

    def keep(self, key: Hashable, built: Built) -> Built:
        """Keeps `built` under `key` for as long as the mask lives and has not met very many geometries."""
        self._make_room()
        self._derived[key] = built
        self._readers.clear()
        return built

    def call(self, asked: Hashable) -> Callable[..., tuple[Tensor, Tensor]] | None:
        """How calls run for which all this was asked before, or None."""
        return self._calls.get(asked)

    def keep_call(self, asked: Hashable, call: Callable[..., tuple[Tensor, Tensor]]) -> None:
        """Keeps what `call` answers from now on."""
        self._make_room()
        self._calls[asked] = call

    def _make_room(self) -> None:
        if max(len(self._derived), len(self._calls)) >= MOST_KEPT:
            self._derived.clear()
            self._calls.clear()

    def is_read_here(self, device: torch.device) -> None:
        """To be called before kernels read what was built here, on the stream that they are launched on."""
        if device.type != "cuda":
            return
        reader = device, current_stream(device)
        if reader not in self._readers:
            for built in (*self._tensors.values(), *self._orders.values(), *self._derived.values()):
                keep_until_read(built, device)
            self._readers.add(reader)


def _orders(descriptor: Descriptor, device: torch.device) -> Orders:
    query, key = (
        None if order is None else torch.from_numpy(order.astype("int64")).to(device)
        for order in (descriptor.query_order, descriptor.key_order)
    )
    inverses = (None if order is None else torch.argsort(order) for order in (query, key))
    return Orders(query, next(inverses), key, next(inverses))


_prepared: dict[int, PreparedMask] = {}


def handle_of(mask: object) -> int:
    """The number of a mask; the same for as long as it lives. Raises UsageError for what is no compiled mask."""
    if not hasattr(mask, "descriptor") or not hasattr(mask, "number"):
        given = repr(str(mask)) if isinstance(mask, str | Path) else f"of type {type(mask).__name__}"
        raise UsageError(
            f"mask must be a compiled mask, but is {given}; compilemask.compile makes one of a file or a name, "
            "and `compilemask import` makes a file of a dense array."
        )
    return cast(AttentionMask, mask).number


def prepared(handle: int) -> PreparedMask:
    """What is kept for the mask behind a handle. Raises UsageError when that mask is gone."""
    found = _prepared.get(handle)
    if found is None:
        mask = find(handle)
        if mask is None:
            raise UsageError(
                f"mask {handle} is not alive in this process: keep a reference to a mask until its last backward pass "
                "has run, and compile it in the process that uses it."
            )
        found = _prepared[handle] = PreparedMask(cast(AttentionMask, mask), handle)
        weakref.finalize(mask, _prepared.pop, handle, None)
    return found
