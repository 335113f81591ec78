"""Patterns of partial tiles for the Hopper backward kernel, whose accumulators hold keys by queries."""

from __future__ import annotations

import torch
from torch import Tensor

PATTERNS_AT_ONCE = 256  # 32 MiB of bits
HALF = 64  # queries of one step


def transposed_order(patterns: Tensor) -> Tensor:
    """int32 [distinct, 128 queries, 4 words] -> [distinct, 2, 128 keys, 4]: two steps of 64 queries, see `bias_of`.

    Word w of a key holds the queries 8 * j + 2 * w + e of the step at bit 8 * (j % 4) + 7 - (2 * (j // 4) + e).
    """
    return torch.cat([_reorder(part) for part in torch.split(patterns, PATTERNS_AT_ONCE)])


def _reorder(patterns: Tensor) -> Tensor:
    distinct, queries, words = patterns.shape
    shifts = torch.arange(32, device=patterns.device, dtype=torch.int32)
    bits = ((patterns[..., None] >> shifts) & 1).reshape(distinct, queries // HALF, HALF, 32 * words)
    bits = bits.mT.reshape(distinct, queries // HALF, 32 * words, HALF // 8, 4, 2)  # [.., key, j, w, e]
    group = torch.arange(HALF // 8, device=patterns.device)[:, None]
    pair = torch.arange(2, device=patterns.device)[None, :]
    position = 8 * (group % 4) + 7 - (2 * (group // 4) + pair)
    ordered = (bits.long() << position[:, None, :]).sum(dim=(3, 5))
    return torch.where(ordered >= 1 << 31, ordered - (1 << 32), ordered).int().contiguous()
