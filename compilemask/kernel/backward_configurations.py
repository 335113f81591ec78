"""Launch configurations of the portable backward kernels: data per GPU family, head_dim and element width."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from compilemask.kernel.configurations import Configuration, Family, padded


@dataclass(frozen=True, slots=True)
class BackwardConfiguration:
    """How the two passes are launched; each names the tile size of its own descriptor, queries x keys."""

    keys: Configuration  # dK and dV, along the key tiles
    queries: Configuration  # dQ, along the query tiles


_16_BIT: dict[Family, dict[int, BackwardConfiguration]] = {
    # keyed by the padded head_dim (the larger of the K and V sides)
    Family.AMPERE: {
        16: BackwardConfiguration(Configuration(64, 64, 4, 2), Configuration(64, 64, 4, 2)),
        32: BackwardConfiguration(Configuration(64, 64, 4, 2), Configuration(64, 64, 4, 2)),
        64: BackwardConfiguration(Configuration(64, 64, 8, 2), Configuration(128, 64, 8, 2)),
        128: BackwardConfiguration(Configuration(64, 64, 8, 2), Configuration(64, 64, 8, 2)),
        256: BackwardConfiguration(Configuration(32, 64, 8, 1), Configuration(64, 32, 8, 1)),
    },
    Family.CONSUMER: {
        16: BackwardConfiguration(Configuration(64, 64, 4, 2), Configuration(64, 64, 4, 2)),
        32: BackwardConfiguration(Configuration(64, 64, 4, 2), Configuration(64, 64, 4, 2)),
        64: BackwardConfiguration(Configuration(32, 64, 4, 2), Configuration(64, 32, 4, 2)),
        128: BackwardConfiguration(Configuration(32, 64, 4, 1), Configuration(64, 32, 4, 1)),
        256: BackwardConfiguration(Configuration(32, 32, 4, 1), Configuration(32, 32, 4, 1)),
    },
    Family.HOPPER: {
        16: BackwardConfiguration(Configuration(64, 128, 4, 2), Configuration(128, 64, 4, 2)),
        32: BackwardConfiguration(Configuration(64, 128, 4, 2), Configuration(128, 64, 4, 2)),
        64: BackwardConfiguration(Configuration(64, 128, 8, 2), Configuration(128, 64, 8, 2)),
        128: BackwardConfiguration(Configuration(64, 128, 8, 3), Configuration(128, 128, 8, 2)),
        256: BackwardConfiguration(Configuration(64, 32, 4, 1), Configuration(128, 32, 8, 1)),
    },
    Family.BLACKWELL: {
        16: BackwardConfiguration(Configuration(64, 128, 4, 2), Configuration(128, 64, 4, 2)),
        32: BackwardConfiguration(Configuration(64, 128, 4, 2), Configuration(128, 64, 4, 2)),
        64: BackwardConfiguration(Configuration(64, 128, 8, 2), Configuration(128, 64, 8, 2)),
        128: BackwardConfiguration(Configuration(64, 128, 8, 1), Configuration(128, 64, 8, 1)),
        256: BackwardConfiguration(Configuration(64, 64, 8, 1), Configuration(64, 64, 8, 1)),
    },
}

_32_BIT: dict[int, BackwardConfiguration] = {
    16: BackwardConfiguration(Configuration(32, 64, 4, 1), Configuration(64, 32, 4, 1)),
    32: BackwardConfiguration(Configuration(32, 64, 4, 1), Configuration(64, 32, 4, 1)),
    64: BackwardConfiguration(Configuration(32, 32, 4, 1), Configuration(32, 32, 4, 1)),
    128: BackwardConfiguration(Configuration(16, 32, 8, 1), Configuration(16, 32, 8, 1)),
    256: BackwardConfiguration(Configuration(16, 32, 8, 1), Configuration(16, 32, 8, 1)),
}

_INTERPRETER = BackwardConfiguration(Configuration(64, 64, 4, 1), Configuration(64, 64, 4, 1))


def backward_configuration(family: Family, dtype: torch.dtype, head_dim: int, head_dim_v: int) -> BackwardConfiguration:
    """The choice for the portable backward kernels."""
    if family is Family.INTERPRETER:
        return _INTERPRETER
    width = padded(max(head_dim, head_dim_v))
    return _32_BIT[width] if dtype.itemsize > 2 else _16_BIT[family][width]
