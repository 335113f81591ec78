"""Several documents in one sequence, and text with images."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Parameters, axes, batch, library_mask, offset, owner, pairs, split


def _documents(random: Random, n: int) -> Parameters:
    return {"documents": split(random, n, random.randint(1, min(n, 6)))}


@library_mask("document_causal", _documents)
def document_causal(documents: list[int]) -> Mask:
    a, b = pairs(owner(documents))
    q, k = axes(len(a))
    return (a == b) & (k <= q)


@library_mask("document_full", _documents)
def document_full(documents: list[int]) -> Mask:
    a, b = pairs(owner(documents))
    return a == b


def _padded(random: Random, n: int) -> Parameters:
    used = random.randint(0, n)
    return {"documents": split(random, used, random.randint(1, 5)), "length": n}


@library_mask("document_padded", _padded)
def document_padded(documents: list[int], length: int) -> Mask:
    mask = np.zeros((length, length), bool)
    start = 0
    for size in documents:
        mask[start : start + size, start : start + size] = np.tri(size, dtype=bool)
        start += size
    return mask


@library_mask("document_padding_joined", _padded)
def document_padding_joined(documents: list[int], length: int) -> Mask:
    last = documents[-1] + length - sum(documents)
    return document_causal([*documents[:-1], last])


def _document_batch(random: Random, n: int) -> Parameters:
    return {"documents": [split(random, n, random.randint(1, 4)) for _ in range(2)]}


@library_mask("document_batch", _document_batch)
def document_batch(documents: list[list[int]]) -> Mask:
    return batch([document_causal(lengths) for lengths in documents])


def _ids(random: Random, n: int) -> Parameters:
    return {"ids": random.choices(range(4), k=n), "valid": [random.random() < 0.8 for _ in range(n)]}


@library_mask("segment_ids", _ids)
def segment_ids(ids: list[int], valid: list[bool]) -> Mask:
    real = np.array(valid)
    return np.equal.outer(ids, ids) & real[:, None] & real[None, :]


@library_mask("document_window", lambda random, n: _documents(random, n) | {"reach": random.randint(0, n)})
def document_window(documents: list[int], reach: int) -> Mask:
    a, b = pairs(owner(documents))
    q, k = axes(len(a))
    return (a == b) & (np.abs(q - k) <= reach)


def _document_sinks(random: Random, n: int) -> Parameters:
    return _documents(random, n) | {"sinks": random.randint(0, 5), "size": random.randint(1, n)}


@library_mask("document_sinks", _document_sinks)
def document_sinks(documents: list[int], sinks: int, size: int) -> Mask:
    a, b = pairs(owner(documents))
    q, k = axes(len(a))
    return (a == b) & (k <= q) & ((offset(documents)[None, :] < sinks) | (q - k < size))


def _prefixes(random: Random, n: int) -> Parameters:
    drawn = _documents(random, n)
    return drawn | {"prefixes": [random.randint(0, size + 2) for size in drawn["documents"]]}


@library_mask("document_prefix_lm", _prefixes)
def document_prefix_lm(documents: list[int], prefixes: list[int]) -> Mask:
    mask = document_causal(documents)
    start = 0
    for size, prefix in zip(documents, prefixes, strict=True):
        mask[start : start + size, start : start + min(size, prefix)] = True
        start += size
    return mask


def _shared_prefix(random: Random, n: int) -> Parameters:
    prefix = random.randint(0, n)
    return {"prefix": prefix, "documents": split(random, n - prefix, random.randint(1, 5))}


@library_mask("document_shared_prefix", _shared_prefix)
def document_shared_prefix(prefix: int, documents: list[int]) -> Mask:
    a, b = pairs(owner([prefix, *documents]))
    q, k = axes(len(a))
    return (k <= q) & ((k < prefix) | (a == b))


@library_mask("document_few_shot", _documents)
def document_few_shot(documents: list[int]) -> Mask:
    a, b = pairs(owner(documents))
    q, k = axes(len(a))
    return (k <= q) & ((a == b) | (a == len(documents) - 1))


def _cross(random: Random, n: int) -> Parameters:
    parts = random.randint(1, 5)
    return {"query_lengths": split(random, n, parts), "key_lengths": split(random, random.randint(1, n), parts)}


@library_mask("document_cross", _cross)
def document_cross(query_lengths: list[int], key_lengths: list[int]) -> Mask:
    a, b = pairs(owner(query_lengths), owner(key_lengths))
    return a == b


@library_mask("document_end", _cross)
def document_end(query_lengths: list[int], key_lengths: list[int]) -> Mask:
    a, b = pairs(owner(query_lengths), owner(key_lengths))
    surplus = np.array(key_lengths) - np.array(query_lengths)
    return (a == b) & (offset(key_lengths)[None, :] <= offset(query_lengths)[:, None] + surplus[a])


def _marks(random: Random, n: int) -> Parameters:
    return {"starts": random.choices([0, 0, 1], k=n), "valid": [random.random() < 0.8 for _ in range(n)]}


@library_mask("cumulative_blocks", _marks)
def cumulative_blocks(starts: list[int], valid: list[bool]) -> Mask:
    block, real = np.cumsum(starts), np.array(valid)
    return (block[None, :] <= block[:, None]) & real[None, :] & real[:, None]


def _pi0(random: Random, n: int) -> Parameters:
    images, room, actions = split(random, max(0, n - 1), 3)
    return {"images": images, "room": room, "prompt": [random.randint(0, room) for _ in range(2)], "actions": actions}


@library_mask("pi0", _pi0)
def pi0(images: int, room: int, prompt: list[int], actions: int) -> Mask:
    masks = []
    for real in prompt:
        starts = np.array([0] * (images + room) + [1] + ([1] + [0] * (actions - 1) if actions else []))
        valid = np.array([True] * (images + real) + [False] * (room - real) + [True] * (1 + actions))
        masks.append(cumulative_blocks(list(starts), list(valid)))
    return batch(masks)


def _scales(random: Random, n: int) -> Parameters:
    scales: list[int] = []
    while sum(s * s for s in scales) < n * 2 // 3:
        scales.append(random.randint(1, max(1, int((n / 2) ** 0.5))))
    return {"scales": scales}


@library_mask("var", _scales)
def var(scales: list[int]) -> Mask:
    a, b = pairs(owner([side * side for side in scales]))
    return b <= a


def _turns(random: Random, n: int) -> Parameters:
    turns = random.randint(1, 4)
    sizes = split(random, n, 2 * turns)
    return {"texts": sizes[:turns], "images": sizes[turns:]}


def _image_of(texts: list[int], images: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Per token the number of its image, -1 for text."""
    parts = [
        np.full(size, number)
        for t, i, n in zip(texts, images, range(len(texts)), strict=True)
        for size, number in ((t, -1), (i, n))
    ]
    return np.concatenate(parts)


@library_mask("gemma3_global", _turns)
def gemma3_global(texts: list[int], images: list[int]) -> Mask:
    a, b = pairs(_image_of(texts, images))
    q, k = axes(len(a))
    return (k <= q) | ((a == b) & (a >= 0))


def _local_turns(random: Random, n: int) -> Parameters:
    return _turns(random, n) | {"size": random.randint(1, n)}


@library_mask("gemma3_local", _local_turns)
def gemma3_local(texts: list[int], images: list[int], size: int) -> Mask:
    a, b = pairs(_image_of(texts, images))
    q, k = axes(len(a))
    return ((k <= q) & (q - k < size)) | ((a == b) & (a >= 0))


@library_mask("gemma3_local_cut", _local_turns)
def gemma3_local_cut(texts: list[int], images: list[int], size: int) -> Mask:
    a, b = pairs(_image_of(texts, images))
    q, k = axes(len(a))
    return (k > q - size) & ((k <= q) | ((a == b) & (a >= 0)))


@library_mask("transfusion", _turns)
def transfusion(texts: list[int], images: list[int]) -> Mask:
    mask = np.tri(sum(texts) + sum(images), dtype=bool)
    start = 0
    for text, image in zip(texts, images, strict=True):
        start += text
        mask[start : start + image, start : start + image] = True
        start += image
    return mask


def _bagel(random: Random, n: int) -> Parameters:
    splits = [split(random, size, random.randint(1, 4)) for size in split(random, n, random.randint(1, 3))]
    return {"splits": splits, "modes": [random.choices(["causal", "full", "noise"], k=len(s)) for s in splits]}


@library_mask("bagel", _bagel)
def bagel(splits: list[list[int]], modes: list[list[str]]) -> Mask:
    document = owner([sum(sizes) for sizes in splits])
    sizes = [size for one in splits for size in one]
    kinds = [mode for one in modes for mode in one]
    part = owner(sizes)
    full = np.array([kind != "causal" for kind in kinds], bool)[part]
    noise = np.array([kind == "noise" for kind in kinds], bool)[part]
    q, k = axes(len(part))
    same_part = part[:, None] == part[None, :]
    same_document = document[:, None] == document[None, :]
    return same_document & ((k <= q) | (same_part & full[None, :])) & ~(noise[None, :] & ~same_part)


def _flamingo(random: Random, n: int) -> Parameters:
    spans = [sorted(random.choices(range(n + 1), k=2)) for _ in range(random.randint(1, 3))]
    return {"text": n, "size": random.randint(1, 9), "spans": spans}


@library_mask("flamingo", _flamingo)
def flamingo(text: int, size: int, spans: list[list[int]]) -> Mask:
    mask = np.zeros((text, size * len(spans)), bool)
    for number, (start, end) in enumerate(spans):
        mask[start:end, number * size : (number + 1) * size] = True
    return mask


def _gist(random: Random, n: int) -> Parameters:
    return dict(zip(("prompt", "gist", "rest"), split(random, n, 3), strict=True))


@library_mask("gist", _gist)
def gist(prompt: int, gist: int, rest: int) -> Mask:
    q, k = axes(prompt + gist + rest)
    return (k <= q) & ((q < prompt + gist) | (k >= prompt))


def _conversation(random: Random, n: int) -> Parameters:
    lengths = split(random, n, random.randint(1, 6))
    return {"lengths": lengths, "kinds": random.choices(["text", "image", "tool"], k=len(lengths))}


@library_mask("tool_turns", _conversation)
def tool_turns(lengths: list[int], kinds: list[str]) -> Mask:
    turn = owner(lengths)
    kind = np.array(kinds)[turn]
    a, b = pairs(turn)
    q, k = axes(len(turn))
    visible = (k <= q) | ((a == b) & (kind == "image")[:, None])
    return visible & ~((kind == "tool")[None, :] & (a - b > 1))
