"""Launches the portable backward kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.backward import attention_backward_keys, attention_backward_queries, row_terms
from compilemask.kernel.backward_configurations import BackwardConfiguration
from compilemask.kernel.configurations import padded
from compilemask.kernel.device_tensors import DeviceTensors, variant_strides
from compilemask.kernel.schedule import head_group

_ROW_BLOCK = 64


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """What the backward pass needs of the forward one, and the gradients that come in. Any strides.

    q [B, H, M, D], k [B, HK, N, D], v [B, HK, N, DV], out and dout [B, H, M, DV], lse and dlse [B, H, M] (lse
    contiguous, natural logarithm, -inf where a query sees nothing); dlse None counts as zero.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    out: Tensor
    lse: Tensor
    dout: Tensor
    dlse: Tensor | None

    def tensors(self) -> tuple[Tensor | None, ...]:
        return self.query, self.key, self.value, self.out, self.lse, self.dout, self.dlse


def portable_backward(
    saved: ForwardResult,
    by_key: DeviceTensors,
    by_query: DeviceTensors,
    scale: float,
    configuration: BackwardConfiguration,
) -> tuple[Tensor, Tensor, Tensor]:
    """dQ, dK and dV, contiguous, in the dtype of q.

    `by_key` is the descriptor at the tile size of `configuration.keys`, `by_query` at that of `configuration.queries`;
    all tensors are in their token order.
    """
    query, key, value = saved.query, saved.key, saved.value
    dquery, dkey, dvalue = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (query, key, value))
    lse, delta = query_terms(saved)
    _launch_keys(saved, lse, delta, dkey, dvalue, by_key, scale, configuration)
    _launch_queries(saved, lse, delta, dquery, by_query, scale, configuration)
    return dquery, dkey, dvalue


def query_terms(saved: ForwardResult) -> tuple[Tensor, Tensor]:
    """LSE in powers of two (+inf for a query that sees nothing) and rowsum(out * dout) - dlse, both [B, H, M]."""
    batch, heads, length, width = saved.out.shape
    lse_log2, delta = (torch.empty_like(saved.lse) for _ in range(2))
    tiles = -(-length // _ROW_BLOCK)
    dlse = saved.lse if saved.dlse is None else saved.dlse
    row_terms[(batch * heads * tiles,)](
        saved.out, saved.dout, saved.lse, dlse, lse_log2, delta,
        *saved.out.stride(), *saved.dout.stride(), *dlse.stride(), length, heads, tiles,
        HEAD_DIM_V=width, BLOCK_DV=padded(width), BLOCK_M=_ROW_BLOCK, HAS_DLSE=saved.dlse is not None, num_warps=4,
    )  # fmt: skip
    return lse_log2, delta


def _launch_keys(
    saved: ForwardResult,
    lse: Tensor,
    delta: Tensor,
    dkey: Tensor,
    dvalue: Tensor,
    tensors: DeviceTensors,
    scale: float,
    configuration: BackwardConfiguration,
) -> None:
    query, key, value = saved.query, saved.key, saved.value
    batch, key_heads, keys, width = key.shape
    lists, launch = tensors.by_key, configuration.keys
    row_bytes = (width + value.shape[3]) * key.element_size()
    attention_backward_keys[(batch * key_heads * lists.tiles,)](
        query, key, value, saved.dout, lse, delta, dkey, dvalue,
        *query.stride(), *key.stride(), *value.stride(), *saved.dout.stride(), *dkey.stride(), *dvalue.stride(),
        tensors.variant, *variant_strides(tensors), lists.heavy_first,
        lists.full_offsets, lists.full_runs, lists.partial_offsets, lists.partial_tiles, lists.partial_patterns,
        tensors.patterns, query.shape[2], keys, lists.tiles, key_heads, batch * key_heads,
        head_group(query.shape[2], row_bytes, 1, batch * key_heads), query.shape[1] // key_heads,
        scale, scale * math.log2(math.e), **_widths(saved), BLOCK_M=launch.block_m, BLOCK_N=launch.block_n,
        PRECISION=_precision(query.dtype), num_warps=launch.warps, num_stages=launch.stages,
    )  # fmt: skip


def _launch_queries(
    saved: ForwardResult,
    lse: Tensor,
    delta: Tensor,
    dquery: Tensor,
    tensors: DeviceTensors,
    scale: float,
    configuration: BackwardConfiguration,
) -> None:
    query, key, value = saved.query, saved.key, saved.value
    batch, heads, length, width = query.shape
    lists, launch = tensors.by_query, configuration.queries
    row_bytes = (width + value.shape[3]) * key.element_size()
    live_keys = tensors.patterns if tensors.live_keys is None else tensors.live_keys
    attention_backward_queries[(batch * heads * lists.tiles,)](
        query, key, value, saved.dout, lse, delta, dquery,
        *query.stride(), *key.stride(), *value.stride(), *saved.dout.stride(), *dquery.stride(),
        tensors.variant, *variant_strides(tensors), lists.heavy_first,
        lists.full_offsets, lists.full_runs, lists.partial_offsets, lists.partial_tiles, lists.partial_patterns,
        tensors.patterns, live_keys, length, key.shape[2], lists.tiles, heads, batch * heads,
        head_group(key.shape[2], row_bytes, 1, batch * heads), heads // key.shape[1],
        scale, scale * math.log2(math.e), **_widths(saved), BLOCK_M=launch.block_m, BLOCK_N=launch.block_n,
        DEAD_KEYS=tensors.live_keys is not None, PRECISION=_precision(query.dtype),
        num_warps=launch.warps, num_stages=launch.stages,
    )  # fmt: skip


def _widths(saved: ForwardResult) -> dict[str, int]:
    width, width_v = saved.query.shape[3], saved.value.shape[3]
    return {"HEAD_DIM": width, "HEAD_DIM_V": width_v, "BLOCK_D": padded(width), "BLOCK_DV": padded(width_v)}


def _precision(dtype: torch.dtype) -> str:
    return "ieee" if dtype == torch.float32 else "tf32"
