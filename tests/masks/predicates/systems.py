"""Caches, context parallelism, draft training and block diffusion."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Numbers, Parameters, axes, batch, library_mask, offset, owner, pairs


def _block_diffusion(random: Random, n: int) -> Parameters:
    return {"length": max(1, n // 2), "size": random.randint(1, max(1, n // 3))}


@library_mask("block_diffusion", _block_diffusion)
def block_diffusion(length: int, size: int) -> Mask:
    q, k = axes(2 * length)
    rows, columns = q % length // size, k % length // size
    noisy_q, noisy_k = q < length, k < length
    diagonal = (rows == columns) & (noisy_q == noisy_k)
    offset_causal = noisy_q & ~noisy_k & (rows > columns)
    return diagonal | offset_causal | (~noisy_q & ~noisy_k & (rows >= columns))


def _draft_blocks(random: Random, n: int) -> Parameters:
    count = random.randint(1, 6)
    return {
        "context": n,
        "size": random.randint(1, 6),
        "anchors": [random.randint(0, n) for _ in range(count)],
        "keep": [random.random() < 0.8 for _ in range(count)],
    }


@library_mask("dflash", _draft_blocks)
def dflash(context: int, size: int, anchors: list[int], keep: list[bool]) -> Mask:
    q, k = axes(size * len(anchors), context + size * len(anchors))
    block = q // size
    anchor, alive = np.array(anchors)[block], np.array(keep, bool)[block]
    own = (k >= context) & ((k - context) // size == block)
    return alive & (((k < context) & (k < anchor)) | own)


def _sliding_blocks(random: Random, n: int) -> Parameters:
    return _draft_blocks(random, n) | {"behind": random.randint(0, n)}


@library_mask("dflash_sliding", _sliding_blocks)
def dflash_sliding(context: int, size: int, anchors: list[int], keep: list[bool], behind: int) -> Mask:
    q, k = axes(size * len(anchors), context + size * len(anchors))
    block, place = q // size, q % size
    anchor, alive = np.array(anchors)[block], np.array(keep, bool)[block]
    own = (k >= context) & ((k - context) // size == block) & ((k - context) % size <= place)
    return alive & (((k < context) & (k < anchor) & (k >= anchor + place - behind)) | own)


@library_mask("dflash_causal", _draft_blocks)
def dflash_causal(context: int, size: int, anchors: list[int], keep: list[bool]) -> Mask:
    q, k = axes(size * len(anchors), context + size * len(anchors))
    block, place = q // size, q % size
    anchor, alive = np.array(anchors)[block], np.array(keep, bool)[block]
    own = (context + size * block <= k) & (k <= context + size * block + place)
    return alive & ((k < np.minimum(anchor, context)) | own)


def _draft_steps(random: Random, n: int) -> Parameters:
    steps = random.randint(0, 3)
    length = max(1, n // (1 + steps))
    return {"length": length, "steps": steps, "valid": [random.randint(0, length) for _ in range(2)]}


@library_mask("eagle3", _draft_steps)
def eagle3(length: int, steps: int, valid: list[int]) -> Mask:
    q, k = axes(length, length * (1 + steps))
    diagonals = (k >= length) & ((k - q) % length == 0)
    return batch([((k <= q) & (k < v) & (q < v)) | (diagonals & (k % length < v)) for v in valid])


def _anchors(random: Random, n: int) -> Parameters:
    trunk = max(1, n // 2)
    deeper = [(random.randrange(trunk), random.randint(1, 3)) for _ in range(n - trunk)]
    return {
        "anchors": list(range(trunk)) + [anchor for anchor, _ in deeper],
        "depths": [0] * trunk + [depth for _, depth in deeper],
    }


@library_mask("peagle", _anchors)
def peagle(anchors: list[int], depths: list[int]) -> Mask:
    (anchor_q, anchor_k), (depth_q, depth_k) = pairs(np.array(anchors)), pairs(np.array(depths))
    return ((depth_k == 0) & (anchor_k <= anchor_q)) | ((anchor_k == anchor_q) & (depth_q >= depth_k))


def _static(random: Random, n: int) -> Parameters:
    new = random.randint(1, n)
    done = random.randint(0, n)
    return {"new": new, "done": done, "slots": new + done + random.randint(0, 9)}


@library_mask("static_cache", _static)
def static_cache(new: int, done: int, slots: int) -> Mask:
    q, k = axes(new, slots)
    return (k < done + new) & (k <= q + done)


def _pages(random: Random, n: int) -> Parameters:
    page = random.randint(1, 9)
    count = max(1, n // page)
    length = random.randint(1, page * count)
    return {
        "page": page,
        "pages": random.sample(range(count), count),
        "length": length,
        "new": random.randint(1, length),
    }


@library_mask("paged_cache", _pages)
def paged_cache(page: int, pages: list[int], length: int, new: int) -> Mask:
    logical = np.tri(length, dtype=bool)[length - new :]
    room = np.hstack([logical, np.zeros((new, page * len(pages) - length), bool)])
    slots = np.concatenate([np.arange(number * page, (number + 1) * page) for number in pages])
    return room[:, slots]


def _prefill(random: Random, n: int) -> Parameters:
    count = random.randint(1, 4)
    done = [random.randint(0, n // count) for _ in range(count)]
    new = [random.randint(0 if i else 1, max(1, n // count)) for i in range(count)]
    room = max(d + w for d, w in zip(done, new, strict=True)) + random.randint(0, 4)
    return {"done": done, "new": new, "room": room}


@library_mask("chunked_prefill", _prefill)
def chunked_prefill(done: list[int], new: list[int], room: int) -> Mask:
    sequence, place = owner(new)[:, None], offset(new)[:, None]
    slot_owner, slot = pairs(np.repeat(np.arange(len(new)), room))[1], np.tile(np.arange(room), len(new))[None, :]
    return (sequence == slot_owner) & (slot <= place + np.array(done)[sequence])


def _zigzag(random: Random, n: int) -> Parameters:
    ranks = random.randint(1, 4)
    return {"chunk": max(1, n // (2 * ranks)), "rank": random.randrange(ranks), "ranks": ranks}


def _zigzag_positions(chunk: int, rank: int, ranks: int) -> Numbers:
    pieces = (rank, 2 * ranks - 1 - rank)
    return np.concatenate([np.arange(piece * chunk, (piece + 1) * chunk) for piece in pieces])


@library_mask("zigzag", _zigzag)
def zigzag(chunk: int, rank: int, ranks: int) -> Mask:
    return np.tri(2 * chunk * ranks, dtype=bool)[_zigzag_positions(chunk, rank, ranks)]


@library_mask("zigzag_gathered", _zigzag)
def zigzag_gathered(chunk: int, rank: int, ranks: int) -> Mask:
    columns = np.concatenate([_zigzag_positions(chunk, number, ranks) for number in range(ranks)])
    return zigzag(chunk, rank, ranks)[:, columns]


def _striped(random: Random, n: int) -> Parameters:
    ranks = random.randint(1, 5)
    return {"length": max(1, n // ranks) * ranks, "rank": random.randrange(ranks), "ranks": ranks}


@library_mask("striped", _striped)
def striped(length: int, rank: int, ranks: int) -> Mask:
    return np.tri(length, dtype=bool)[rank::ranks]


@library_mask("striped_gathered", _striped)
def striped_gathered(length: int, rank: int, ranks: int) -> Mask:
    return np.hstack([striped(length, rank, ranks)[:, number::ranks] for number in range(ranks)])
