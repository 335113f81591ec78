"""Masked attention as defined: dense, in float64, blockwise over queries, forward and gradients.

This is the truth that every kernel is judged by, so it is written for reading, not for speed. A query without visible
keys gives output 0, LSE -inf and no gradient. Values in a key count only for the queries that see it, and values in a
query (and in its incoming gradients) only where it sees a key: NaN or inf elsewhere changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK_CELLS = 1 << 24  # score cells alive at a time: 128 MiB of float64


@dataclass(frozen=True, slots=True)
class AttentionResult:
    """Outputs of one attention call; the gradients are None where no incoming gradient was given."""

    out: Tensor  # [batch, heads, query, value_dim]
    lse: Tensor  # [batch, heads, query], natural logarithm
    dq: Tensor | None = None  # [batch, heads, query, head_dim]
    dk: Tensor | None = None  # [batch, key_heads, key, head_dim]
    dv: Tensor | None = None  # [batch, key_heads, key, value_dim]


def dense_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor,
    scale: float | None = None,
    dout: Tensor | None = None,
    dlse: Tensor | None = None,
) -> AttentionResult:
    """Attention of q [B, H, Q, D] over k [B, Hk, K, D], v [B, Hk, K, Dv] where `visible` [B|1, H|1, Q, K] holds.

    Computes in float64 whatever the inputs are, on their device. H must be a multiple of Hk. `scale` defaults to
    1 / sqrt(D). With `dout` [B, H, Q, Dv] or `dlse` [B, H, Q] the gradients of sum(out * dout) + sum(lse * dlse) are
    returned too. Raises ValueError where shapes disagree.
    """
    _check_shapes(q, k, v, visible)
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    batch, heads, queries, _ = q.shape
    group = heads // k.shape[1]
    out = q.new_zeros((batch, heads, queries, v.shape[-1]), dtype=torch.float64)
    lse = q.new_full((batch, heads, queries), -math.inf, dtype=torch.float64)
    wants_gradients = dout is not None or dlse is not None
    dq, dk, dv = (torch.zeros_like(x, dtype=torch.float64) if wants_gradients else None for x in (q, k, v))
    for b in range(batch):
        for h in range(heads):
            seen = visible[b % visible.shape[0], h % visible.shape[1]]
            for rows in _row_blocks(queries, k.shape[2]):
                _one_block(
                    _Block(b, h, h // group, rows, seen[rows]), q, k, v, factor, dout, dlse, out, lse, dq, dk, dv
                )
    return AttentionResult(out, lse, dq, dk, dv)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some queries of one head, and what they see."""

    batch: int
    head: int
    key_head: int
    rows: slice
    seen: Tensor  # [rows, key]


def _check_shapes(q: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> None:
    if visible.dtype != torch.bool or visible.ndim != 4:
        raise ValueError(
            f"visible must be bool [batch, heads, query, key], found {visible.dtype} {list(visible.shape)}"
        )
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} do not belong together")
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} query heads are not a multiple of {k.shape[1]} key heads")
    if visible.shape[0] not in (1, q.shape[0]) or visible.shape[1] not in (1, q.shape[1]):
        raise ValueError(f"visible {list(visible.shape)} does not broadcast over {q.shape[0]} x {q.shape[1]} heads")
    if visible.shape[2:] != (q.shape[2], k.shape[2]):
        raise ValueError(f"visible is {list(visible.shape[2:])}, the tensors say [{q.shape[2]}, {k.shape[2]}]")


def _row_blocks(queries: int, keys: int) -> Iterator[slice]:
    step = max(1, BLOCK_CELLS // max(1, keys))
    for start in range(0, queries, step):
        yield slice(start, min(start + step, queries))


def _finite_rows(x: Tensor, counts: Tensor) -> Tensor:
    """Rows of `x` that do not count become 0: 0 times NaN is NaN, so a zero weight alone does not silence them."""
    return torch.where(counts[:, None], x.to(torch.float64), 0.0)


def _one_block(
    block: _Block,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    dout: Tensor | None,
    dlse: Tensor | None,
    out: Tensor,
    lse: Tensor,
    dq: Tensor | None,
    dk: Tensor | None,
    dv: Tensor | None,
) -> None:
    """Fill the rows of one block, and add its share to dk and dv."""
    here, there = (block.batch, block.head, block.rows), (block.batch, block.key_head)
    alive_rows, alive_keys = block.seen.any(1), block.seen.any(0)
    query = _finite_rows(q[here], alive_rows)
    key, value = _finite_rows(k[there], alive_keys), _finite_rows(v[there], alive_keys)
    scores = torch.where(block.seen, query @ key.T * scale, -math.inf)
    row_lse = torch.logsumexp(scores, 1)
    weights = torch.where(block.seen, torch.exp(scores - torch.where(alive_rows, row_lse, 0.0)[:, None]), 0.0)
    out[here], lse[here] = weights @ value, row_lse
    if dq is None or dk is None or dv is None:
        return
    dscores = torch.zeros_like(weights)
    if dout is not None:
        row_dout = _finite_rows(dout[here], alive_rows)
        dweights = row_dout @ value.T
        dscores += weights * (dweights - (weights * dweights).sum(1, keepdim=True))
        dv[there] += weights.T @ row_dout
    if dlse is not None:
        dscores += weights * torch.where(alive_rows, dlse[here].to(torch.float64), 0.0)[:, None]
    dq[here] = dscores @ key * scale
    dk[there] += dscores.T @ query * scale
