"""Cases about sparse patterns, trees, heads, images, block diffusion and tiles."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.cases.case import DenseCase
from tests.masks.predicates.grids import sliding_tiles
from tests.masks.predicates.registry import Mask, Parameters, axes


def _tri(length: int) -> Mask:
    return np.tri(length, dtype=bool)


def _scattered() -> Mask:
    mask = np.zeros((20, 20), bool)
    for row in range(20):
        mask[row, max(0, row - 2) : row + 3] = True
    for place in (0, 8, 15):
        mask[place] = mask[:, place] = True
    return mask


def _holes() -> Mask:
    mask = _tri(16)
    mask[8:13, 3:7] = False
    mask[5, :] = False
    return mask


def _two_halves() -> Mask:
    mask = np.zeros((20, 20), bool)
    for start, end in ((0, 4), (4, 8), (8, 10)):
        mask[start:end, start:end] = True
        mask[start:end, 10 : 10 + start] = True
        mask[10 + start : 10 + end, 10 : 10 + end] = True
    return mask


def _tree() -> Mask:
    """Depth-first numbers: a node is an ancestor of those from itself up to its last descendant."""
    node = np.repeat(np.arange(7), [3, 2, 2, 3, 2, 1, 2])
    last = np.array([7, 4, 3, 4, 7, 6, 7])[node]
    q, k = axes(15)
    return (k <= q) & (node[None, :] <= node[:, None]) & (node[:, None] < last[None, :])


def _draft() -> Mask:
    mask = np.zeros((4, 16), bool)
    mask[:, :9] = True
    for row, nodes in enumerate(([0, 1, 3], [0, 1, 4], [0, 2, 5], [0, 1, 4, 6])):
        mask[row, [9 + node for node in nodes]] = True
    return mask


def _small_chunks() -> Mask:
    mask = _tri(16)
    for row in range(5, 16):
        mask[row, : min(16, 5 + 2 * ((row - 5) // 2) + 2)] = True
    return mask


def mixed_heads(length: int, sinks: int, size: int) -> Mask:
    """Heads 0 and 2 causal, head 1 sinks and a window, head 3 off."""
    q, k = axes(length)
    whole = _tri(length)
    return np.stack([whole, whole & ((k < sinks) | (q - k < size)), whole, np.zeros_like(whole)])[None]


def _draw_mixed(random: Random, n: int) -> Parameters:
    return {"length": n, "sinks": random.randint(0, n), "size": random.randint(1, n)}


def _streaming() -> Mask:
    mask = np.zeros((22, 22), bool)
    for chunk in range(5):
        end = min(19, 4 * chunk + 4)
        mask[4 * chunk : end, max(0, 4 * (chunk - 2)) : end] = True
    return mask


def _shifted() -> Mask:
    rows = [(0, 3), (0, 3), (1, 4), (2, 5), (3, 6), (3, 6)]
    columns = [(0, 5), (0, 5), (0, 5), (1, 6), (2, 7), (2, 7), (2, 7)]
    mask = np.zeros((6, 7, 6, 7), bool)
    for y, (top, bottom) in enumerate(rows):
        for x, (left, right) in enumerate(columns):
            mask[y, x, top:bottom, left:right] = True
    return mask.reshape(42, 42)


def _too_large_kernel() -> Mask:
    mask = np.zeros((4, 6, 4, 6), bool)
    for x, (left, right) in enumerate([(0, 3), (0, 3), (1, 4), (2, 5), (3, 6), (3, 6)]):
        mask[:, x, :, left:right] = True
    return mask.reshape(24, 24)


def _tiles_with_text() -> Mask:
    mask = np.ones((27, 27), bool)
    for row in range(6):
        for column in range(6):
            seen = column % 3 in ((0, 1), (0, 1), (1, 2))[row % 3]
            mask[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = seen
    return mask


def tiles_with_text(height: int, width: int, tile: int, text: int) -> Mask:
    """Windows of 2 x 2 tiles on a canvas stored tile by tile."""
    return sliding_tiles(1, height, width, [1, tile, tile], text, 0, [[1, 2, 2]])


def _draw_tiles(random: Random, n: int) -> Parameters:
    height = random.randint(1, max(1, n // 4))
    return {"height": height, "width": max(1, n // height), "tile": random.randint(1, 4), "text": random.randint(0, 5)}


def _coarse_cells() -> Mask:
    y, x = np.arange(5) // 2, np.arange(7) // 2
    near_y, near_x = np.abs(y[:, None] - y) <= 1, np.abs(x[:, None] - x) <= 1
    return np.kron(near_y, near_x).astype(bool)


def dilated_strided(length: int, reach: int, step: int, behind: int, every: int) -> Mask:
    """Head 0: every `step`-th key up to `reach` back. Head 1: `behind` keys or every `every`-th one."""
    q, k = axes(length)
    past = k <= q
    return np.stack(
        [
            past & ((q - k) % step == 0) & (q - k <= reach),
            past & ((q - k <= behind) | (k % every == every - 1)),
        ]
    )[None]


def _draw_dilated(random: Random, n: int) -> Parameters:
    return {
        "length": n,
        "reach": random.randint(0, n),
        "step": random.randint(1, 6),
        "behind": random.randint(0, n),
        "every": random.randint(1, 9),
    }


def _dilated() -> Mask:
    dilated = sum(np.eye(48, 48, -distance, dtype=int) for distance in (0, 3, 6, 9, 12)) > 0
    strided = _tri(48) & ~np.tri(48, 48, -4, dtype=bool)
    for column in range(7, 48, 8):
        strided[column:, column] = True
    return np.stack([dilated, strided])[None]


def growing_window(length: int, behind: list[int]) -> Mask:
    """[batch, 3, query, key]: a window per sample; head 2 misses key 0."""
    q, k = axes(length)
    masks = []
    for reach in behind:
        window = (k <= q) & (q - k <= reach)
        masks.append(np.stack([window, window, window & (k > 0)]))
    return np.stack(masks)


def _draw_growing(random: Random, n: int) -> Parameters:
    return {"length": n, "behind": [random.randint(0, n) for _ in range(3)]}


def _growing() -> Mask:
    mask = np.zeros((2, 3, 9, 9), bool)
    for sample in range(2):
        for row in range(9):
            mask[sample, :, row, max(0, row - sample) : row + 1] = True
    mask[:, 2, :, 0] = False
    return mask


def _arrow() -> Mask:
    mask: Mask = _tri(64) & ~np.tri(64, 64, -5, dtype=bool)
    mask[:, :3] |= np.tri(64, 3, dtype=bool)
    mask[60:] = _tri(64)[60:]
    return mask


def _two_documents() -> Mask:
    mask = np.zeros((20, 28), bool)
    mask[:7, :11] = True
    mask[7:, 11:] = True
    return mask


def document_pairs(documents: list[list[int]]) -> Mask:
    """Packed documents, full inside, other lengths per sample."""
    owners = [np.repeat(np.arange(len(sizes)), sizes) for sizes in documents]
    return np.stack([np.equal.outer(owner, owner) for owner in owners])[:, None]


def _draw_document_pairs(random: Random, n: int) -> Parameters:
    cuts = [random.randint(0, n) for _ in range(2)]
    return {"documents": [[cut, n - cut] for cut in cuts]}


MIXED_HEADS = """
param length = 14, sinks = 1, size = 3
heads 4
layout
    token : length
rules when head in [0, 2]
    token sees token                : causal
rules when head == 1
    token sees token                : window(behind=size - 1, ahead=0)
    token sees first sinks of token : causal
"""

DILATED = """
param length = 48, reach = 12, step = 3, behind = 3, every = 8
heads 2
layout
    token : length
rules when head == 0
    token sees token                                  : window(behind=reach, ahead=0) and same (pos % step)
rules when head == 1
    token sees token                                  : window(behind=behind, ahead=0)
    token sees token where pos % every == every - 1 : causal
"""

TILES_WITH_TEXT = """
param height = 4, width = 6, tile = 2, text = 3
layout
    image : grid(height, width) stored by (y // tile, x // tile)
    text  : text
rules
    image sees image     : box(2, 2, edge=shift, lean=behind) by (y // tile, x // tile)
    everything sees text : all
    text sees everything : all
"""

GROWING = """
param length = 9, behind per batch = [0, 1]
heads 3
layout
    token : length
rules
    token sees token                   : window(behind=behind, ahead=0)
rules when head == 2
    token cannot see first 1 of token : all
"""

DOCUMENT_PAIRS = """
param documents per batch = [[16, 16], [8, 24]]
layout
    document : documents
rules
    document sees document : same document
"""

CASES = (
    DenseCase(
        "scattered_global_tokens",
        "Global tokens anywhere: row 4 has four runs.",
        "longformer",
        {"length": 20, "reach": 2, "globals": [0, 8, 15]},
        _scattered,
    ),
    DenseCase(
        "causal_minus_rectangles",
        "A hole may touch the diagonal, lie outside the triangle, or empty a row.",
        "causal_holes",
        {"length": 16, "holes": [[8, 13, 3, 7], [2, 5, 9, 13], [5, 6, 0, 6]]},
        _holes,
    ),
    DenseCase(
        "block_diffusion_two_halves",
        "Noisy and clean half; the last block is short and the last noisy row has one merged run.",
        "block_diffusion",
        {"length": 10, "size": 4},
        _two_halves,
    ),
    DenseCase(
        "prefix_tree_many_levels",
        "A token sees its branch back to the root, never a sibling.",
        "prefix_tree",
        {"lengths": [3, 2, 2, 3, 2, 1, 2], "parents": [-1, 0, 1, 1, 0, 4, 4]},
        _tree,
    ),
    DenseCase(
        "draft_tree_not_square",
        "The newest four nodes of a draft tree ask; there are holes left of the diagonal.",
        "draft_tree",
        {"verified": 9, "parents": [-1, 0, 0, 1, 1, 2, 4], "asking": 4},
        _draft,
    ),
    DenseCase(
        "causal_by_small_chunks",
        "Pairs after a causal prefix; the last chunk is incomplete; one run a row.",
        "prefix_chunks",
        {"length": 16, "prefix": 5, "chunk": 2},
        _small_chunks,
    ),
    DenseCase(
        "rules_per_head_with_a_dead_head",
        "Heads 0 and 2 share one mask, head 3 sees nothing.",
        MIXED_HEADS,
        {},
        lambda: mixed_heads(14, 1, 3),
        mixed_heads,
        _draw_mixed,
    ),
    DenseCase(
        "streaming_chunks_with_padded_tail",
        "Own chunk and two to the left; padded frames see nothing.",
        "streaming_chunks",
        {"length": 22, "valid": 19, "chunk": 4, "left": 2},
        _streaming,
    ),
    DenseCase(
        "neighbourhood_shifted_inwards",
        "Always 3 x 5 keys, near the border too.",
        "natten_2d",
        {"height": 6, "width": 7, "kernel": [3, 5]},
        _shifted,
    ),
    DenseCase(
        "kernel_larger_than_the_axis",
        "A kernel larger than the axis takes the whole axis.",
        "natten_2d",
        {"height": 4, "width": 6, "kernel": [5, 3]},
        _too_large_kernel,
    ),
    DenseCase(
        "sliding_tiles_with_text",
        "Tiles stored one after the other: an even window leans to the left, its centre stays inside.",
        TILES_WITH_TEXT,
        {},
        _tiles_with_text,
        tiles_with_text,
        _draw_tiles,
    ),
    DenseCase(
        "canvas_not_divisible_by_the_cell",
        "Neighbouring coarse cells on a 5 x 7 canvas.",
        "coarse_cells",
        {"height": 5, "width": 7, "cell": 2},
        _coarse_cells,
    ),
    DenseCase(
        "dilated_and_strided",
        "Every visible key may be a run of its own.",
        DILATED,
        {},
        _dilated,
        dilated_strided,
        _draw_dilated,
    ),
    DenseCase(
        "arrow",
        "Columns are visited by very different numbers of rows.",
        "arrow",
        {"length": 64, "behind": 4, "sinks": 3, "tail": 4},
        _arrow,
    ),
    DenseCase(
        "block_causal_below_the_tile",
        "Blocks of 4 in tiles of 16.",
        "block_causal",
        {"length": 32, "block": 4},
        lambda: np.kron(np.tri(8), np.ones((4, 4))).astype(bool),
    ),
    DenseCase(
        "lengths_without_a_common_tile",
        "20 queries and 28 keys in two documents.",
        "document_cross",
        {"query_lengths": [7, 13], "key_lengths": [11, 17]},
        _two_documents,
    ),
    DenseCase(
        "batch_and_head",
        "A window that grows with the sample; head 2 misses key 0.",
        GROWING,
        {},
        _growing,
        growing_window,
        _draw_growing,
    ),
    DenseCase(
        "documents_per_sample",
        "Documents of 16 and 16 tokens in one sample, of 8 and 24 in the other.",
        DOCUMENT_PAIRS,
        {},
        lambda: document_pairs([[16, 16], [8, 24]]),
        document_pairs,
        _draw_document_pairs,
    ),
)
