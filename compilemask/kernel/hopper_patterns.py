"""Patterns of partial tiles in the order in which Hopper's accumulators hold their cells.

Forward accumulators hold queries by keys, backward ones keys by queries. A row's word w holds the columns 8 * j + 2 * w
+ e at bit 8 * (j % 4) + 7 - (2 * (j // 4) + e): the pairs of columns that lane w of a quad owns, arranged so that one
shift brings four of them to the signs of the four bytes, see `bias_of`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

PATTERNS_AT_ONCE = 256  # 32 MiB of bits
STEP = 64  # queries of a step of the backward kernel


def accumulator_order(patterns: Tensor) -> Tensor:
    """int32 [distinct, rows, words] with bit c % 32 of word c // 32 for column c -> [distinct, rows, 4]."""
    return _in_parts(patterns, _lane_words)


def transposed_order(patterns: Tensor) -> Tensor:
    """int32 [distinct, 128 queries, 4 words] -> [distinct, 2 steps, 128 keys, 4]."""
    return _in_parts(patterns, _steps_by_keys)


def _in_parts(patterns: Tensor, order: Callable[[Tensor], Tensor]) -> Tensor:
    """The words of all patterns; `order` takes bits [part, rows, columns]."""
    shifts = torch.arange(32, device=patterns.device, dtype=torch.int32)
    parts = torch.split(patterns, PATTERNS_AT_ONCE)
    return torch.cat([order(((part[..., None] >> shifts) & 1).flatten(2)) for part in parts])


def _steps_by_keys(bits: Tensor) -> Tensor:
    distinct, queries, keys = bits.shape
    return _lane_words(bits.reshape(distinct, queries // STEP, STEP, keys).mT)


def _lane_words(bits: Tensor) -> Tensor:
    """[..., columns] -> int32 [..., 4]."""
    bits = bits.reshape(*bits.shape[:-1], bits.shape[-1] // 8, 4, 2)  # [..., j, w, e]
    group = torch.arange(bits.shape[-3], device=bits.device)[:, None]
    pair = torch.arange(2, device=bits.device)[None, :]
    position = 8 * (group % 4) + 7 - (2 * (group // 4) + pair)
    words = (bits.long() << position[:, None, :]).sum(dim=(-3, -1))
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int().contiguous()
