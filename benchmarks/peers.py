"""The attention libraries that the kernel is timed beside. Each is optional; one that can't run says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.workloads import PATCH, RADIUS, Workload
from compilemask.kernel.api import attention

Run = Callable[[], Tensor]


class Unsupported(Exception):
    """This library can't compute this workload, or isn't installed; the text says why."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """One set of leaves, [batch, heads, tokens, head_dim], and what the output's gradient is."""

    q: Tensor
    k: Tensor
    v: Tensor
    gradient: Tensor

    def tokens_first(self) -> tuple[Tensor, Tensor, Tensor]:
        """The same values as leaves [batch, tokens, heads, head_dim]."""
        needed = self.q.requires_grad
        leaves = (tensor.detach().transpose(1, 2).contiguous() for tensor in (self.q, self.k, self.v))
        q, k, v = (leaf.requires_grad_(needed) for leaf in leaves)
        return q, k, v


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call ready to be timed; `leaves` get the gradients, `to_heads_first` brings the output to [B, H, N, D]."""

    run: Run
    leaves: tuple[Tensor, Tensor, Tensor]
    heads_first: bool = True


def ours(workload: Workload, inputs: Inputs) -> Prepared:
    leaves = (inputs.q, inputs.k, inputs.v)
    return Prepared(lambda: attention(*leaves, workload), leaves)


def sdpa(workload: Workload, inputs: Inputs) -> Prepared:
    if workload.name != "causal":
        raise Unsupported("has no such mask without a dense matrix")
    from torch.nn.functional import scaled_dot_product_attention

    leaves = (inputs.q, inputs.k, inputs.v)
    return Prepared(lambda: scaled_dot_product_attention(*leaves, is_causal=True), leaves)


def flex_triton(workload: Workload, inputs: Inputs) -> Prepared:
    return _flex(workload, inputs, None)


def flex_fa4(workload: Workload, inputs: Inputs) -> Prepared:
    _need("flash_attn.cute")
    return _flex(workload, inputs, {"BACKEND": "FLASH"})


def cudnn_flex(workload: Workload, inputs: Inputs) -> Prepared:
    flex = _need("cudnn.flex_attention")
    leaves = inputs.tokens_first()
    plan = flex.create_mask_plan(_endpoints(workload).cuda(), *leaves, build_backward=inputs.q.requires_grad)
    return Prepared(lambda: flex.flex_attn_func(*leaves, mask_plan=plan), leaves, heads_first=False)


def flash_attention_4(workload: Workload, inputs: Inputs) -> Prepared:
    if workload.name != "causal":
        raise Unsupported("has no such mask natively")
    flash = _need("flash_attn.cute.interface")
    leaves = inputs.tokens_first()

    def run() -> Tensor:
        result = flash.flash_attn_func(*leaves, causal=True)
        output: Tensor = result[0] if isinstance(result, tuple) else result
        return output

    return Prepared(run, leaves, heads_first=False)


PEERS: dict[str, Callable[[Workload, Inputs], Prepared]] = {
    "FlexAttention": flex_triton,
    "Flex-FA4": flex_fa4,
    "cuDNN flex": cudnn_flex,
    "FA4": flash_attention_4,
    "SDPA": sdpa,
}


def _need(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise Unsupported(f"not installed ({missing.name})") from missing


def _flex(workload: Workload, inputs: Inputs, options: dict[str, str] | None) -> Prepared:
    from torch.nn.attention.flex_attention import create_block_mask

    length = workload.query_length
    block_mask = _compiled_block_mask(create_block_mask)(_mask_mod(workload), None, None, length, length, device="cuda")
    call = _compiled_flex()
    leaves = (inputs.q, inputs.k, inputs.v)
    return Prepared(lambda: call(*leaves, block_mask=block_mask, kernel_options=options), leaves)


def _compiled_block_mask(create: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(create)


def _compiled_flex() -> Callable[..., Tensor]:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=False)


def _mask_mod(workload: Workload) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    length = workload.query_length
    history, document, unit = length * 7 // 8, length // 4, length // 32
    text, height, width = workload.shape

    def causal(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return k <= q

    def hstu(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return ((k <= q) & (k < history)) | (q == k)

    def reward(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        inside = (k % document < 2 * unit) | (q // unit == k // unit)
        return (q // document == k // document) & (k <= q) & inside

    def clear(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        dy = (q - text) // width - (k - text) // width
        dx = (q - text) % width - (k - text) % width
        return (q < text) | (k < text) | (dy * dy + dx * dx < RADIUS * RADIUS)

    def place(token: Tensor) -> tuple[Tensor, Tensor]:
        patch, inside = (token - text) // PATCH**2, (token - text) % PATCH**2
        across = width // PATCH
        return patch // across * PATCH + inside // PATCH, patch % across * PATCH + inside % PATCH

    def clear_in_patches(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        (qy, qx), (ky, kx) = place(q), place(k)
        return (q < text) | (k < text) | ((qy - ky) * (qy - ky) + (qx - kx) * (qx - kx) < RADIUS * RADIUS)

    mods = {"causal": causal, "HSTU": hstu, "reward model": reward, "CLEAR": clear}
    if height % PATCH == 0 and width % PATCH == 0:
        mods["CLEAR, patches for all"] = clear_in_patches
    if workload.name not in mods:
        raise Unsupported("is timed in raster order")
    return mods[workload.name]


def _endpoints(workload: Workload) -> Tensor:
    """int32 [1, odd, queries]: visible keys are [0, F0) and [F1, F2) and so on."""
    if workload.inside and workload.order is not None:
        raise Unsupported("is timed in raster order")
    rows = workload.kernel_rows
    counts = np.diff(rows.offsets)
    first = rows.offsets[:-1]
    from_zero = (counts > 0) & (rows.starts[np.minimum(first, rows.runs - 1)] == 0)
    others = counts - from_zero
    widest = int(others.max())
    endpoints = np.zeros((1 + 2 * widest, rows.rows), np.int32)
    endpoints[0] = np.where(from_zero, rows.ends[np.minimum(first, rows.runs - 1)], 0)
    for i in range(widest):
        there = others > i
        run = np.minimum(first + from_zero + i, rows.runs - 1)
        # endpoints must not fall: a run that isn't there is empty, behind the last one
        endpoints[1 + 2 * i] = np.where(there, rows.starts[run], endpoints[2 * i])
        endpoints[2 + 2 * i] = np.where(there, rows.ends[run], endpoints[2 * i])
    return torch.from_numpy(endpoints[None]).contiguous()
