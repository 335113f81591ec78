"""The schedule of persistent programs: every query tile of every head once, balanced, with the right lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compilemask.kernel.device_tensors import work_per_row
from compilemask.kernel.schedule import ITEM_COST, CallShape, head_group, make_schedule, share_out
from tests.kernel.dense_descriptor import descriptor_of


def shape(batch: int, heads: int, kv_heads: int, programs: int, group: int = 1, shared: bool = False) -> CallShape:
    return CallShape(batch, heads, kv_heads, shared, shared, programs, group)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 3), st.sampled_from([(1, 1), (4, 2), (3, 3)]), st.integers(1, 200), st.integers(0, 9))
def test_every_tile_is_dealt_once_with_its_lists(batch: int, heads: tuple[int, int], programs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = np.kron(rng.random((batch, heads[0], 5, 4)) < 0.5, np.ones((1, 1, 32, 32), bool))[:, :, :150, :120]
    mask &= rng.random(mask.shape) < 0.999
    descriptor = descriptor_of(mask, 32, 32)
    schedule = make_schedule(descriptor, shape(batch, heads[0], heads[1], programs, 2))
    items = schedule.items
    assert schedule.offsets[0] == 0
    assert schedule.offsets[-1] == len(items) == batch * heads[0] * 5
    assert (np.diff(schedule.offsets) >= 0).all()
    assert len({(b, h, row) for b, h, row in items[:, [0, 1, 4]].tolist()}) == len(items)
    lists = descriptor.by_query
    for b, h, kb, kh, row, partial, partials, run, runs_end, tiles, *_ in items.tolist():
        assert (kb, kh) == (b, h // (heads[0] // heads[1]))
        list_row = int(descriptor.variant[b, h]) * 5 + row // 32
        assert [partial, partial + partials] == lists.partial_offsets[list_row : list_row + 2].tolist()
        assert [run, runs_end] == lists.full_offsets[list_row : list_row + 2].tolist()
        assert tiles == partials + sum(last - first for first, last in lists.full_runs[run:runs_end].tolist())


def test_repeated_keys_are_read_from_their_one_entry() -> None:
    descriptor = descriptor_of(np.ones((1, 1, 64, 64), bool), 32, 32)
    schedule = make_schedule(descriptor, shape(2, 4, 4, 8, shared=True))
    assert not schedule.items[:, 2:4].any()


@pytest.mark.parametrize("programs", [7, 132])
def test_causal_work_is_balanced(programs: int) -> None:
    descriptor = descriptor_of(np.tril(np.ones((1, 1, 2048, 2048), bool)), 32, 32)
    schedule = make_schedule(descriptor, shape(1, 8, 8, programs))
    cost = schedule.items[:, 9] + ITEM_COST
    loads = [cost[a:b].sum() for a, b in zip(schedule.offsets, schedule.offsets[1:], strict=False)]
    assert max(loads) <= np.mean(loads) + work_per_row(descriptor.by_query).max() * 0.25


@pytest.mark.parametrize("group", [1, 2, 3, 6, 16])
def test_what_groups_leave_uneven_is_levelled(group: int) -> None:
    descriptor = descriptor_of(np.tril(np.ones((1, 1, 2048, 2048), bool)), 32, 32)
    schedule = make_schedule(descriptor, shape(1, 16, 16, 132, group=group))
    cost = schedule.items[:, 9] + ITEM_COST
    loads = [cost[a:b].sum() for a, b in zip(schedule.offsets, schedule.offsets[1:], strict=False)]
    assert max(loads) <= 1.03 * np.mean(loads)


def test_one_heavy_item_of_the_last_head_is_not_left_for_the_end() -> None:
    cost = np.concatenate([np.ones(1270), [50.0]])
    order, program = share_out(cost, np.arange(1271) // 41, programs=20, head_group=1)
    assert np.bincount(program, cost[order]).max() <= 67


def test_head_groups_fit_the_cache() -> None:
    assert head_group(1024, 256, 2, 16) == 16
    assert head_group(4096, 256, 2, 16) == 4
    assert head_group(32768, 256, 2, 16) == 1
    assert head_group(1 << 24, 256, 2, 16) == 1


def test_head_groups_have_one_size() -> None:
    assert head_group(3600, 256, 2, 16) == 4  # not 5, 5, 5 and 1
