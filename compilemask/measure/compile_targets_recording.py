"""Compiles whatever a launcher would launch, for a GPU that need not be there, and keeps the result.

Triton asks its active driver which GPU it compiles for. A driver that only names one turns every launch into the exact
compilation that this launch would need on such a GPU, argument specialisation included; nothing runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction


class NamedTarget:
    """Stands in for Triton's driver: answers which GPU to compile for, and has no way to run anything."""

    def __init__(self, capability: int) -> None:
        self._capability = capability

    def get_current_target(self) -> Any:
        return GPUTarget("cuda", self._capability, 32)

    def get_current_device(self) -> int:
        # Triton keeps compiled kernels per device number: one number per target keeps targets apart
        return self._capability

    def get_current_stream(self, device: int) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Compiled:
    """One compiled kernel: its texts and binary by stage, Triton's metadata, and how long it took."""

    kernel: str
    stages: dict[str, str | bytes]  # ttir, ttgir, llir, ptx: text; cubin: bytes
    shared_bytes: int
    tensor_memory: int  # columns
    seconds: float


@dataclass(slots=True)
class Recording:
    """The kernels compiled so far, in the order of their launches."""

    kernels: list[Compiled] = field(default_factory=list)


@contextmanager
def recording(capability: int) -> Iterator[Recording]:
    """Within it, `kernel[grid](...)` compiles for sm_<capability> and records; it never runs."""
    found = Recording()
    original = JITFunction.run

    def compile_only(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        start = time.perf_counter()
        kernel = original(self, *args, grid=grid, warmup=True, **options)
        found.kernels.append(_compiled(self.__name__, kernel, time.perf_counter() - start))
        return kernel

    triton.runtime.driver.set_active(NamedTarget(capability))
    try:
        with mock.patch.object(JITFunction, "run", compile_only):
            yield found
    finally:
        triton.runtime.driver._active = None


def _compiled(name: str, kernel: Any, seconds: float) -> Compiled:
    texts = {stage: kernel.asm[stage] for stage in ("ttir", "ttgir", "llir", "ptx", "cubin") if stage in kernel.asm}
    columns = getattr(kernel.metadata, "tmem_size", None) or 0
    return Compiled(name, texts, int(kernel.metadata.shared), int(columns), seconds)
