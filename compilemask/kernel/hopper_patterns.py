"""Patterns of partial tiles in the order in which Hopper's accumulators hold their cells."""

from __future__ import annotations

import torch
from torch import Tensor

PATTERNS_AT_ONCE = 256  # 32 MiB of bits


def accumulator_order(patterns: Tensor) -> Tensor:
    """int32 [distinct, rows, words] with bit c % 32 of word c // 32 for column c -> [distinct, rows, 4] for `bias_of`.

    Word w of a row holds the columns 8 * j + 2 * w + e at bit 8 * (j % 4) + 7 - (2 * (j // 4) + e): the pair of columns
    that lane w of a quad owns, arranged so that one shift brings four of them to the signs of the four bytes.
    """
    return torch.cat([_reorder(part) for part in torch.split(patterns, PATTERNS_AT_ONCE)])


def _reorder(patterns: Tensor) -> Tensor:
    shifts = torch.arange(32, device=patterns.device, dtype=torch.int32)
    bits = (patterns[..., None] >> shifts) & 1
    bits = bits.reshape(*patterns.shape[:2], -1, 4, 2)  # [distinct, rows, j, w, e]
    group = torch.arange(bits.shape[2], device=patterns.device)[:, None]
    pair = torch.arange(2, device=patterns.device)[None, :]
    position = 8 * (group % 4) + 7 - (2 * (group // 4) + pair)
    words = (bits.long() << position[:, None, :]).sum(dim=(2, 4))
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int().contiguous()
