"""Launches the Hopper forward kernel: what it accepts, its tensor maps, and what is built once per mask and shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from compilemask.kernel.configurations import HOPPER_GLUON
from compilemask.kernel.forward_launch import head_group
from compilemask.kernel.hopper_patterns import accumulator_order
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.schedule import CallShape, make_schedule

BLOCK = 128
SMALLEST_SCALE = 1e-6  # below it a hidden cell's bias of -2**127 would no longer outweigh the scores
TMA_ALIGNMENT = 16  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What the kernel reads beside the tensors of a call; token lengths count only up to the last live token."""

    programs: int
    items: Tensor
    item_offsets: Tensor
    full_runs: Tensor
    partial_tiles: Tensor
    partial_patterns: Tensor
    pattern_words: Tensor
    live_keys: Tensor | None  # bool [batch or 1, key heads or 1, keys, 1] where unseen keys must be blanked
    live_queries: Tensor | None
    query_end: int
    key_end: int


def hopper_accepts(query: Tensor, key: Tensor, value: Tensor, scale: float) -> bool:
    """Whether the Gluon kernel can compute this call; the rest goes to the portable kernel."""
    dims = (query.shape[3], value.shape[3])
    return (
        query.dtype in (torch.bfloat16, torch.float16)
        and all(32 < dim <= BLOCK for dim in dims)
        and scale >= SMALLEST_SCALE
        and all(dim % 8 == 0 for dim in dims)
        and gluon_runs()
    )


@cache
def gluon_runs() -> bool:
    """Whether this Triton can build the kernel."""
    try:
        from compilemask.kernel import hopper_forward  # noqa: F401
    except (ImportError, AttributeError):
        return False
    return True


def hopper_forward(
    query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float
) -> tuple[Tensor, Tensor]:
    """As `portable_forward`, for tensors that `hopper_accepts`."""
    from compilemask.kernel.hopper_forward import hopper_attention_forward

    batch, heads, length, head_dim = query.shape
    head_dim_v = value.shape[3]
    output = torch.empty(batch, heads, length, head_dim_v, dtype=query.dtype, device=query.device)
    lse = torch.empty(batch, heads, length, dtype=torch.float32, device=query.device)
    if output.numel() == 0:
        return output, lse
    plan = _plan(query, key, value, mask)
    key, value = _unexpanded(key, value)
    if plan.live_keys is not None:
        key, value = torch.where(plan.live_keys, key, 0), torch.where(plan.live_keys, value, 0)
    if plan.live_queries is not None:
        query = torch.where(plan.live_queries, query, 0)
    width, width_v = _block_width(head_dim), _block_width(head_dim_v)
    configuration = HOPPER_GLUON[width, width_v]
    hopper_attention_forward[(plan.programs,)](
        _descriptor(query, plan.query_end, 64, width), _descriptor(key, plan.key_end, BLOCK, width),
        _descriptor(value, plan.key_end, BLOCK, width_v), _descriptor(output, length, 64, width_v), lse,
        plan.items, plan.item_offsets, plan.full_runs, plan.partial_tiles, plan.partial_patterns, plan.pattern_words,
        heads, length, scale * math.log2(math.e),
        BLOCK_N=BLOCK, HEAD_DIM=width, HEAD_DIM_V=width_v, STAGES=configuration.stages,
        CONSUMER_REGISTERS=configuration.consumer_registers, PRODUCER_REGISTERS=configuration.producer_registers,
        num_warps=4,
    )  # fmt: skip
    return output, lse


def _block_width(head_dim: int) -> int:
    return 64 if head_dim <= 64 else 128


def _unexpanded(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Axes that repeat one entry (stride 0) cut to that entry; the schedule then points every item at it."""
    for axis in (0, 1):
        if _shared(key, value, axis):
            key, value = key.narrow(axis, 0, 1), value.narrow(axis, 0, 1)
    return key, value


def _shared(key: Tensor, value: Tensor, axis: int) -> bool:
    return key.shape[axis] > 1 and key.stride(axis) == 0 and value.stride(axis) == 0


def _descriptor(tensor: Tensor, length: int, rows: int, width: int) -> object:
    """A tensor map over [batch, heads, length, head_dim]; what lies outside reads 0 and isn't written."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    if not _fits_tma(tensor):
        tensor = tensor.contiguous()
    shape = list(tensor.shape)
    # the stride of an axis of length 1 is never used, but must be legal
    strides = [s if n > 1 else 128 for n, s in zip(shape[:3], tensor.stride()[:3], strict=True)]
    shape[2] = max(length, 1)
    return TensorDescriptor(tensor, shape, [*strides, 1], [1, 1, rows, width], _layout())


@cache
def _layout() -> object:
    from triton.experimental.gluon import language as gl

    return gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=4)


def _fits_tma(tensor: Tensor) -> bool:
    size = tensor.element_size()
    legal = (
        n == 1 or (s > 0 and s * size % TMA_ALIGNMENT == 0)
        for n, s in zip(tensor.shape[:3], tensor.stride(), strict=False)
    )
    return tensor.stride(3) == 1 and tensor.data_ptr() % TMA_ALIGNMENT == 0 and all(legal)


def _plan(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask) -> Plan:
    device = query.device
    shape = CallShape(
        batch=query.shape[0],
        heads=query.shape[1],
        kv_heads=key.shape[1],
        key_batch_shared=_shared(key, value, 0),
        key_head_shared=_shared(key, value, 1),
        programs=torch.cuda.get_device_properties(device).multi_processor_count,
        head_group=head_group(key.shape[2], key.shape[3] + value.shape[3], 2, query.shape[0] * query.shape[1]),
    )
    found = mask.recall((shape, device))
    return found if isinstance(found, Plan) else mask.keep((shape, device), _make_plan(mask, shape, device))


def _make_plan(mask: PreparedMask, shape: CallShape, device: torch.device) -> Plan:
    tensors = mask.tensors(BLOCK, BLOCK, device)
    schedule = make_schedule(mask.descriptor(BLOCK, BLOCK), shape)
    plan = Plan(
        programs=shape.programs,
        items=torch.from_numpy(schedule.items).to(device),
        item_offsets=torch.from_numpy(schedule.offsets).to(device),
        full_runs=tensors.by_query.full_runs,
        partial_tiles=tensors.by_query.partial_tiles,
        partial_patterns=tensors.by_query.partial_patterns,
        pattern_words=accumulator_order(tensors.patterns),
        live_keys=None,
        live_queries=None,
        query_end=tensors.query_length,
        key_end=tensors.key_length,
    )
    variant = tensors.variant.long()
    if tensors.live_keys is not None:
        live = tensors.live_keys.bool()
        end = _common_end(live)
        group = shape.heads // shape.kv_heads if variant.shape[1] > 1 else 1
        by_head = live[variant].reshape(variant.shape[0], -1, group, live.shape[1]).any(2)
        if shape.key_batch_shared:
            by_head = by_head.any(0, keepdim=True)
        if shape.key_head_shared:
            by_head = by_head.any(1, keepdim=True)
        plan = replace(plan, key_end=end or plan.key_end, live_keys=None if end else by_head[..., None])
    if tensors.live_queries is not None:
        live = tensors.live_queries.bool()
        end = _common_end(live)
        plan = replace(plan, query_end=end or plan.query_end, live_queries=None if end else live[variant][..., None])
    return plan


def _common_end(live: Tensor) -> int:
    """n where the first n tokens of every variant are live and no others; 0 where they aren't so simple."""
    count = int(live[0].sum())
    return count if bool((live == (torch.arange(live.shape[1], device=live.device) < count)).all()) else 0
