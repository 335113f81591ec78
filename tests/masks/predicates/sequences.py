"""One sequence: causal, padded, windows, chunks."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Parameters, axes, batch, heads, library_mask


def _length(random: Random, n: int) -> Parameters:
    return {"length": n}


@library_mask("full", _length)
def full(length: int) -> Mask:
    return np.ones((length, length), bool)


def _valid(random: Random, n: int) -> Parameters:
    return {"length": n, "valid": [random.randint(0, n), n, random.randint(0, n)]}


@library_mask("bidirectional_padded", _valid)
def bidirectional_padded(length: int, valid: list[int]) -> Mask:
    q, k = axes(length)
    return batch([(q < v) & (k < v) for v in valid])


@library_mask("right_padding", _valid)
def right_padding(length: int, valid: list[int]) -> Mask:
    q, k = axes(length)
    return batch([(q < v) & (k <= q) for v in valid])


@library_mask("left_padding", lambda random, n: {"length": n, "left": [0, random.randint(0, n), n]})
def left_padding(length: int, left: list[int]) -> Mask:
    q, k = axes(length)
    return batch([(k >= p) & (k <= q) for p in left])


@library_mask("causal", _length)
def causal(length: int) -> Mask:
    return np.tri(length, dtype=bool)


@library_mask("causal_end", lambda random, n: {"new": random.randint(1, n), "total": random.randint(1, n)})
def causal_end(new: int, total: int) -> Mask:
    q, k = axes(new, total)
    return k <= q + (total - new)


@library_mask("causal_start", lambda random, n: {"rows": random.randint(1, n), "columns": random.randint(1, n)})
def causal_start(rows: int, columns: int) -> Mask:
    return np.tri(rows, columns, dtype=bool)


@library_mask("strictly_causal", _length)
def strictly_causal(length: int) -> Mask:
    return np.tri(length, k=-1, dtype=bool)


@library_mask("lagged_causal", lambda random, n: {"length": n, "gap": random.randint(0, n + 2)})
def lagged_causal(length: int, gap: int) -> Mask:
    q, k = axes(length)
    return k <= q - gap


@library_mask("sliding_window", lambda random, n: {"length": n, "size": random.randint(1, n + 3)})
def sliding_window(length: int, size: int) -> Mask:
    q, k = axes(length)
    return (k > q - size) & (k <= q)


@library_mask("sliding_window_behind", lambda random, n: {"length": n, "behind": random.randint(0, n + 3)})
def sliding_window_behind(length: int, behind: int) -> Mask:
    q, k = axes(length)
    return (q - k <= behind) & (k <= q)


def _two_sides(random: Random, n: int) -> Parameters:
    return {
        "new": random.randint(1, n),
        "total": random.randint(1, n),
        "left": random.randint(0, n),
        "right": random.randint(0, n // 2),
    }


@library_mask("window_two_sided", _two_sides)
def window_two_sided(new: int, total: int, left: int, right: int) -> Mask:
    q, k = axes(new, total)
    here = q + total - new
    return (here - left <= k) & (k <= here + right)


def _sinks(random: Random, n: int) -> Parameters:
    return {"length": n, "size": random.randint(1, n), "sinks": random.randint(0, n + 1)}


@library_mask("sliding_window_sinks", _sinks)
def sliding_window_sinks(length: int, size: int, sinks: int) -> Mask:
    q, k = axes(length)
    return (k <= q) & ((k < sinks) | (q - k < size))


def _sides_and_sinks(random: Random, n: int) -> Parameters:
    return {
        "length": n,
        "left": random.randint(0, n),
        "right": random.randint(0, max(1, n // 3)),
        "sinks": random.randint(0, n + 1),
    }


@library_mask("window_sinks", _sides_and_sinks)
def window_sinks(length: int, left: int, right: int, sinks: int) -> Mask:
    """A key is hidden right of the right border, and left of the left one unless it is a sink."""
    q, k = axes(length)
    return ~((k > q + right) | ((k < q - left) & (k >= sinks)))


@library_mask("local_window", lambda random, n: {"length": n, "reach": random.randint(0, n)})
def local_window(length: int, reach: int) -> Mask:
    q, k = axes(length)
    return np.abs(q - k) <= reach


@library_mask("local_window_strict", lambda random, n: {"length": n, "size": random.randint(1, n)})
def local_window_strict(length: int, size: int) -> Mask:
    q, k = axes(length)
    return np.abs(q - k) < size


@library_mask("local_window_half", lambda random, n: {"length": n, "size": random.randint(0, n)})
def local_window_half(length: int, size: int) -> Mask:
    q, k = axes(length)
    return np.abs(q - k) <= size // 2


def _chunks(random: Random, n: int) -> Parameters:
    return {"length": n, "chunk": random.randint(1, n), "left": [0, random.randint(0, n)]}


@library_mask("chunked_local", _chunks)
def chunked_local(length: int, chunk: int, left: list[int]) -> Mask:
    q, k = axes(length)
    return batch([(k >= p) & (k <= q) & ((k - p) // chunk == (q - p) // chunk) for p in left])


@library_mask("block_causal", lambda random, n: {"length": n, "block": random.randint(1, n)})
def block_causal(length: int, block: int) -> Mask:
    q, k = axes(length)
    return k // block <= q // block


def _prefix_chunks(random: Random, n: int) -> Parameters:
    return {"length": n, "prefix": random.randint(0, n), "chunk": random.randint(1, 5)}


@library_mask("prefix_chunks", _prefix_chunks)
def prefix_chunks(length: int, prefix: int, chunk: int) -> Mask:
    mask = np.tri(length, dtype=bool)
    for row in range(prefix, length):
        mask[row, : min(length, prefix + chunk * ((row - prefix) // chunk) + chunk)] = True
    return mask


@library_mask("prefix_lm", lambda random, n: {"length": n, "prefix": random.randint(0, n)})
def prefix_lm(length: int, prefix: int) -> Mask:
    q, k = axes(length)
    return (k < prefix) | (k <= q)


@library_mask("prefix_lm_batch", lambda random, n: {"length": n, "prefix": [0, random.randint(0, n), n]})
def prefix_lm_batch(length: int, prefix: list[int]) -> Mask:
    q, k = axes(length)
    return batch([((q < p) & (k < p)) | (k <= q) | (k < p) for p in prefix])


@library_mask("local_global_heads", lambda random, n: {"length": n, "size": random.randint(1, n)})
def local_global_heads(length: int, size: int) -> Mask:
    whole = np.tri(length, dtype=bool)
    near = whole & ~np.tri(length, k=-size, dtype=bool)
    return heads([whole, near, whole, near])


def _arrow(random: Random, n: int) -> Parameters:
    return {"length": n} | {name: random.randint(0, n) for name in ("behind", "sinks", "tail")}


@library_mask("arrow", _arrow)
def arrow(length: int, behind: int, sinks: int, tail: int) -> Mask:
    q, k = axes(length)
    return (k <= q) & ((q - k <= behind) | (k < sinks) | (q >= length - tail))


def _stream(random: Random, n: int) -> Parameters:
    return {"length": n, "valid": random.randint(0, n), "chunk": random.randint(1, n), "left": random.randint(0, 3)}


@library_mask("streaming_chunks", _stream)
def streaming_chunks(length: int, valid: int, chunk: int, left: int) -> Mask:
    q, k = axes(length)
    return (q < valid) & (k < valid) & (q // chunk - left <= k // chunk) & (k // chunk <= q // chunk)
