"""Sparse patterns: dilated, strided, global tokens, random and routed blocks, holes, dropped tokens."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from tests.masks.predicates.registry import Mask, Numbers, Parameters, axes, heads, library_mask


def _dilated(random: Random, n: int) -> Parameters:
    return {"length": n, "reach": random.randint(0, n), "step": random.randint(1, 5)}


@library_mask("dilated_window", _dilated)
def dilated_window(length: int, reach: int, step: int) -> Mask:
    q, k = axes(length)
    return (np.abs(q - k) <= reach) & (np.abs(q - k) % step == 0)


@library_mask("dilated_causal", _dilated)
def dilated_causal(length: int, reach: int, step: int) -> Mask:
    q, k = axes(length)
    return (q >= k) & (q - k <= reach) & ((q - k) % step == 0)


def _stride(random: Random, n: int) -> Parameters:
    return {"length": n, "stride": random.randint(1, max(1, n // 2))}


@library_mask("sparse_strided", _stride)
def sparse_strided(length: int, stride: int) -> Mask:
    q, k = axes(length)
    return (k <= q) & ((q - k) % stride == 0)


@library_mask("sparse_local_strided", _stride)
def sparse_local_strided(length: int, stride: int) -> Mask:
    q, k = axes(length)
    return (k <= q) & (((q - k) % stride == 0) | (k + stride > q))


def _fixed(random: Random, n: int) -> Parameters:
    local = random.randint(2, max(2, n // 2))
    return {"length": n, "local": local, "summary": random.randint(0, local // 2)}


@library_mask("sparse_fixed", _fixed)
def sparse_fixed(length: int, local: int, summary: int) -> Mask:
    q, k = axes(length)
    masks = []
    for head in range(2):
        column = (k % local >= local - summary * (head + 1)) & (k % local < local - summary * head)
        masks.append((k <= q) & ((q // local == k // local) | column))
    return heads(masks)


def _globals(random: Random, n: int) -> Parameters:
    count = random.randint(0, min(n, 6))
    return {"length": n, "reach": random.randint(0, n // 3), "globals": sorted(random.sample(range(n), count))}


@library_mask("longformer", _globals)
def longformer(length: int, reach: int, globals: list[int]) -> Mask:  # noqa: A002
    q, k = axes(length)
    mask = np.abs(q - k) <= reach
    mask[globals] = True
    mask[:, globals] = True
    return mask


def _first_globals(random: Random, n: int) -> Parameters:
    return {"length": n} | {name: random.randint(0, n // 2) for name in ("globals", "behind", "ahead")}


@library_mask("global_window", _first_globals)
def global_window(length: int, globals: int, behind: int, ahead: int) -> Mask:  # noqa: A002
    q, k = axes(length)
    return (q < globals) | (k < globals) | ((q - k <= behind) & (k - q <= ahead))


def _bigbird(random: Random, n: int) -> Parameters:
    block = max(1, min(random.randint(1, 16), n // 4))
    count = max(3, n // block)
    return {"block": block, "chosen": [random.choices(range(count), k=3) for _ in range(count - 2)]}


@library_mask("bigbird", _bigbird)
def bigbird(block: int, chosen: list[list[int]]) -> Mask:
    count = len(chosen) + 2
    blocks = np.zeros((count, count), bool)
    blocks[[0, -1]] = True
    blocks[:, [0, -1]] = True
    for row in range(1, count - 1):
        blocks[row, row - 1 : row + 2] = True
        blocks[row, chosen[row - 1]] = True
    return np.kron(blocks, np.ones((block, block), bool))


def _splitmix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators)."""
    with np.errstate(over="ignore"):
        z = value + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _drawn(values: int, count: int, seed: int) -> Mask:
    """[values, values]: the `count` smallest of splitmix(splitmix(splitmix(seed) xor query) xor key) in each row."""
    numbers = np.arange(values, dtype=np.uint64)
    rows = _splitmix(_splitmix(np.full(values, seed, np.uint64)) ^ numbers)
    weights = _splitmix(rows[:, None] ^ numbers[None, :])
    chosen = np.zeros((values, values), bool)
    np.put_along_axis(chosen, np.argsort(weights, axis=1, kind="stable")[:, :count], True, axis=1)
    return chosen


def _blocks(length: int, block: int) -> Numbers:
    return np.arange(length) // block


def _random(random: Random, n: int) -> Parameters:
    block = random.randint(1, max(1, n // 3))
    count = random.randint(1, -(-n // block))
    return {"length": n, "block": block, "count": count, "seed": random.randint(0, 2**40)}


@library_mask("bigbird_seeded", _random)
def bigbird_seeded(length: int, block: int, count: int, seed: int) -> Mask:
    number = _blocks(length, block)
    last = number[-1]
    masks = []
    for head in range(2):
        chosen = _drawn(last + 1, count, seed + head)
        chosen[[0, -1]] = True
        chosen[:, [0, -1]] = True
        near = np.abs(number[:, None] - number[None, :]) <= 1
        masks.append(chosen[np.ix_(number, number)] | near)
    return heads(masks)


@library_mask("random_blocks", _random)
def random_blocks(length: int, block: int, count: int, seed: int) -> Mask:
    number = _blocks(length, block)
    own = number[:, None] == number[None, :]
    masks = [_drawn(number[-1] + 1, count, seed + head)[np.ix_(number, number)] | own for head in range(2)]
    return heads([mask & np.tri(length, dtype=bool) for mask in masks])


def _segments(random: Random, n: int) -> Parameters:
    return {"length": n, "segment": random.randint(1, n), "step": random.randint(1, 5)}


@library_mask("longnet", _segments)
def longnet(length: int, segment: int, step: int) -> Mask:
    q, k = axes(length)
    inside = (k <= q) & (q // segment == k // segment)
    return heads([inside & ((q - head) % step == 0) & ((k - head) % step == 0) for head in range(2)])


def _holes(random: Random, n: int) -> Parameters:
    holes = []
    for _ in range(random.randint(0, 4)):
        rows, columns = sorted(random.choices(range(n + 1), k=2)), sorted(random.choices(range(n + 1), k=2))
        holes.append([*rows, *columns])
    return {"length": n, "holes": holes}


@library_mask("causal_holes", _holes)
def causal_holes(length: int, holes: list[list[int]]) -> Mask:
    mask = np.tri(length, dtype=bool)
    for top, bottom, left, right in holes:
        mask[top:bottom, left:right] = False
    return mask


def _spans(random: Random, n: int) -> Parameters:
    cuts = sorted(random.sample(range(n + 1), 4)) if n > 4 else [0, 0, 0, 0]
    return {"length": n, "holes": [cuts[:2] * 2, cuts[2:] * 2]}


@library_mask("qk_sparse_holes", _spans)
def qk_sparse_holes(length: int, holes: list[list[int]]) -> Mask:
    q, k = axes(length)
    mask = k <= q
    for start, end, *_ in holes:
        mask &= ~((start <= k) & (k <= q) & (q < end))
    return mask


def _survival(random: Random, n: int) -> Parameters:
    return {"survives": [random.choice([0, 1, 3, n // 2, 2 * n]) for _ in range(n)]}


@library_mask("random_eviction", _survival)
def random_eviction(survives: list[int]) -> Mask:
    q, k = axes(len(survives))
    evicted = k + np.array(survives)[None, :] + 1
    return (k <= q) & (q < evicted)


def _dropped(random: Random, n: int) -> Parameters:
    def one() -> list[bool]:
        return [random.random() < 0.7 for _ in range(n)]

    return {"length": n, "ask": [one(), one()], "answer": [one(), one()]}


@library_mask("qk_sparse", _dropped)
def qk_sparse(length: int, ask: list[list[bool]], answer: list[list[bool]]) -> Mask:
    q, k = axes(length)
    pairs = zip(ask, answer, strict=True)
    return heads([(k <= q) & np.array(a)[:, None] & np.array(b)[None, :] for a, b in pairs])


@library_mask(
    "hash_sparse", lambda random, n: {"length": n} | {"buckets": [random.choices(range(4), k=n) for _ in range(2)]}
)
def hash_sparse(length: int, buckets: list[list[int]]) -> Mask:
    q, k = axes(length)
    return heads([(k < q) & (np.array(b)[:, None] == np.array(b)[None, :]) for b in buckets])


def _routed(random: Random, n: int) -> Parameters:
    block = random.randint(1, 9)
    count = max(1, n // block)
    return {
        "block": block,
        "chosen": [random.sample(range(count), random.randint(0, min(3, count))) for _ in range(count)],
    }


@library_mask("routed_blocks", _routed)
def routed_blocks(block: int, chosen: list[list[int]]) -> Mask:
    blocks = np.eye(len(chosen), dtype=bool)
    for row, picked in enumerate(chosen):
        blocks[row, picked] = True
    mask = np.kron(blocks, np.ones((block, block), bool))
    return mask & np.tri(len(mask), dtype=bool)


@library_mask("hash_sparse_sorted", lambda random, n: {"buckets": random.choices(range(4), k=n)})
def hash_sparse_sorted(buckets: list[int]) -> Mask:
    text_order = hash_sparse(len(buckets), [buckets])[0, 0]
    stored = np.argsort(buckets, kind="stable")
    return text_order[stored][:, stored]


@library_mask("sparse_strided_sorted", _stride)
def sparse_strided_sorted(length: int, stride: int) -> Mask:
    stored = np.array([place for residue in range(stride) for place in range(residue, length, stride)], np.int64)
    return sparse_strided(length, stride)[stored][:, stored]


@library_mask("any_order", lambda random, n: {"ranks": random.sample(range(n), n)})
def any_order(ranks: list[int]) -> Mask:
    rank = np.array(ranks)
    return rank[None, :] < rank[:, None]


def _summaries(random: Random, n: int) -> Parameters:
    return {"length": n, "block": random.randint(1, 9), "step": random.randint(1, 9)}


@library_mask("compressed_blocks", _summaries)
def compressed_blocks(length: int, block: int, step: int) -> Mask:
    """Summary s is of tokens s * step to s * step + block - 1; there is one for every block that fits."""
    firsts = np.arange(0, length - block + 1, step)
    return np.arange(length)[:, None] + 1 >= firsts[None, :] + block
