"""Launches the Hopper forward kernel: what it accepts, its tensor maps, and what is built once per mask and shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from compilemask.kernel.configurations import HOPPER_GLUON, HopperConfiguration
from compilemask.kernel.forward_launch import head_group
from compilemask.kernel.hopper_patterns import accumulator_order
from compilemask.kernel.launch_cache import compiled_already, launch
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.schedule import CallShape, make_schedule

WIDEST = 128  # head_dim
SMALLEST_SCALE = 1e-6  # below it a hidden cell's bias of -2**127 would no longer outweigh the scores
TMA_ALIGNMENT = 16  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What the kernel reads beside the tensors of a call; token lengths count only up to the last live token."""

    configuration: HopperConfiguration
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
        and all(32 < dim <= WIDEST for dim in dims)
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


def hopper_forward(query: Tensor, key: Tensor, value: Tensor, plan: Plan, scale: float) -> tuple[Tensor, Tensor]:
    """As `portable_forward`, for tensors that `hopper_accepts` and a plan that `plan_for` made for them."""
    from compilemask.kernel.hopper_forward import hopper_attention_forward

    batch, heads, length, head_dim = query.shape
    head_dim_v = value.shape[3]
    output = torch.empty(batch, heads, length, head_dim_v, dtype=query.dtype, device=query.device)
    lse = torch.empty(batch, heads, length, dtype=torch.float32, device=query.device)
    if output.numel() == 0:
        return output, lse
    key, value = _unexpanded(key, value)
    if plan.live_keys is not None:
        key, value = torch.where(plan.live_keys, key, 0), torch.where(plan.live_keys, value, 0)
    if plan.live_queries is not None:
        query = torch.where(plan.live_queries, query, 0)
    width, width_v = _block_width(head_dim), _block_width(head_dim_v)
    launched = plan.configuration
    variant = (query.device, query.dtype, width, width_v, launched)
    maps = _tensor_maps(compiled_already(hopper_attention_forward, variant))
    arguments = (
        _map(maps, query, plan.query_end, 64, width), _map(maps, key, plan.key_end, launched.block_n, width),
        _map(maps, value, plan.key_end, launched.block_n, width_v), _map(maps, output, length, 64, width_v), lse,
        plan.items, plan.item_offsets, plan.full_runs, plan.partial_tiles, plan.partial_patterns, plan.pattern_words,
        heads, length, scale * math.log2(math.e),
        launched.parts, launched.block_n, width, width_v, launched.stages, launched.q_in_registers,
        launched.consumer_registers, launched.producer_registers,
    )  # fmt: skip
    launch(hopper_attention_forward, variant, (plan.programs, 1, 1), arguments, num_warps=4)
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


@cache
def _tensor_maps(trusted: bool) -> Callable[..., object]:
    """The class of tensor maps; `trusted` leaves out its checks, which cost microseconds and passed once already."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    if not trusted:
        return TensorDescriptor  # type: ignore[no-any-return]
    return type("TrustedTensorDescriptor", (TensorDescriptor,), {"__post_init__": lambda self: None})


@cache
def _layout() -> object:
    from triton.experimental.gluon import language as gl

    return gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=4)


def _map(make: Callable[..., object], tensor: Tensor, length: int, rows: int, width: int) -> object:
    """A tensor map over [batch, heads, length, head_dim]; what lies outside reads 0 and isn't written."""
    if not _fits_tma(tensor):
        tensor = tensor.contiguous()
    batch, heads, _, head_dim = tensor.shape
    by_batch, by_head, by_row, _ = tensor.stride()
    # the stride of an axis of length 1 is never used, but must be legal
    strides = [by_batch if batch > 1 else 128, by_head if heads > 1 else 128, by_row if length > 1 else 128, 1]
    return make(tensor, [batch, heads, max(length, 1), head_dim], strides, [1, 1, rows, width], _layout())


def _fits_tma(tensor: Tensor) -> bool:
    """16-byte aligned base and strides, and none that repeats an entry."""
    if tensor.stride(3) != 1 or tensor.data_ptr() % TMA_ALIGNMENT:
        return False
    unit = TMA_ALIGNMENT // tensor.element_size()
    return all(n == 1 or (s > 0 and s % unit == 0) for n, s in zip(tensor.shape[:3], tensor.stride(), strict=False))


@cache
def _multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def plan_for(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask) -> Plan:
    """The plan of calls with these shapes, made once."""
    device = query.device
    batch, heads = query.shape[0], query.shape[1]
    shared = (_shared(key, value, 0), _shared(key, value, 1))
    widths = key.shape[3] + value.shape[3]
    configuration = HOPPER_GLUON[_block_width(key.shape[3]), _block_width(value.shape[3])]
    known = (device, batch, heads, key.shape[1], shared, configuration)
    found = mask.recall(known)
    if isinstance(found, Plan):
        return found
    shape = CallShape(
        batch=batch,
        heads=heads,
        kv_heads=key.shape[1],
        key_batch_shared=shared[0],
        key_head_shared=shared[1],
        programs=_multiprocessors(device),
        head_group=head_group(key.shape[2], widths, key.element_size(), batch * heads),
    )
    return mask.keep(known, _make_plan(mask, shape, configuration, device))


def _make_plan(mask: PreparedMask, shape: CallShape, configuration: HopperConfiguration, device: torch.device) -> Plan:
    blocks = (configuration.block_m, configuration.block_n)
    tensors = mask.tensors(*blocks, device)
    schedule = make_schedule(mask.descriptor(*blocks), shape)
    plan = Plan(
        configuration=configuration,
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
