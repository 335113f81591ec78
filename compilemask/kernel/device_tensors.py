"""A descriptor on a device: the tensors that every kernel reads, built once and kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.descriptor.descriptor import Descriptor, TileLists
from compilemask.kernel.liveness import live_keys, live_queries


@dataclass(frozen=True, slots=True, eq=False)
class DeviceLists:
    """`TileLists` as int32 tensors. A row is variant * tiles + tile of the walking axis."""

    full_offsets: Tensor  # [variants * tiles + 1]
    full_runs: Tensor  # [runs or 1, 2]
    partial_offsets: Tensor  # [variants * tiles + 1]
    partial_tiles: Tensor  # [partial or 1]
    partial_patterns: Tensor  # [partial or 1]
    heavy_first: Tensor  # [variants, tiles]: tile numbers, most listed tiles first
    tiles: int


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTensors:
    """Everything of one descriptor that kernels read on one device.

    `live_keys` and `live_queries` are None where every key (query) of every variant takes part in some visible cell;
    otherwise uint8 [variants, length], 0 where the tensors may hold anything, NaN included.
    """

    query_length: int
    key_length: int
    block_m: int
    block_n: int
    variants: int
    variant: Tensor  # int32 [batch or 1, heads or 1]
    by_query: DeviceLists
    by_key: DeviceLists
    patterns: Tensor  # int32 [distinct or 1, block_m, words]
    live_keys: Tensor | None
    live_queries: Tensor | None


def to_device(descriptor: Descriptor, device: torch.device) -> DeviceTensors:
    """Copies a descriptor to `device` and adds what only the kernels need: work order and liveness."""
    keys, queries = live_keys(descriptor), live_queries(descriptor)
    query_tiles = -(-descriptor.query_length // descriptor.block_m)
    key_tiles = -(-descriptor.key_length // descriptor.block_n)
    return DeviceTensors(
        query_length=descriptor.query_length,
        key_length=descriptor.key_length,
        block_m=descriptor.block_m,
        block_n=descriptor.block_n,
        variants=descriptor.variants,
        variant=_tensor(descriptor.variant, device),
        by_query=_lists(descriptor.by_query, query_tiles, descriptor.variants, device),
        by_key=_lists(descriptor.by_key, key_tiles, descriptor.variants, device),
        patterns=_tensor(descriptor.patterns.view(np.int32), device),
        live_keys=None if keys.all() else _bytes(keys, device),
        live_queries=None if queries.all() else _bytes(queries, device),
    )


def variant_strides(tensors: DeviceTensors) -> tuple[int, int]:
    """Batch and head stride of the variant table; an axis of length 1 serves all."""
    batch, heads = tensors.variant.shape
    return (heads if batch > 1 else 0, 1 if heads > 1 else 0)


def work_per_row(lists: TileLists) -> NDArray[np.int64]:
    """Listed tiles, full and partial, of every row."""
    lengths = np.concatenate([[0], np.cumsum(lists.full_runs[:, 1].astype(np.int64) - lists.full_runs[:, 0])])
    full = lengths[lists.full_offsets[1:]] - lengths[lists.full_offsets[:-1]]
    work: NDArray[np.int64] = full + np.diff(lists.partial_offsets)
    return work


def _lists(lists: TileLists, tiles: int, variants: int, device: torch.device) -> DeviceLists:
    work = work_per_row(lists).reshape(variants, tiles)
    return DeviceLists(
        full_offsets=_tensor(lists.full_offsets, device),
        full_runs=_tensor(lists.full_runs.reshape(-1, 2), device),
        partial_offsets=_tensor(lists.partial_offsets, device),
        partial_tiles=_tensor(lists.partial_tiles, device),
        partial_patterns=_tensor(lists.partial_patterns, device),
        heavy_first=_tensor(np.argsort(-work, axis=1, kind="stable"), device),
        tiles=tiles,
    )


def _tensor(array: NDArray[np.generic], device: torch.device) -> Tensor:
    """int32 on the device; never empty, so that a pointer to it is always valid."""
    if array.size == 0:
        array = np.zeros([max(length, 1) for length in array.shape], np.int32)
    return torch.from_numpy(np.array(array, dtype=np.int32, order="C")).to(device)


def _bytes(flags: NDArray[np.bool_], device: torch.device) -> Tensor:
    return torch.from_numpy(flags.astype(np.uint8, order="C")).to(device)
