"""The calls whose kernels are compiled: the product's own launchers, on tensors that have shapes but no memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.backward_configurations import backward_configuration
from compilemask.kernel.backward_launch import ForwardResult, portable_backward
from compilemask.kernel.configurations import HOPPER_GLUON, Family, family_of, forward_configuration
from compilemask.kernel.device_tensors import DeviceLists, DeviceTensors
from compilemask.kernel.forward_launch import portable_forward
from compilemask.kernel.hopper_backward_launch import BackwardCall, BackwardPlan, hopper_backward_accepts
from compilemask.kernel.hopper_launch import HopperCall, Plan, block_width, hopper_accepts
from compilemask.kernel.schedule import RECORD
from compilemask.measure.compile_targets_request import CompileRequest


@dataclass(frozen=True, slots=True)
class Launch:
    """One call that launches kernels; `name` says what it is where no kernel came out."""

    name: str
    call: Callable[[], object]


def launches(capability: int, request: CompileRequest) -> tuple[Launch, ...]:
    """Forward and backward as a GPU of this compute capability (90 for 9.0) would launch them."""
    family = family_of(divmod(capability, 10))
    dtype: torch.dtype = getattr(torch, request.dtype)
    known = {
        "forward": Launch("attention_forward", lambda: _forward(family, request, dtype)),
        "backward": Launch("attention_backward", lambda: _backward(family, request, dtype)),
    }
    return tuple(known[direction] for direction in request.directions)


def _saved(request: CompileRequest, dtype: torch.dtype) -> ForwardResult:
    query, key, value = _inputs(request, dtype)
    out = torch.empty(*query.shape[:3], request.head_dim_v, dtype=dtype, device="meta")
    lse = torch.empty(query.shape[:3], dtype=torch.float32, device="meta")
    return ForwardResult(query, key, value, out, lse, out, None)


def _forward(family: Family, request: CompileRequest, dtype: torch.dtype) -> object:
    query, key, value = _inputs(request, dtype)
    if family is Family.HOPPER and hopper_accepts(query, value, 1.0):
        return _hopper_forward(query, key, value, request)
    configuration = forward_configuration(family, dtype, request.head_dim, request.head_dim_v)
    tensors = shapes_of(request, configuration.block_m, configuration.block_n)
    return portable_forward(query, key, value, tensors, 1.0, configuration)


def _hopper_forward(query: Tensor, key: Tensor, value: Tensor, request: CompileRequest) -> object:
    configuration = HOPPER_GLUON[block_width(request.head_dim), block_width(request.head_dim_v)]
    tensors = shapes_of(request, configuration.block_m, configuration.block_n)
    lists = tensors.by_query
    items = torch.empty(2, RECORD, dtype=torch.int32, device="meta")
    plan = Plan(
        configuration, 132, items, lists.full_offsets, lists.full_runs, lists.partial_tiles, lists.partial_patterns,
        tensors.patterns, None, None, request.query_length, request.key_length,
    )  # fmt: skip
    return HopperCall(query, key, value, plan).launched(query, key, value, 1.0)


def _backward(family: Family, request: CompileRequest, dtype: torch.dtype) -> object:
    saved = _saved(request, dtype)
    if family is Family.HOPPER and hopper_backward_accepts(saved.query, saved.value, 1.0):
        return _hopper_backward(saved, request)
    configuration = backward_configuration(family, dtype, request.head_dim, request.head_dim_v)
    by_key, by_query = (
        shapes_of(request, launch.block_m, launch.block_n) for launch in (configuration.keys, configuration.queries)
    )
    return portable_backward(saved, by_key, by_query, 1.0, configuration)


def _hopper_backward(saved: ForwardResult, request: CompileRequest) -> object:
    tensors = shapes_of(request, 128, 128)
    lists = tensors.by_key
    records = torch.empty(2, 8, dtype=torch.int32, device="meta")
    plan = BackwardPlan(
        records, lists.full_offsets, tensors.variant, (0, 0), tensors.by_query, lists.full_runs, lists.partial_tiles,
        lists.partial_patterns, tensors.patterns, None, None,
    )  # fmt: skip
    return BackwardCall(saved, plan, programs=132)(saved, 1.0)


def _inputs(request: CompileRequest, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    def shaped(heads: int, length: int, width: int) -> Tensor:
        return torch.empty(request.batch, heads, length, width, dtype=dtype, device="meta")

    return (
        shaped(request.heads, request.query_length, request.head_dim),
        shaped(request.key_heads, request.key_length, request.head_dim),
        shaped(request.key_heads, request.key_length, request.head_dim_v),
    )


def shapes_of(request: CompileRequest, block_m: int, block_n: int) -> DeviceTensors:
    """Device tensors of a mask of these sizes; which tiles are listed does not change the machine code."""
    variants = request.variant_shape[0] * request.variant_shape[1]

    def integers(*shape: int, dtype: torch.dtype = torch.int32) -> Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    def lists(tiles: int) -> DeviceLists:
        offsets = variants * tiles + 1
        return DeviceLists(
            integers(offsets),
            integers(2, 2),
            integers(offsets),
            integers(2),
            integers(2),
            integers(variants, tiles),
            tiles,
        )

    return DeviceTensors(
        query_length=request.query_length,
        key_length=request.key_length,
        block_m=block_m,
        block_n=block_n,
        variants=variants,
        variant=integers(*request.variant_shape),
        by_query=lists(-(-request.query_length // block_m)),
        by_key=lists(-(-request.key_length // block_n)),
        patterns=integers(2, block_m, block_n // 32),
        live_keys=integers(variants, request.key_length, dtype=torch.uint8) if request.dead_keys else None,
        live_queries=integers(variants, request.query_length, dtype=torch.uint8) if request.dead_queries else None,
    )
