"""Descriptors against dense masks, forward and transposed lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compilemask.descriptor import Descriptor, TileLists, descriptor_from_dense
from compilemask.tiles.tile_map import unpack_patterns
from tests.strategies import DenseMask, dense_masks


def draw_lists(descriptor: Descriptor, lists: TileLists, variant: int, by_key: bool) -> tuple[np.ndarray, np.ndarray]:
    """The dense mask that the lists describe, padded to whole tiles, and how often every tile is listed."""
    m, n = descriptor.block_m, descriptor.block_n
    cells = unpack_patterns(descriptor.patterns, n)
    count = np.zeros((descriptor.query_tiles, descriptor.key_tiles), np.int32)
    dense = np.zeros((descriptor.query_tiles * m, descriptor.key_tiles * n), np.bool_)
    walk = descriptor.key_tiles if by_key else descriptor.query_tiles
    for tile in range(walk):
        row = variant * walk + tile
        listed = [(t, None) for a, b in lists.full_runs[slice(*lists.full_offsets[row : row + 2])] for t in range(a, b)]
        part = slice(*lists.partial_offsets[row : row + 2])
        assert (np.diff(lists.partial_tiles[part]) > 0).all()
        listed += list(zip(lists.partial_tiles[part], lists.partial_patterns[part], strict=True))
        for other, pattern in listed:
            q, k = (other, tile) if by_key else (tile, other)
            count[q, k] += 1
            dense[q * m : (q + 1) * m, k * n : (k + 1) * n] = True if pattern is None else cells[pattern]
    return dense, count


def check_descriptor(descriptor: Descriptor, mask: np.ndarray) -> None:
    """Both lists of every (batch, head) against the dense [batch, heads, queries, keys] mask."""
    queries, keys = descriptor.query_length, descriptor.key_length
    for b in range(mask.shape[0]):
        for h in range(mask.shape[1]):
            variant = int(descriptor.variant[b % descriptor.variant.shape[0], h % descriptor.variant.shape[1]])
            for lists, by_key in ((descriptor.by_query, False), (descriptor.by_key, True)):
                dense, count = draw_lists(descriptor, lists, variant, by_key)
                np.testing.assert_array_equal(dense[:queries, :keys], mask[b, h])
                assert not dense[:, keys:].any()
                assert count.max(initial=0) <= 1


@given(dense_masks(), st.sampled_from([1, 3, 8, 33, 64]), st.sampled_from([1, 5, 8, 32, 40]))
def test_lists_draw_the_mask(mask: DenseMask, m: int, n: int) -> None:
    check_descriptor(descriptor_from_dense(mask[None, None], m, n), mask[None, None])


@given(st.lists(dense_masks(21, 19), min_size=4, max_size=4), st.sampled_from([4, 8]), st.sampled_from([4, 7]))
def test_batches_and_heads_share_variants_and_patterns(masks: list[DenseMask], m: int, n: int) -> None:
    mask = np.stack([masks[i] for i in (0, 1, 0, 2, 3, 1)]).reshape(2, 3, 21, 19)
    descriptor = descriptor_from_dense(mask, m, n)

    check_descriptor(descriptor, mask)
    assert descriptor.variants == len({one.tobytes() for one in masks})
    assert len({pattern.tobytes() for pattern in descriptor.patterns}) == descriptor.patterns.shape[0]
    _, first = np.unique(descriptor.by_query.partial_patterns, return_index=True)
    assert first.size == descriptor.patterns.shape[0]
    assert (np.diff(first) > 0).all()
    assert descriptor.nbytes > 0


def test_a_full_tile_across_the_end_of_the_keys_gets_an_edge_pattern() -> None:
    descriptor = descriptor_from_dense(np.ones((1, 1, 10, 10), np.bool_), 4, 4)

    np.testing.assert_array_equal(descriptor.by_query.full_runs, [[0, 2]] * 3)
    np.testing.assert_array_equal(descriptor.by_query.partial_tiles, [2, 2, 2])
    np.testing.assert_array_equal(descriptor.by_query.partial_patterns, [0, 0, 1])
    np.testing.assert_array_equal(descriptor.patterns[:, :, 0], [[3, 3, 3, 3], [3, 3, 0, 0]])
