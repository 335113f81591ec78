"""Attention as one would write it in the dtype of the tensors: what the dtype itself costs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from compilemask.kernel.reference import AttentionResult


def plain_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor,
    scale: float | None = None,
    dout: Tensor | None = None,
    dlse: Tensor | None = None,
) -> AttentionResult:
    """Dense attention that rounds to the dtype of the tensors where no attention in that dtype gets around it.

    Those places are the operands of products (weights and dS) and what is stored; scores, softmax and sums are float32
    (float64 for float64 tensors). It is no truth: its distance from `dense_attention` is the error that is allowed
    anybody. Arguments as for `dense_attention`, but every value has to be finite.
    """
    kept, work = q.dtype, torch.promote_types(q.dtype, torch.float32)
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    group = q.shape[1] // k.shape[1]
    query, key, value = q.to(work), *(x.to(work).repeat_interleave(group, 1) for x in (k, v))
    alive = visible.any(-1)
    scores = (query @ key.mT * factor).masked_fill(~visible, -math.inf)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - torch.where(alive, lse, 0.0)[..., None])
    rounded = weights.to(kept).to(work)
    out = (rounded @ value).to(kept)
    if dout is None and dlse is None:
        return AttentionResult(out, lse)
    by_score, dv = torch.zeros_like(weights), torch.zeros_like(v)
    if dout is not None:
        incoming = torch.where(alive[..., None], dout, 0).to(work)
        by_score = incoming @ value.mT - (incoming * out.to(work)).sum(-1, keepdim=True)
        dv = _per_key_head(rounded.mT @ incoming, group).to(kept)
    if dlse is not None:
        by_score = by_score + torch.where(alive, dlse, 0).to(work)[..., None]
    dscores = (weights * by_score).to(kept).to(work)
    dq = (dscores @ key * factor).to(kept)
    dk = (_per_key_head(dscores.mT @ query, group) * factor).to(kept)
    return AttentionResult(out, lse, dq, dk, dv)


def _per_key_head(x: Tensor, group: int) -> Tensor:
    """[B, H, K, D] summed over the query heads that share a key head."""
    return x.reshape(x.shape[0], -1, group, *x.shape[2:]).sum(2)
