"""Cases about alignment, windows, caches, padding and packed documents."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np

from tests.cases.case import DenseCase
from tests.masks.predicates.registry import Mask, Parameters


def _rows(text: str) -> Mask:
    """A matrix drawn with `#` and `.`, one word per row."""
    return np.array([[mark == "#" for mark in row] for row in text.split()], dtype=bool)


def _square(length: int, *blocks: tuple[int, int, Mask]) -> Mask:
    """Blocks placed at (row, column) in an empty square."""
    mask = np.zeros((length, length), bool)
    for row, column, block in blocks:
        mask[row : row + block.shape[0], column : column + block.shape[1]] = block
    return mask


def _tri(length: int) -> Mask:
    return np.tri(length, dtype=bool)


def _ones(rows: int, columns: int) -> Mask:
    return np.ones((rows, columns), bool)


def _window(length: int, behind: int, ahead: int) -> Mask:
    mask = np.zeros((length, length), bool)
    for row in range(length):
        mask[row, max(0, row - behind) : row + ahead + 1] = True
    return mask


def _static_cache() -> Mask:
    mask = np.zeros((3, 12), bool)
    mask[0, :6] = mask[1, :7] = mask[2, :8] = True
    return mask


def _documents_in_window() -> Mask:
    sizes, starts = (3, 9, 1, 7), (0, 3, 12, 13)
    return _square(20, *((s, s, _window(n, 2, 2)) for s, n in zip(starts, sizes, strict=True)))


def _prefix_per_document() -> Mask:
    prefix = _tri(6)
    prefix[:, :3] = True
    return _square(20, (0, 0, prefix), (6, 6, _tri(5)), (11, 11, _tri(4)), (15, 15, _ones(5, 5)))


def _left_padding() -> Mask:
    return np.stack([_square(8, (p, p, _tri(8 - p))) for p in (0, 3, 7)])[:, None]


def _images() -> Mask:
    mask = _tri(14)
    for start, end in ((2, 6), (7, 10), (10, 13)):
        mask[start:end, start:end] = True
    return mask


def cutoff(length: int, cutoff: list[int]) -> Mask:
    """The first rows causal, the rest fully visible."""
    masks = []
    for rows in cutoff:
        mask = np.ones((length, length), bool)
        mask[:rows] = _tri(length)[:rows]
        masks.append(mask)
    return np.stack(masks)[:, None]


def _draw_cutoff(random: Random, n: int) -> Parameters:
    return {"length": n, "cutoff": [random.randint(0, n) for _ in range(2)]}


def _sinks_per_document() -> Mask:
    mask = np.zeros((18, 18), bool)
    for start, size in ((0, 9), (9, 2), (11, 7)):
        for row in range(size):
            mask[start + row, start : start + min(2, row + 1)] = True
            mask[start + row, start + max(0, row - 2) : start + row + 1] = True
    return mask


def _cu_seqlens(cu_seqlens: list[int]) -> Mask:
    mask = np.zeros((cu_seqlens[-1], cu_seqlens[-1]), bool)
    for start, end in pairwise(cu_seqlens):
        mask[start:end, start:end] = _tri(end - start)
    return mask


def _draw_cu_seqlens(random: Random, n: int) -> Parameters:
    return {"cu_seqlens": [0, *sorted(random.choices(range(n + 1), k=6)), n]}


def _strictly(rows: int, columns: int) -> Mask:
    return np.tri(rows, columns, -1, dtype=bool)


def _draw_rectangle(random: Random, n: int) -> Parameters:
    return {"rows": random.randint(1, n), "columns": random.randint(1, n)}


CUTOFF = """
param length = 10, cutoff per batch = [0, 4, 10]
layout
    token : length
rules
    token sees token                     : causal
    token where pos >= cutoff sees token : all
"""

CU_SEQLENS = """
param cu_seqlens = [0, 0, 1, 1, 1, 6, 6, 7, 12, 12]
layout
    document : diff(cu_seqlens)
rules
    document sees document : causal within document
"""

STRICTLY = """
param rows = 9, columns = 8
queries
    row : rows
keys
    column : columns
align start
rules
    row sees column : before
"""

CASES = (
    DenseCase(
        "causal_short_queries",
        "Two queries at the end of five keys see four and five of them.",
        "causal_end",
        {"new": 2, "total": 5},
        lambda: _rows("####. #####"),
    ),
    DenseCase(
        "causal_short_queries_from_the_start",
        "The other alignment: query i sees keys 0..i.",
        "causal_start",
        {"rows": 2, "columns": 5},
        lambda: _rows("#.... ##..."),
    ),
    DenseCase(
        "causal_long_queries",
        "More queries than keys, aligned at the end: the first queries see nothing.",
        "causal_end",
        {"new": 5, "total": 2},
        lambda: _rows(".. .. .. #. ##"),
    ),
    DenseCase(
        "causal_long_queries_from_the_start",
        "More queries than keys, aligned at the start: the later queries see all keys.",
        "causal_start",
        {"rows": 5, "columns": 2},
        lambda: _rows("#. ## ## ## ##"),
    ),
    DenseCase(
        "window_counts_itself",
        "A window of size 3 that counts the token itself sees two earlier keys.",
        "sliding_window",
        {"length": 8, "size": 3},
        lambda: _window(8, 2, 0),
    ),
    DenseCase(
        "window_does_not_count_itself",
        "A left side of 3 sees one key more.",
        "sliding_window_behind",
        {"length": 8, "behind": 3},
        lambda: _window(8, 3, 0),
    ),
    DenseCase(
        "symmetric_window_distance_at_most",
        "Distance at most 3: seven keys.",
        "local_window",
        {"length": 8, "reach": 3},
        lambda: _window(8, 3, 3),
    ),
    DenseCase(
        "symmetric_window_distance_below",
        "Distance below 3: five keys.",
        "local_window_strict",
        {"length": 8, "size": 3},
        lambda: _window(8, 2, 2),
    ),
    DenseCase(
        "symmetric_window_half",
        "Half of 3 on each side: three keys.",
        "local_window_half",
        {"length": 8, "size": 3},
        lambda: _window(8, 1, 1),
    ),
    DenseCase(
        "at_least_three_back",
        "A negative right side: query i sees 0..i-3, three queries see nothing, three keys are never seen.",
        "lagged_causal",
        {"length": 12, "gap": 3},
        lambda: np.tri(12, 12, -3, dtype=bool),
    ),
    DenseCase(
        "strictly_past",
        "Strictly earlier keys: the first query sees nothing and the last key is never seen.",
        "strictly_causal",
        {"length": 12},
        lambda: np.tri(12, 12, -1, dtype=bool),
    ),
    DenseCase(
        "strictly_past_rectangle",
        "Nine queries over eight keys, strictly earlier: query i sees i keys.",
        STRICTLY,
        {},
        lambda: _strictly(9, 8),
        _strictly,
        _draw_rectangle,
    ),
    DenseCase(
        "static_cache",
        "Spare slots of an over-allocated cache are never visible.",
        "static_cache",
        {"new": 3, "done": 5, "slots": 12},
        _static_cache,
    ),
    DenseCase(
        "padding_shares_a_segment_id",
        "A padded token does not join the segment whose id it happens to carry.",
        "segment_ids",
        {"ids": [0, 0, 0, 1, 1, 0], "valid": [True, True, True, True, True, False]},
        lambda: _square(6, (0, 0, _ones(3, 3)), (3, 3, _ones(2, 2))),
    ),
    DenseCase(
        "window_inside_documents",
        "A symmetric window stops at the borders of its document.",
        "document_window",
        {"documents": [3, 9, 1, 7], "reach": 2},
        _documents_in_window,
    ),
    DenseCase(
        "prefix_per_document",
        "A prefix longer than its document ends with it; prefixes 0 and 1 are plain causal.",
        "document_prefix_lm",
        {"documents": [6, 5, 4, 5], "prefixes": [3, 0, 1, 9]},
        _prefix_per_document,
    ),
    DenseCase(
        "left_padded_batch",
        "Every sample has its own left padding; its padded queries see nothing.",
        "left_padding",
        {"length": 8, "left": [0, 3, 7]},
        _left_padding,
    ),
    DenseCase(
        "empty_and_unit_documents",
        "Documents of length 0 contribute nothing and do not merge their neighbours.",
        CU_SEQLENS,
        {},
        lambda: _cu_seqlens([0, 1, 6, 7, 12]),
        _cu_seqlens,
        _draw_cu_seqlens,
    ),
    DenseCase(
        "images_see_themselves_not_later_images",
        "Two images that touch are two images; none sees a later one.",
        "gemma3_global",
        {"texts": [2, 1, 0, 1], "images": [4, 3, 3, 0]},
        _images,
    ),
    DenseCase(
        "cutoff_per_sample",
        "The first rows are causal and the rest see all; how many differs per sample.",
        CUTOFF,
        {},
        lambda: cutoff(10, [0, 4, 10]),
        cutoff,
        _draw_cutoff,
    ),
    DenseCase(
        "a_smaller_last_batch",
        "The same rule bound to two samples instead of three.",
        CUTOFF,
        {"cutoff": [7, 2]},
        lambda: cutoff(10, [7, 2]),
        cutoff,
        _draw_cutoff,
    ),
    DenseCase(
        "sinks_and_window_per_document",
        "Every document has its own sinks; where sinks and window overlap a key counts once.",
        "document_sinks",
        {"documents": [9, 2, 7], "sinks": 2, "size": 3},
        _sinks_per_document,
    ),
)
