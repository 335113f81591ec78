"""Launches that skip Triton's per-call work: it re-derives the specialisation of every argument at each launch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch

_compiled: dict[Hashable, Any] = {}


def on_device(device: torch.device) -> AbstractContextManager[object]:
    """Triton launches on the current device, whatever the tensors' is; CPU tensors are for its interpreter."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


class Launcher:
    """Launches one kernel in one variant.

    `variant` must tell apart all calls that compile differently: device, dtypes, constants, and the divisibility of
    any argument that the kernel lets Triton specialise.
    """

    def __init__(self, kernel: Any, variant: Hashable, num_warps: int) -> None:
        self._kernel, self._num_warps = kernel, num_warps
        self._key = (kernel, variant)
        self._found: Any = None

    @property
    def has_compiled(self) -> bool:
        """Whether this variant was launched before, by anybody."""
        if self._found is None:  # once known it is kept here: the key is slow to hash
            self._found = _compiled.get(self._key)
        return self._found is not None

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Runs the kernel with positional `arguments`, constants included."""
        if not self.has_compiled:
            _compiled[self._key] = self._kernel[grid](*arguments, num_warps=self._num_warps)
            return
        found, (settings, driver) = self._found, _triton()
        hook = settings.launch_enter_hook
        if hook is not None and getattr(hook, "calls", True):  # a profiler wants to hear of launches
            found[grid](*arguments)
            return
        active = driver.active
        stream = active.get_current_stream(active.get_current_device())
        found.run(*grid, stream, found.function, found.packed_metadata, None, None, None, *arguments)


@cache
def _triton() -> tuple[Any, Any]:
    """Triton's settings at run time and its driver; on other platforms there is no Triton to import."""
    from triton import knobs
    from triton.runtime import driver

    return knobs.runtime, driver


def launch(
    kernel: Any, variant: Hashable, grid: tuple[int, int, int], arguments: Sequence[Any], num_warps: int
) -> None:
    """One launch, as of `Launcher`."""
    Launcher(kernel, variant, num_warps)(grid, arguments)
