"""Launches the Hopper forward kernel: what it accepts, its tensor maps, and what is built once per mask and shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from compilemask.kernel.configurations import HOPPER_GLUON, HOPPER_TALL, TALL_LIMIT, HopperConfiguration
from compilemask.kernel.device_tensors import DeviceTensors, work_per_row
from compilemask.kernel.hopper_patterns import accumulator_order
from compilemask.kernel.hopper_support import gluon_accepts
from compilemask.kernel.launch_cache import Launcher
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.schedule import CallShape, head_group, make_schedule
from compilemask.kernel.tensor_maps import TensorMapOf
from compilemask.kernel.uploads import uploading

HEAD_DIMS = range(8, 256 + 1, 8)
LOG2_E = math.log2(math.e)


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


def hopper_accepts(query: Tensor, value: Tensor, scale: float) -> bool:
    """Whether the Gluon kernel can compute this call; the rest goes to the portable kernel."""
    return gluon_accepts(query, value, scale, HEAD_DIMS, "compilemask.kernel.hopper_forward")


def hopper_call(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask) -> HopperCall:
    """How calls run with tensors like these, which `hopper_accepts`; made once."""
    known = (
        HopperCall, query.device, query.dtype, query.shape, query.stride(), key.shape, key.stride(), value.shape,
        value.stride(),
    )  # fmt: skip
    found = mask.recall(known)
    if isinstance(found, HopperCall):
        return found
    return mask.keep(known, HopperCall(query, key, value, plan_for(query, key, value, mask)))


class HopperCall:
    """Calls with one geometry: all that depends on shapes and strides alone is worked out once."""

    def __init__(self, query: Tensor, key: Tensor, value: Tensor, plan: Plan) -> None:
        from compilemask.kernel.hopper_forward import hopper_attention_forward

        batch, self.heads, self.length, head_dim = query.shape
        self.plan = plan
        self.output_shape = (batch, self.heads, self.length, value.shape[3])
        self.blanks = plan.live_keys is not None or plan.live_queries is not None
        launched = plan.configuration
        width, width_v = block_width(head_dim), block_width(value.shape[3])
        variant = (query.device, query.dtype, width, width_v, launched)
        self.launch = Launcher(hopper_attention_forward, variant, num_warps=4)
        self.narrows = shared_axis(key, value, 0) or shared_axis(key, value, 1)
        output = torch.empty(self.output_shape, dtype=query.dtype, device="meta")
        query, key, value = self._as_read(query, key, value)
        self.query_map = TensorMapOf(query, plan.query_end, 64, width)
        self.key_map = TensorMapOf(key, plan.key_end, launched.block_n, width)
        self.value_map = TensorMapOf(value, plan.key_end, launched.block_n, width_v)
        self.output_map = TensorMapOf(output, self.length, 64, width_v)
        self.constants = (
            launched.parts, launched.block_n, width, width_v, launched.stages, launched.q_in_registers,
            launched.output_in_query, launched.consumer_registers, launched.producer_registers,
        )  # fmt: skip

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float
    ) -> tuple[Tensor, Tensor]:
        """Output and LSE as `portable_forward` gives them; `mask` is the plan's."""
        mask.is_read_here(query.device)
        return self.launched(query, key, value, scale)

    def launched(self, query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """The same for a plan that outlives the launch."""
        output = torch.empty(self.output_shape, dtype=query.dtype, device=query.device)
        lse = torch.empty(self.output_shape[:3], dtype=torch.float32, device=query.device)
        if output.numel() == 0:
            return output, lse
        plan = self.plan
        retries = torch.empty(plan.items.shape[0] * plan.configuration.parts, dtype=torch.int32, device=query.device)
        if self.blanks or self.narrows:
            query, key, value = self._as_read(query, key, value)
        trusted = self.launch.has_compiled
        arguments = (
            self.query_map(query, trusted), self.key_map(key, trusted), self.value_map(value, trusted),
            self.output_map(output, trusted), lse,
            plan.items, plan.item_offsets, retries, plan.full_runs, plan.partial_tiles, plan.partial_patterns,
            plan.pattern_words, self.heads, self.length, scale * LOG2_E, *self.constants,
        )  # fmt: skip
        self.launch((plan.programs, 1, 1), arguments)
        return output, lse

    def _as_read(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the tensor maps address: repeated axes cut, and copies with zeros where nobody looks."""
        live_keys, live_queries = self.plan.live_keys, self.plan.live_queries
        key, value = unexpanded(key, value)
        if live_keys is not None:
            key, value = (torch.where(live_keys, tensor, 0).contiguous() for tensor in (key, value))
        if live_queries is not None:
            query = torch.where(live_queries, query, 0).contiguous()
        return query, key, value


def block_width(head_dim: int) -> int:
    """The width that the kernel computes with; TMA fills the columns behind head_dim with zeros."""
    return 64 if head_dim <= 64 else 128 if head_dim <= 128 else 256


def unexpanded(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Axes that repeat one entry (stride 0) cut to that entry; the schedule then points every item at it."""
    for axis in (0, 1):
        if shared_axis(key, value, axis):
            key, value = key.narrow(axis, 0, 1), value.narrow(axis, 0, 1)
    return key, value


def shared_axis(key: Tensor, value: Tensor, axis: int) -> bool:
    return key.shape[axis] > 1 and key.stride(axis) == 0 and value.stride(axis) == 0


@cache
def multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def configuration_for(mask: PreparedMask, head_dim: int, head_dim_v: int) -> HopperConfiguration:
    """The configuration for a mask: taller tiles where there are such and they waste little more."""
    widths = block_width(head_dim), block_width(head_dim_v)
    usual, tall = HOPPER_GLUON[widths], HOPPER_TALL.get(widths)
    if tall is None:
        return usual
    found = mask.recall((configuration_for, widths))
    if not isinstance(found, HopperConfiguration):
        worth = _covered_cells(mask, tall) <= TALL_LIMIT * _covered_cells(mask, usual)
        found = mask.keep((configuration_for, widths), tall if worth else usual)
    return found


def _covered_cells(mask: PreparedMask, configuration: HopperConfiguration) -> int:
    """Cells of all tiles that a walk visits."""
    blocks = (configuration.block_m, configuration.block_n)
    return int(work_per_row(mask.descriptor(*blocks).by_query).sum()) * blocks[0] * blocks[1]


def plan_for(
    query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, configuration: HopperConfiguration | None = None
) -> Plan:
    """The plan of calls with these shapes, made once; `configuration` in place of the usual choice."""
    device = query.device
    batch, heads = query.shape[0], query.shape[1]
    shared = (shared_axis(key, value, 0), shared_axis(key, value, 1))
    widths = key.shape[3] + value.shape[3]
    configuration = configuration or configuration_for(mask, key.shape[3], value.shape[3])
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
        programs=multiprocessors(device),
        head_group=head_group(key.shape[2], widths, key.element_size(), batch * heads),
    )
    tensors = mask.tensors(configuration.block_m, configuration.block_n, device)
    with uploading(device):
        plan = _make_plan(mask, tensors, shape, configuration)
    return mask.keep(known, plan)


def _make_plan(
    mask: PreparedMask, tensors: DeviceTensors, shape: CallShape, configuration: HopperConfiguration
) -> Plan:
    device = tensors.variant.device
    schedule = make_schedule(mask.descriptor(configuration.block_m, configuration.block_n), shape)
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
