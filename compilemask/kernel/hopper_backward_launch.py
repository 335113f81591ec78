"""Launches the Hopper backward kernel: its scratch memory, and what is built once per mask and shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from compilemask.kernel.backward_launch import ForwardResult
from compilemask.kernel.configurations import padded
from compilemask.kernel.hopper_backward_maps import addressable, rows_map, sums_map, terms_map
from compilemask.kernel.hopper_backward_patterns import transposed_order
from compilemask.kernel.hopper_backward_schedule import make_backward_schedule
from compilemask.kernel.hopper_backward_terms import finish_dq, key_bounds, query_terms_with_units
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.schedule import CallShape

BLOCK = 128
STEP = 64
TERMS = 4
CONSUMER_REGISTERS = 240
PRODUCER_REGISTERS = 24
SMALLEST_HEAD_DIM = 65  # narrower heads are faster in the portable kernels
SMALLEST_SCALE = 1e-6  # below it a hidden cell's bias of -2**127 would no longer outweigh the scores
L2_FOR_QUERIES = 24 << 20  # bytes of queries, their gradients and sums that heads running together may hold in L2


@dataclass(frozen=True, slots=True, eq=False)
class BackwardPlan:
    """What the kernel reads beside the tensors of a call."""

    items: Tensor
    item_offsets: Tensor
    segments: Tensor
    full_runs: Tensor
    partial_tiles: Tensor
    partial_patterns: Tensor
    pattern_words: Tensor
    live_keys: Tensor | None  # bool [batch or 1, key heads or 1, keys, 1] where unseen keys must be blanked
    live_queries: Tensor | None  # bool [batch or 1, heads or 1, queries, 1]


def hopper_backward_accepts(query: Tensor, value: Tensor, scale: float) -> bool:
    """Whether the Gluon kernel can compute this call; the rest goes to the portable kernels."""
    widths = (query.shape[3], value.shape[3])
    return (
        query.dtype in (torch.bfloat16, torch.float16)
        and all(SMALLEST_HEAD_DIM <= width <= BLOCK and width % 8 == 0 for width in widths)
        and scale >= SMALLEST_SCALE
        and gluon_runs()
    )


@cache
def gluon_runs() -> bool:
    """Whether this Triton can build the kernel."""
    try:
        from triton._C.libtriton import ir

        from compilemask.kernel import hopper_backward  # noqa: F401
    except (ImportError, AttributeError):
        return False
    return hasattr(ir, "DESCRIPTOR_REDUCE_KIND")


def hopper_backward(saved: ForwardResult, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """dQ, dK and dV, contiguous, in the dtype of q, for tensors that `hopper_backward_accepts`."""
    query, key, value = saved.query, saved.key, saved.value
    dquery, dkey, dvalue = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (query, key, value))
    if query.numel() == 0 or key.numel() == 0:
        return dquery.zero_(), dkey.zero_(), dvalue.zero_()
    plan = _plan(query, key, value, mask)
    return launch_backward(saved, plan, scale, multiprocessors(query.device), dquery, dkey, dvalue)


def launch_backward(
    saved: ForwardResult, plan: BackwardPlan, scale: float, programs: int, dquery: Tensor, dkey: Tensor, dvalue: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Bounds of the keys, terms of the queries, the one pass, and dQ out of its sums."""
    from compilemask.kernel.hopper_backward import hopper_attention_backward

    query, dout = _blanked(plan.live_queries, saved.query, saved.dout)
    key, value = _blanked(plan.live_keys, *_unexpanded(saved.key, saved.value))
    batch, heads, length, width = query.shape
    width_v, keys = value.shape[3], key.shape[2]
    terms = _query_terms(saved, dout, _key_bounds(key, value, saved.key.shape[:2]))
    block_width, block_width_v = _block_width(width), _block_width(width_v)
    sums = torch.zeros(batch * heads, terms.shape[2], block_width, dtype=torch.int32, device=query.device)
    hopper_attention_backward[(programs,)](
        rows_map(query, length, STEP, block_width), rows_map(dout, length, STEP, block_width_v),
        rows_map(key, keys, STEP, block_width), rows_map(value, keys, STEP, block_width_v),
        terms_map(terms, STEP), sums_map(sums, STEP, block_width // 2), dkey, dvalue,
        plan.items, plan.item_offsets, plan.segments, plan.full_runs, plan.partial_tiles, plan.partial_patterns,
        plan.pattern_words, heads, saved.key.shape[1], keys, scale, scale * math.log2(math.e),
        HEAD_DIM=block_width, HEAD_DIM_V=block_width_v, WIDTH=width, WIDTH_V=width_v,
        CONSUMER_REGISTERS=CONSUMER_REGISTERS, PRODUCER_REGISTERS=PRODUCER_REGISTERS, num_warps=4,
    )  # fmt: skip
    tiles = terms.shape[2] // STEP
    finish_dq[(batch * heads * tiles,)](
        sums, terms, dquery, length, terms.shape[2], tiles, scale,
        HEAD_DIM=width, BLOCK_D=block_width, BLOCK_M=STEP, num_warps=4,
    )  # fmt: skip
    return dquery, dkey, dvalue


def _key_bounds(key: Tensor, value: Tensor, matrices: torch.Size) -> Tensor:
    """int32 [batch * key heads, 2], see `key_bounds`; of every batch entry and head, repeated ones included."""
    batch, key_heads, keys, width = key.shape
    bounds = torch.zeros(batch, key_heads, 2, dtype=torch.int32, device=key.device)
    tiles = -(-keys // BLOCK)
    key_bounds[(batch * key_heads * tiles,)](
        key, value, bounds, *key.stride(), *value.stride(), keys, key_heads, tiles,
        HEAD_DIM=width, HEAD_DIM_V=value.shape[3], BLOCK_D=padded(width), BLOCK_DV=padded(value.shape[3]),
        BLOCK_N=BLOCK, num_warps=8,
    )  # fmt: skip
    return bounds.expand(*matrices, 2).contiguous()


def _query_terms(saved: ForwardResult, dout: Tensor, bounds: Tensor) -> Tensor:
    """float32 [batch * heads, 4, queries padded to whole tiles], see `query_terms_with_units`."""
    batch, heads, length, width = saved.out.shape
    padded_length = -(-length // BLOCK) * BLOCK
    terms = torch.empty(batch * heads, TERMS, padded_length, dtype=torch.float32, device=dout.device)
    dlse = saved.lse if saved.dlse is None else saved.dlse
    tiles = padded_length // STEP
    query_terms_with_units[(batch * heads * tiles,)](
        saved.out, dout, saved.lse, dlse, bounds, terms,
        *saved.out.stride(), *dout.stride(), *dlse.stride(), length, padded_length, heads,
        heads // saved.key.shape[1], tiles,
        HEAD_DIM_V=width, BLOCK_DV=padded(width), BLOCK_M=STEP, HAS_DLSE=saved.dlse is not None, num_warps=4,
    )  # fmt: skip
    return terms


def _blanked(live: Tensor | None, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors as TMA can address them, with zeros where nobody looks."""
    if live is not None:
        return tuple(torch.where(live, tensor, 0).contiguous() for tensor in tensors)
    return tuple(addressable(tensor) for tensor in tensors)


def _block_width(head_dim: int) -> int:
    return 64 if head_dim <= 64 else 128


def _shared(key: Tensor, value: Tensor, axis: int) -> bool:
    return key.shape[axis] > 1 and key.stride(axis) == 0 and value.stride(axis) == 0


def _unexpanded(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Axes that repeat one entry (stride 0) cut to that entry; the schedule then points every item at it."""
    for axis in (0, 1):
        if _shared(key, value, axis):
            key, value = key.narrow(axis, 0, 1), value.narrow(axis, 0, 1)
    return key, value


@cache
def multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def _plan(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask) -> BackwardPlan:
    batch, heads, length, _ = query.shape
    shared = (_shared(key, value, 0), _shared(key, value, 1))
    row_bytes = 3 * query.element_size() * _block_width(query.shape[3]) + query.element_size() * value.shape[3]
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
    return found if isinstance(found, BackwardPlan) else mask.keep(known, _make_plan(mask, shape, query.device))


def _make_plan(mask: PreparedMask, shape: CallShape, device: torch.device) -> BackwardPlan:
    tensors = mask.tensors(BLOCK, BLOCK, device)
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
        items=torch.from_numpy(schedule.items).to(device),
        item_offsets=torch.from_numpy(schedule.offsets).to(device),
        segments=torch.from_numpy(schedule.segments).to(device),
        full_runs=tensors.by_key.full_runs,
        partial_tiles=tensors.by_key.partial_tiles,
        partial_patterns=tensors.by_key.partial_patterns,
        pattern_words=transposed_order(tensors.patterns),
        live_keys=live_keys,
        live_queries=live_queries,
    )
