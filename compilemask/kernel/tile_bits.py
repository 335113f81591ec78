"""Triton pieces that every portable kernel shares: the visible cells of a partial tile."""

import triton
import triton.language as tl


@triton.jit
def visible_cells(patterns, pattern, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """bool [BLOCK_M, BLOCK_N] of one pattern: bit c % 32 of word c // 32 of a row is column c."""
    WORDS: tl.constexpr = BLOCK_N // 32
    rows = tl.arange(0, BLOCK_M)
    words = tl.load(
        patterns + pattern.to(tl.int64) * (BLOCK_M * WORDS) + rows[:, None] * WORDS + tl.arange(0, WORDS)[None, :]
    )
    bits = (words[:, :, None] >> tl.arange(0, 32)[None, None, :]) & 1
    return tl.reshape(bits, (BLOCK_M, BLOCK_N)) != 0
