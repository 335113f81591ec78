"""Attention in plain PyTorch operations that skips EMPTY tiles: for CPU tensors, and float64 anywhere.

Works on one query tile at a time with the keys of its listed tiles. Formulas of the backward pass as in
FlashAttention-2 (arXiv 2307.08691, algorithm 2): with P the weights, D = rowsum(dO * O) and G the gradient of the LSE,
dS = P * (dO V^T - D + G).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from compilemask.descriptor.descriptor import Descriptor
from compilemask.kernel.autocast import without_autocast
from compilemask.kernel.liveness import live_keys, live_queries
from compilemask.kernel.prepared import PreparedMask
from compilemask.kernel.uploads import uploading

CELLS_AT_ONCE = 1 << 23  # scores alive at a time
BLOCK = 128


@dataclass(frozen=True, slots=True)
class TileRow:
    """One query tile of one variant: its queries, the key ranges of its listed tiles, and what is hidden in them."""

    rows: slice
    keys: tuple[slice, ...]  # FULL tiles first
    count: int  # keys in all of them
    hidden: Tensor | None  # bool [rows, keys of the PARTIAL tiles], the last ones; None where there are none


@dataclass(frozen=True, slots=True)
class Plan:
    """All tile rows of every variant, and what nobody looks at."""

    rows: tuple[tuple[TileRow, ...], ...]  # [variants][query tiles with any key]
    live_keys: Tensor | None  # bool [variants, keys]
    live_queries: Tensor | None


def forward(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    """Output in the query's dtype and float32 LSE (float64 for float64 input), tensors in the mask's token order."""
    with without_autocast(query):
        return _forward(query, key, value, mask, scale)


def _forward(query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, scale: float) -> tuple[Tensor, Tensor]:
    work = torch.promote_types(query.dtype, torch.float32)
    batch, heads, length, _ = query.shape
    output = torch.zeros(batch * heads, length, value.shape[3], dtype=work, device=query.device)
    lse = torch.full((batch * heads, length), -torch.inf, dtype=work, device=query.device)
    for pairs, q, k, v, rows in _groups(query, key, value, mask, work):
        q = q * scale  # fewer than the scores
        for row in rows:
            scores = _scores(q[:, row.rows], _take(k, row), row)
            largest = scores.amax(-1, keepdim=True)
            largest.masked_fill_(largest == -torch.inf, 0)
            weights = scores.sub_(largest).exp_()
            total = weights.sum(-1, keepdim=True)
            output[pairs, row.rows] = (weights @ _take(v, row)).div_(torch.where(total == 0, 1, total))
            lse[pairs, row.rows] = (largest + total.log()).squeeze(-1)
    return output.view(batch, heads, length, -1).to(query.dtype), lse.view(batch, heads, length)


def backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
    grad_lse: Tensor | None, mask: PreparedMask, scale: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of query, key and value, in their dtypes."""
    with without_autocast(query):
        return _backward(query, key, value, output, lse, grad_output, grad_lse, mask, scale)


def _backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor,
    grad_lse: Tensor | None, mask: PreparedMask, scale: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    work = torch.promote_types(query.dtype, torch.float32)
    heads, kv_heads = query.shape[1], key.shape[1]
    grads = [torch.zeros_like(t, dtype=work, memory_format=torch.contiguous_format) for t in (query, key, value)]
    dq, dk, dv = (grad.view(-1, *grad.shape[2:]) for grad in grads)
    flat_output, flat_grad = (t.reshape(-1, *t.shape[2:]).to(work) for t in (output, grad_output))
    flat_lse = lse.reshape(-1, lse.shape[2])
    delta = (flat_output * flat_grad).sum(-1)
    if grad_lse is not None:
        delta = delta - torch.where(flat_lse == -torch.inf, 0, grad_lse.reshape(flat_lse.shape).to(work))
    for pairs, q, k, v, rows in _groups(query, key, value, mask, work):
        kv_pairs = _kv_pairs(pairs, heads, kv_heads)
        q = q * scale
        for row in rows:
            seen = flat_lse[pairs, row.rows] != -torch.inf
            keys = _take(k, row)
            scores = _scores(q[:, row.rows], keys, row)
            weights = scores.sub_(torch.where(seen, flat_lse[pairs, row.rows], 0)[..., None]).exp_()
            incoming = torch.where(seen[..., None], flat_grad[pairs, row.rows], 0)
            by_score = incoming @ _take(v, row).transpose(1, 2)
            by_score.sub_(torch.where(seen, delta[pairs, row.rows], 0)[..., None]).mul_(weights)
            dq[pairs, row.rows] = (by_score @ keys).mul_(scale)
            _add(dk, kv_pairs, row, by_score.transpose(1, 2) @ q[:, row.rows])
            _add(dv, kv_pairs, row, weights.transpose(1, 2) @ incoming)
    return grads[0].to(query.dtype), grads[1].to(key.dtype), grads[2].to(value.dtype)


def _scores(query: Tensor, key: Tensor, row: TileRow) -> Tensor:
    scores = query @ key.transpose(1, 2)
    if row.hidden is not None:
        scores[:, :, row.count - row.hidden.shape[1] :].masked_fill_(row.hidden, -torch.inf)
    return scores


def _take(tensor: Tensor, row: TileRow) -> Tensor:
    """The row's keys of [pairs, keys, head_dim]; a view where they are one range."""
    if len(row.keys) == 1:
        return tensor[:, row.keys[0]]
    return torch.cat([tensor[:, keys] for keys in row.keys], dim=1)


def _add(total: Tensor, pairs: Tensor, row: TileRow, part: Tensor) -> None:
    """total[pairs, the row's keys] += part, where pairs may repeat."""
    start = 0
    for keys in row.keys:
        length = keys.stop - keys.start
        total[:, keys].index_add_(0, pairs, part[:, start : start + length])
        start += length


def _kv_pairs(pairs: Tensor, heads: int, kv_heads: int) -> Tensor:
    return pairs // heads * kv_heads + pairs % heads // (heads // kv_heads)


def _groups(
    query: Tensor, key: Tensor, value: Tensor, mask: PreparedMask, work: torch.dtype
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, tuple[TileRow, ...]]]:
    """(batch * heads + head) indices that share a variant, few enough for memory, with their tensors and tile rows."""
    plan = _plan(mask, query.device)
    mask.is_read_here(query.device)
    batch, heads = query.shape[:2]
    table = torch.tensor(mask.descriptor(BLOCK, BLOCK).variant, device=query.device)
    table = table.expand(batch, heads).reshape(-1)
    flat = [tensor.reshape(-1, *tensor.shape[2:]) for tensor in (query, key, value)]
    for variant, rows in enumerate(plan.rows):
        members = torch.nonzero(table == variant).flatten()
        widest = max((row.count for row in rows), default=1)
        for pairs in torch.split(members, max(1, CELLS_AT_ONCE // (BLOCK * widest))):
            kv_pairs = _kv_pairs(pairs, heads, key.shape[1])
            q, k, v = (t[p].to(work) for t, p in zip(flat, (pairs, kv_pairs, kv_pairs), strict=True))
            if plan.live_queries is not None:
                q = torch.where(plan.live_queries[variant][:, None], q, 0)
            if plan.live_keys is not None:
                k, v = (torch.where(plan.live_keys[variant][:, None], t, 0) for t in (k, v))
            yield pairs, q, k, v, rows


def _plan(mask: PreparedMask, device: torch.device) -> Plan:
    found = mask.recall(("cpu plan", device))
    if isinstance(found, Plan):
        return found
    with uploading(device):
        plan = _make_plan(mask, device)
    return mask.keep(("cpu plan", device), plan)


def _make_plan(mask: PreparedMask, device: torch.device) -> Plan:
    descriptor = mask.descriptor(BLOCK, BLOCK)
    keys, queries = (torch.from_numpy(live(descriptor)).to(device) for live in (live_keys, live_queries))
    tiles = -(-descriptor.query_length // BLOCK)
    rows = (
        (_tile_row(descriptor, variant * tiles + tile, tile, device) for tile in range(tiles))
        for variant in range(descriptor.variants)
    )
    return Plan(
        rows=tuple(tuple(row for row in of_variant if row.count) for of_variant in rows),
        live_keys=None if bool(keys.all()) else keys,
        live_queries=None if bool(queries.all()) else queries,
    )


def _tile_row(descriptor: Descriptor, list_row: int, tile: int, device: torch.device) -> TileRow:
    lists = descriptor.by_query
    start, stop = tile * BLOCK, min((tile + 1) * BLOCK, descriptor.query_length)
    runs = lists.full_runs[lists.full_offsets[list_row] : lists.full_offsets[list_row + 1]].tolist()
    partial = slice(lists.partial_offsets[list_row], lists.partial_offsets[list_row + 1])
    full = [slice(first * BLOCK, last * BLOCK) for first, last in runs]
    rest = [
        slice(t * BLOCK, min((t + 1) * BLOCK, descriptor.key_length)) for t in lists.partial_tiles[partial].tolist()
    ]
    hidden = None
    if rest:
        words = descriptor.patterns[lists.partial_patterns[partial]]
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
        cells = [bits[i, : stop - start, : keys.stop - keys.start] == 0 for i, keys in enumerate(rest)]
        hidden = torch.from_numpy(np.concatenate(cells, axis=1)).to(device)
    keys = _joined(full + rest)
    return TileRow(slice(start, stop), keys, sum(k.stop - k.start for k in keys), hidden)


def _joined(ranges: list[slice]) -> tuple[slice, ...]:
    """Neighbours that touch become one."""
    joined: list[slice] = []
    for keys in ranges:
        if joined and joined[-1].stop == keys.start:
            joined[-1] = slice(joined[-1].start, keys.stop)
        else:
            joined.append(keys)
    return tuple(joined)
