"""Launches the Hopper backward kernel: its scratch memory, and what is built once per mask and shape."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.backward_launch import ForwardResult
from compilemask.kernel.configurations import padded
from compilemask.kernel.device_tensors import DeviceLists, DeviceTensors, variant_strides
from compilemask.kernel.hopper_backward_schedule import make_backward_schedule
from compilemask.kernel.hopper_backward_terms import finish_dq, key_bounds, query_terms_with_units
from compilemask.kernel.hopper_launch import (
    LOG2_E,
    block_width,
    multiprocessors,
    shared_axis,
    unexpanded,
)
from compilemask.kernel.hopper_patterns import transposed_order
from compilemask.kernel.hopper_support import gluon_accepts
from compilemask.kernel.launch_cache import Launcher, launch
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.schedule import CallShape
from compilemask.kernel.tensor_maps import TensorMapOf, sums_map, terms_map
from compilemask.kernel.uploads import uploading

BLOCK = 128
STEP = 64
TERMS = 4
CONSUMER_REGISTERS = 240
PRODUCER_REGISTERS = 24
HEAD_DIMS = range(8, 128 + 1, 8)  # wider heads are for the portable kernels
L2_FOR_QUERIES = 24 << 20  # bytes of queries, their gradients and sums that heads running together may hold in L2


@dataclass(frozen=True, slots=True, eq=False)
class BackwardPlan:
    """What the kernel reads beside the tensors of a call."""

    records: Tensor
    item_offsets: Tensor
    variant: Tensor
    variant_strides: tuple[int, int]
    by_query: DeviceLists
    full_runs: Tensor
    partial_tiles: Tensor
    partial_patterns: Tensor
    pattern_words: Tensor
    live_keys: Tensor | None  # bool [batch or 1, key heads or 1, keys, 1] where unseen keys must be blanked
    live_queries: Tensor | None  # bool [batch or 1, heads or 1, queries, 1]


def hopper_backward_accepts(query: Tensor, value: Tensor, scale: float) -> bool:
    """Whether the Gluon kernel can compute this call; the rest goes to the portable kernels."""
    return gluon_accepts(query, value, scale, HEAD_DIMS, "compilemask.kernel.hopper_backward")


def hopper_backward(saved: ForwardResult, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """dQ, dK and dV, contiguous, in the dtype of q, for tensors that `hopper_backward_accepts`."""
    if saved.query.numel() == 0 or saved.key.numel() == 0:
        return torch.zeros_like(saved.query), torch.zeros_like(saved.key), torch.zeros_like(saved.value)
    known = (BackwardCall, saved.query.device, saved.query.dtype, *(_geometry(x) for x in saved.tensors()))
    call = mask.recall(known)
    if not isinstance(call, BackwardCall):
        plan = _plan(saved.query, saved.key, saved.value, mask)
        call = mask.keep(known, BackwardCall(saved, plan, multiprocessors(saved.query.device)))
    mask.is_read_here(saved.query.device)
    return call(saved, scale)


def _geometry(tensor: Tensor | None) -> object:
    return None if tensor is None else (tensor.shape, tensor.stride())


class BackwardCall:
    """Calls with one geometry: all that depends on shapes and strides alone is worked out once."""

    def __init__(self, saved: ForwardResult, plan: BackwardPlan, programs: int) -> None:
        from compilemask.kernel.hopper_backward import hopper_attention_backward

        self.plan, self.programs = plan, programs
        self.batch, self.heads, self.length, self.width = saved.query.shape
        self.key_heads, self.keys, self.width_v = saved.key.shape[1], saved.key.shape[2], saved.value.shape[3]
        self.kv_group = self.heads // self.key_heads
        self.padded_length = -(-self.length // BLOCK) * BLOCK
        self.narrows = shared_axis(saved.key, saved.value, 0) or shared_axis(saved.key, saved.value, 1)
        block, block_v = block_width(self.width), block_width(self.width_v)
        query, key, value, dout = self._as_read(saved)
        self.maps = (
            TensorMapOf(query, self.length, STEP, block), TensorMapOf(dout, self.length, STEP, block_v),
            TensorMapOf(key, self.keys, STEP, block), TensorMapOf(value, self.keys, STEP, block_v),
        )  # fmt: skip
        flat_heads = self.batch * self.heads
        self.terms_map = terms_map(flat_heads, TERMS, self.padded_length, STEP)
        self.sums_map = sums_map(flat_heads, self.padded_length, block, STEP, block // 2)
        self.block_width = block
        self.constants = (block, block_v, self.width, self.width_v, CONSUMER_REGISTERS, PRODUCER_REGISTERS)
        self.variant = (query.device, query.dtype, *self.constants)
        self.launch = Launcher(hopper_attention_backward, self.variant, num_warps=4)
        strides = (key.stride(), value.stride(), dout.stride(), saved.out.stride())
        dlse = () if saved.dlse is None else saved.dlse.stride()
        self.specialised = (*self.variant, *map(_classes, strides), _classes(dlse))

    def __call__(self, saved: ForwardResult, scale: float) -> tuple[Tensor, Tensor, Tensor]:
        plan, device = self.plan, saved.query.device
        query, key, value, dout = self._as_read(saved)
        bounds = self._key_bounds(key, value)
        terms = self._query_terms(saved, dout, bounds)
        sums = torch.zeros(
            self.batch * self.heads, self.padded_length, self.block_width, dtype=torch.int32, device=device
        )
        dkey, dvalue = (torch.empty(x.shape, dtype=x.dtype, device=device) for x in (saved.key, saved.value))
        trusted = self.launch.has_compiled
        maps = (make(x, trusted) for make, x in zip(self.maps, (query, dout, key, value), strict=True))
        arguments = (
            *maps, self.terms_map(terms), self.sums_map(sums), dkey, dvalue,
            plan.records, plan.item_offsets, plan.full_runs, plan.partial_tiles, plan.partial_patterns,
            plan.pattern_words, self.heads, self.keys, scale * LOG2_E, *self.constants,
        )  # fmt: skip
        self.launch((self.programs, 1, 1), arguments)
        return self._finished_dq(sums, terms, scale, saved.query), dkey, dvalue

    def _as_read(self, saved: ForwardResult) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q, k, v and dout as the kernels read them: repeated axes cut, and zeros where nobody looks."""
        query, dout, key, value = saved.query, saved.dout, saved.key, saved.value
        live_keys, live_queries = self.plan.live_keys, self.plan.live_queries
        if self.narrows:
            key, value = unexpanded(key, value)
        if live_keys is not None:
            key, value = (torch.where(live_keys, x, 0).contiguous() for x in (key, value))
        if live_queries is not None:
            query, dout = (torch.where(live_queries, x, 0).contiguous() for x in (query, dout))
        return query, key, value, dout

    def _key_bounds(self, key: Tensor, value: Tensor) -> Tensor:
        """float32 [batch or 1, key heads or 1, key tiles, 2], see `key_bounds`."""
        batch, heads = key.shape[:2]
        tiles = -(-self.keys // BLOCK)
        bounds = torch.empty(batch, heads, tiles, 2, dtype=torch.float32, device=key.device)
        arguments = (
            key, value, bounds, *key.stride(), *value.stride(), self.keys, heads, tiles,
            self.width, self.width_v, padded(self.width), padded(self.width_v), BLOCK,
        )  # fmt: skip
        launch(key_bounds, self._variant(key, value), (batch * heads * tiles, 1, 1), arguments, num_warps=8)
        return bounds

    def _query_terms(self, saved: ForwardResult, dout: Tensor, bounds: Tensor) -> Tensor:
        """float32 [batch * heads, TERMS, padded length], see `query_terms_with_units`."""
        terms = torch.empty(self.batch * self.heads, TERMS, self.padded_length, dtype=torch.float32, device=dout.device)
        dlse = saved.lse if saved.dlse is None else saved.dlse
        tiles = self.padded_length // STEP
        lists = self.plan.by_query
        of_batch, of_head = (bounds.stride(axis) if bounds.shape[axis] > 1 else 0 for axis in (0, 1))
        arguments = (
            saved.out, dout, saved.lse, dlse, bounds, terms, self.plan.variant, lists.full_offsets, lists.full_runs,
            lists.partial_offsets, lists.partial_tiles, *saved.out.stride(), *dout.stride(), *dlse.stride(),
            of_batch, of_head, *self.plan.variant_strides, lists.tiles, self.length, self.padded_length, self.heads,
            self.kv_group, tiles, self.width_v, padded(self.width_v), STEP, BLOCK, saved.dlse is not None,
        )  # fmt: skip
        variant = self._variant(saved.out, dout, saved.lse, dlse)
        launch(query_terms_with_units, variant, (self.batch * self.heads * tiles, 1, 1), arguments, num_warps=4)
        return terms

    def _finished_dq(self, sums: Tensor, terms: Tensor, scale: float, query: Tensor) -> Tensor:
        dquery = torch.empty(query.shape, dtype=query.dtype, device=query.device)
        tiles = self.padded_length // STEP
        arguments = (
            sums,
            terms,
            dquery,
            self.length,
            self.padded_length,
            tiles,
            scale,
            self.width,
            self.block_width,
            STEP,
        )
        launch(finish_dq, self.variant, (self.batch * self.heads * tiles, 1, 1), arguments, num_warps=4)
        return dquery

    def _variant(self, *tensors: Tensor) -> tuple[object, ...]:
        return (self.specialised, *(x.data_ptr() % 16 == 0 for x in tensors))


def _classes(numbers: tuple[int, ...]) -> tuple[tuple[bool, bool, bool], ...]:
    """What Triton specialises integer arguments on: one, a multiple of 16, beyond 32 bits."""
    return tuple((n == 1, n % 16 == 0, n >= 1 << 31) for n in numbers)


def _plan(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask) -> BackwardPlan:
    batch, heads, length, _ = query.shape
    shared = (shared_axis(key, value, 0), shared_axis(key, value, 1))
    row_bytes = 3 * query.element_size() * block_width(query.shape[3]) + query.element_size() * value.shape[3]
    shape = CallShape(
        batch=batch,
        heads=heads,
        kv_heads=key.shape[1],
        key_batch_shared=shared[0],
        key_head_shared=shared[1],
        programs=multiprocessors(query.device),
        head_group=max(1, min(batch * key.shape[1], L2_FOR_QUERIES // (length * row_bytes))),
    )
    known = (BackwardPlan, query.device, shape)
    found = mask.recall(known)
    if isinstance(found, BackwardPlan):
        return found
    tensors = mask.tensors(BLOCK, BLOCK, query.device)
    with uploading(query.device):
        plan = _make_plan(mask, tensors, shape)
    return mask.keep(known, plan)


def _make_plan(mask: PreparedMask, tensors: DeviceTensors, shape: CallShape) -> BackwardPlan:
    device = tensors.variant.device
    schedule = make_backward_schedule(mask.descriptor(BLOCK, BLOCK), shape)
    live_keys, live_queries = None, None
    variant = tensors.variant.long()
    if tensors.live_keys is not None:
        group = shape.heads // shape.kv_heads if variant.shape[1] > 1 else 1
        live = tensors.live_keys.bool()[variant].reshape(variant.shape[0], -1, group, tensors.key_length).any(2)
        live = live.any(0, keepdim=True) if shape.key_batch_shared else live
        live_keys = (live.any(1, keepdim=True) if shape.key_head_shared else live)[..., None]
    if tensors.live_queries is not None:
        live_queries = tensors.live_queries.bool()[variant][..., None]
    return BackwardPlan(
        records=torch.from_numpy(schedule.records).to(device),
        item_offsets=torch.from_numpy(schedule.offsets).to(device),
        variant=tensors.variant,
        variant_strides=variant_strides(tensors),
        by_query=tensors.by_query,
        full_runs=tensors.by_key.full_runs,
        partial_tiles=tensors.by_key.partial_tiles,
        partial_patterns=tensors.by_key.partial_patterns,
        pattern_words=transposed_order(tensors.patterns),
        live_keys=live_keys,
        live_queries=live_queries,
    )
