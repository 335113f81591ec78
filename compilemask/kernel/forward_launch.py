"""Launches the portable forward kernel."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from compilemask.kernel.configurations import Configuration, padded
from compilemask.kernel.device_tensors import DeviceTensors, variant_strides
from compilemask.kernel.forward import attention_forward
from compilemask.kernel.schedule import head_group


def portable_forward(
    query: Tensor, key: Tensor, value: Tensor, tensors: DeviceTensors, scale: float, configuration: Configuration
) -> tuple[Tensor, Tensor]:
    """Output [B, H, M, DV] in the query's dtype and LSE [B, H, M] in float32, natural logarithm.

    Tensors are [B, H, M, D], [B, HK, N, D] and [B, HK, N, DV] of any strides, already in the descriptor's token order.
    """
    batch, heads, length, head_dim = query.shape
    head_dim_v = value.shape[3]
    output = torch.empty(batch, heads, length, head_dim_v, dtype=query.dtype, device=query.device)
    lse = torch.empty(batch, heads, length, dtype=torch.float32, device=query.device)
    lists = tensors.by_query
    live_keys = tensors.patterns if tensors.live_keys is None else tensors.live_keys
    attention_forward[(batch * heads * lists.tiles,)](
        query, key, value, output, lse,
        *query.stride(), *key.stride(), *value.stride(), *output.stride(),
        tensors.variant, *variant_strides(tensors), lists.heavy_first,
        lists.full_offsets, lists.full_runs, lists.partial_offsets, lists.partial_tiles, lists.partial_patterns,
        tensors.patterns, live_keys,
        length, key.shape[2], lists.tiles, heads, batch * heads,
        head_group(key.shape[2], head_dim + head_dim_v, key.element_size(), batch * heads),
        heads // key.shape[1], scale * math.log2(math.e),
        HEAD_DIM=head_dim, HEAD_DIM_V=head_dim_v, BLOCK_D=padded(head_dim), BLOCK_DV=padded(head_dim_v),
        BLOCK_M=configuration.block_m, BLOCK_N=configuration.block_n,
        DEAD_KEYS=tensors.live_keys is not None,
        PRECISION="ieee" if query.dtype == torch.float32 else "tf32",
        WARP_SPECIALIZE=configuration.warp_specialize,
        num_warps=configuration.warps, num_stages=configuration.stages,
    )  # fmt: skip
    return output, lse
