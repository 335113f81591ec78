"""Launch configurations: data per GPU family, head_dim and element width. `make tune` remeasures them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import torch


class Family(Enum):
    """GPUs that share instructions and shared-memory size, as far as these kernels care."""

    AMPERE = "sm_80"  # mma.sync, cp.async, 163 KiB of shared memory
    CONSUMER = "sm_86, sm_89, sm_120"  # mma.sync, 99 KiB
    HOPPER = "sm_90"  # wgmma, TMA, 227 KiB
    BLACKWELL = "sm_100, sm_103"  # tcgen05, tensor memory, TMA, 227 KiB
    INTERPRETER = "no GPU"


@dataclass(frozen=True, slots=True)
class Configuration:
    """How one kernel is launched; block_m x block_n is also the tile size of its descriptor."""

    block_m: int
    block_n: int
    warps: int
    stages: int
    warp_specialize: bool = False  # let Triton split the loop over full tiles between kinds of warps


def family_of(capability: tuple[int, int]) -> Family:
    """The family of a compute capability. Unknown newer ones are taken for what they most resemble."""
    major, minor = capability
    if major == 9:
        return Family.HOPPER
    if major in (10, 11):
        return Family.BLACKWELL
    if (major, minor) == (8, 0):
        return Family.AMPERE
    return Family.CONSUMER


_FORWARD_16_BIT: dict[Family, dict[int, Configuration]] = {
    # keyed by the padded head_dim (the larger of the K and V sides)
    Family.AMPERE: {
        16: Configuration(128, 64, 8, 3),
        32: Configuration(128, 64, 8, 3),
        64: Configuration(128, 64, 8, 3),
        128: Configuration(128, 64, 8, 2),
        256: Configuration(64, 64, 8, 2),
    },
    Family.CONSUMER: {
        16: Configuration(128, 64, 4, 2),
        32: Configuration(128, 64, 4, 2),
        64: Configuration(128, 64, 8, 2),
        128: Configuration(128, 32, 8, 2),
        256: Configuration(64, 32, 8, 1),
    },
    Family.HOPPER: {
        16: Configuration(128, 128, 8, 2),
        32: Configuration(128, 128, 8, 2),
        64: Configuration(128, 128, 8, 2),
        128: Configuration(128, 128, 8, 2),
        256: Configuration(128, 64, 8, 2),
    },
    Family.BLACKWELL: {
        16: Configuration(128, 128, 8, 2),
        32: Configuration(128, 128, 8, 2),
        64: Configuration(128, 128, 8, 2),
        128: Configuration(128, 64, 8, 2),
        256: Configuration(64, 64, 8, 2),
    },
}

# The first Triton version whose own warp specialisation of the loop over full tiles is used. Before 3.9 it compiles for
# sm_100 too, but spills 216 bytes and more at head_dim 128.
WARP_SPECIALIZED_SINCE: dict[Family, tuple[int, int]] = {Family.BLACKWELL: (3, 9)}


def warp_specializes(family: Family, triton_version: str) -> bool:
    """Whether the portable forward kernel asks this Triton to specialise warps on this family."""
    since = WARP_SPECIALIZED_SINCE.get(family)
    major, minor = triton_version.split(".")[:2]
    return since is not None and (int(major), int(minor)) >= since


@cache
def _triton_version() -> str:
    try:
        return version("triton")
    except PackageNotFoundError:
        return "0.0"


_FORWARD_32_BIT: dict[int, Configuration] = {
    16: Configuration(64, 32, 8, 1),
    32: Configuration(64, 32, 8, 1),
    64: Configuration(64, 32, 8, 1),
    128: Configuration(32, 32, 8, 1),
    256: Configuration(32, 32, 8, 1),
}


@dataclass(frozen=True, slots=True)
class HopperConfiguration:
    """Launch of the Gluon forward kernel."""

    parts: int  # consumer warpgroups, 64 query rows each
    block_n: int
    stages: int  # ring slots for K and V
    q_in_registers: bool
    consumer_registers: int  # per thread
    producer_registers: int
    output_in_query: bool = False  # the output leaves through Q's shared memory, as there is no other

    @property
    def block_m(self) -> int:
        """Rows of a query tile."""
        return 64 * self.parts


_WIDE = HopperConfiguration(2, 64, 2, False, 240, 24)
_TWO_CONSUMERS = HopperConfiguration(2, 128, 2, True, 240, 24)

HOPPER_GLUON: dict[tuple[int, int], HopperConfiguration] = {
    # keyed by the padded head_dim of K and of V
    (64, 64): HopperConfiguration(2, 128, 4, True, 240, 24),
    (64, 128): _TWO_CONSUMERS,
    (128, 64): _TWO_CONSUMERS,
    (128, 128): _TWO_CONSUMERS,
    (64, 256): _WIDE,
    (128, 256): _WIDE,
    (256, 64): _WIDE,
    (256, 128): _WIDE,
    (256, 256): replace(_WIDE, output_in_query=True),
}

# Taller tiles: more warps hide each other's waits where exponentials take as long as products, but a tile may cover
# more hidden cells. They are used where they cover at most TALL_LIMIT times the cells that the usual tiles cover.
HOPPER_TALL: dict[tuple[int, int], HopperConfiguration] = {
    (64, 64): HopperConfiguration(3, 128, 4, False, 160, 24),
}
TALL_LIMIT = 1.04

SMALLEST_SCALE = 1e-6


def is_usual(scale: float) -> bool:
    """Whether the Hopper kernels can take this scale: with less their bias for hidden cells, -2**127 before scaling,
    would no longer outweigh the scores."""
    return scale >= SMALLEST_SCALE


_INTERPRETER = Configuration(64, 64, 4, 1)


def padded(head_dim: int) -> int:
    """The power of two that a kernel computes with."""
    return max(16, 1 << (head_dim - 1).bit_length())


def forward_configuration(family: Family, dtype: torch.dtype, head_dim: int, head_dim_v: int) -> Configuration:
    """Launch of the portable forward kernel: measured on Hopper, elsewhere by what compiles without spills."""
    if family is Family.INTERPRETER:
        return _INTERPRETER
    width = padded(max(head_dim, head_dim_v))
    if dtype.itemsize > 2:
        return _FORWARD_32_BIT[width]
    return replace(_FORWARD_16_BIT[family][width], warp_specialize=warp_specializes(family, _triton_version()))
