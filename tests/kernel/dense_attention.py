"""Attention by its definition, in float64: the yardstick of the kernel tests."""

from __future__ import annotations

import torch
from torch import Tensor


def dense(query: Tensor, key: Tensor, value: Tensor, visible: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Output and LSE; `visible` is bool, broadcastable to [batch, heads, queries, keys]."""
    group = query.shape[1] // key.shape[1]
    q, k, v = query.double(), key.double().repeat_interleave(group, 1), value.double().repeat_interleave(group, 1)
    scores = (q @ k.transpose(-1, -2) * scale).masked_fill(~visible, -torch.inf)
    lse = torch.logsumexp(scores, -1)
    weights = torch.where(visible, torch.exp(scores - torch.where(lse == -torch.inf, 0.0, lse)[..., None]), 0.0)
    return weights @ v, lse


def relative_error(actual: Tensor, expected: Tensor) -> float:
    """||actual - expected|| / ||expected||; NaN in either is NaN."""
    difference, norm = (actual.detach().double() - expected.detach().double()).norm(), expected.detach().double().norm()
    return float(difference / torch.where(norm == 0, 1.0, norm))


def row_error(actual: Tensor, expected: Tensor) -> float:
    """The largest `relative_error` of any row (last axis): one wrong row can't hide among many right ones.

    A row of zeros has to be zeros; NaN in either is infinite.
    """
    right = expected.detach().double()
    difference, norm = (actual.detach().double() - right).norm(dim=-1), right.norm(dim=-1)
    share = torch.where(difference == 0, 0.0, difference / norm)
    return float(torch.nan_to_num(share, nan=torch.inf).max()) if share.numel() else 0.0


def largest_error(actual: Tensor, expected: Tensor) -> float:
    """The largest |actual - expected| / max(1, |expected|), for values that are logarithms; NaN is infinite."""
    right = expected.detach().double()
    share = (actual.detach().double() - right).abs() / right.abs().clamp(min=1.0)
    return float(torch.nan_to_num(share, nan=torch.inf).max()) if share.numel() else 0.0
