"""The Hopper backward kernel: its host-made tables anywhere, its gradients where such a GPU is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.descriptor.descriptor import Descriptor, TileLists
from compilemask.kernel.backward_launch import ForwardResult
from compilemask.kernel.hopper_backward_schedule import BackwardSchedule, make_backward_schedule
from compilemask.kernel.hopper_patterns import transposed_order
from compilemask.kernel.prepared import prepared
from compilemask.kernel.reference import AttentionResult
from compilemask.kernel.schedule import CallShape
from compilemask.measure.error_budget import compare, references
from tests.kernel.made_masks import DenseMask

HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
SHAPE = CallShape(2, 4, 2, key_batch_shared=False, key_head_shared=False, programs=7, head_group=1)


def blocky(shape: tuple[int, int, int, int], seed: int = 0) -> NDArray[np.bool_]:
    """Random cells, a full block, an empty block, empty rows and keys that nobody sees."""
    random = np.random.default_rng(seed)
    mask = random.random(shape) < 0.3
    mask[:, :, 128:400, 0:300] = True
    mask[:, ::2, 0:256, 256:520] = False
    mask[..., 3::7, :] = False
    mask[..., 2::5] = False
    return mask


def test_words_hold_the_bits_of_a_key_by_queries() -> None:
    bits = np.random.default_rng(1).random((3, 128, 128)) < 0.5
    packed = np.packbits(bits, axis=2, bitorder="little").view(np.int32)
    words = transposed_order(torch.from_numpy(packed)).numpy().view(np.uint32)
    assert words.shape == (3, 2, 128, 4)
    for pattern, query, key in np.random.default_rng(2).integers(0, (3, 128, 128), (500, 3)):
        group, rest = divmod(query % 64, 8)
        lane, pair = divmod(rest, 2)
        position = 8 * (group % 4) + 7 - (2 * (group // 4) + pair)
        assert (words[pattern, query // 64, key, lane] >> position) & 1 == bits[pattern, query, key]


def listed(lists: TileLists, first: int, partials: int, run: int, runs_end: int) -> list[int]:
    tiles = lists.partial_tiles[first : first + partials].tolist()
    for start, end in lists.full_runs[run:runs_end].tolist():
        tiles += range(start, end)
    return sorted(tiles)


def visited(descriptor: Descriptor, schedule: BackwardSchedule) -> set[tuple[int, int, int, int]]:
    """(batch, head, key tile, query tile) of every step, each exactly once."""
    found: list[tuple[int, int, int, int]] = []
    items = int(schedule.offsets[-1])
    reached = items + 1
    for batch, matrix, _, _, key, first, end, _ in schedule.records[:items].tolist():
        assert first == reached
        reached = end
        for head, partial, partials, run, runs_end, tiles, pattern, _ in schedule.records[first:end].tolist():
            assert batch * 2 + head // 2 == matrix
            assert partials == 0 or pattern == descriptor.by_key.partial_patterns[partial]
            query_tiles = listed(descriptor.by_key, partial, partials, run, runs_end)
            assert len(query_tiles) == tiles
            found += [(batch, head, key // 128, tile) for tile in query_tiles]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("mask_shape", [(1, 1), (2, 1), (1, 4), (2, 4)])
def test_every_visible_tile_is_walked_once(mask_shape: tuple[int, int]) -> None:
    mask = blocky((*mask_shape, 600, 700))
    descriptor = descriptor_from_dense(mask, 128, 128)
    schedule = make_backward_schedule(descriptor, SHAPE)
    assert schedule.offsets[0] == 0
    items = int(schedule.offsets[-1])
    assert items == 2 * 2 * 6
    assert schedule.records[items, 5:7].tolist() == [len(schedule.records) - 1] * 2
    assert not schedule.records[-1].any()
    assert (np.diff(schedule.offsets) >= 0).all()
    padded = np.zeros((2, 4, 640, 768), bool)
    padded[:, :, :600, :700] = np.broadcast_to(mask, (2, 4, 600, 700))
    any_visible = padded.reshape(2, 4, 5, 128, 6, 128).any((3, 5))
    expected = {(b, h, k, q) for b, h, q, k in zip(*np.nonzero(any_visible), strict=True)}
    assert visited(descriptor, schedule) == expected


def test_repeated_keys_are_read_where_they_are() -> None:
    descriptor = descriptor_from_dense(blocky((1, 1, 300, 300)), 128, 128)
    shape = replace(SHAPE, key_batch_shared=True, key_head_shared=True)
    schedule = make_backward_schedule(descriptor, shape)
    items = schedule.records[: schedule.offsets[-1]]
    assert not items[:, 2:4].any()
    assert set(items[:, 0].tolist()) == {0, 1}


CASES = {
    "one token": ((1, 1, 1, 1), 1, 1, 1, 128, 128),
    "odd": ((1, 1, 63, 111), 1, 2, 2, 128, 128),
    "grouped, batch": ((1, 1, 1000, 700), 2, 4, 2, 128, 128),
    "per batch and head, D 96, V 80": ((2, 4, 300, 520), 2, 4, 1, 96, 80),
    "narrow, D 32, V 16": ((1, 2, 300, 520), 1, 2, 2, 32, 16),
    "D 8, V 128": ((1, 1, 200, 333), 1, 2, 1, 8, 128),
}


@pytest.mark.gpu
@pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", CASES)
def test_gradients_on_hopper(name: str, dtype: torch.dtype) -> None:
    from compilemask.kernel.hopper_backward_launch import hopper_backward, hopper_backward_accepts

    shape, batch, heads, key_heads, width, width_v = CASES[name]
    visible = blocky(shape) if shape[2] > 1 else np.ones(shape, bool)
    generator = torch.Generator(device="cuda").manual_seed(0)

    def normal(*sizes: int) -> torch.Tensor:
        return torch.randn(sizes, generator=generator, device="cuda", dtype=torch.float32).to(dtype)

    q, k = normal(batch, heads, shape[2], width), normal(batch, key_heads, shape[3], width)
    v, dout = normal(batch, key_heads, shape[3], width_v), normal(batch, heads, shape[2], width_v)
    dlse = normal(batch, heads, shape[2]).float()
    dense = torch.from_numpy(visible).cuda()
    against = references(q, k, v, dense, dout=dout, dlse=dlse)
    unseen = ~dense.expand(batch, heads, -1, -1).any(2).reshape(batch, key_heads, -1, shape[3]).any(2)
    k[unseen], v[unseen] = float("nan"), float("inf")
    empty = ~dense.any(3).expand(batch, heads, -1)
    q[empty], dout[empty] = float("nan"), float("nan")
    mask = DenseMask(visible)
    out, lse = against.exact.out.to(dtype), against.exact.lse.float()
    saved = ForwardResult(q, k, v, out, lse, dout, dlse)
    scale = width**-0.5
    assert hopper_backward_accepts(q, v, scale)
    ready = prepared(mask.number)
    first, again = (hopper_backward(saved, ready, scale) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    errors = compare(AttentionResult(out, lse, *first), against)
    assert all(error.within for error in errors), errors
