"""Masks whose token order was applied outside of the call."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
import torch
from torch import Tensor

from compilemask import pipeline
from compilemask.kernel.api import attention
from compilemask.pipeline import CompiledMask

CROSS = """
queries
    word : 70
keys
    image : grid(7, 9)
rules
    word sees image : q.index % 9 >= k.x
order image stored by (x)
"""


def clear() -> CompiledMask:
    return pipeline.compile("clear", text=5, height=9, width=20, radius=4)


def normal(mask: CompiledMask, length: int, seed: int) -> Tensor:
    return torch.randn(1, 2, length, 16, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("mask", [clear(), pipeline.compile("causal", length=77), pipeline.compile_text(CROSS)])
def test_a_call_in_the_masks_order_is_the_call_in_the_texts(mask: CompiledMask) -> None:
    q = normal(mask, mask.query_length, 0)
    k, v = normal(mask, mask.key_length, 1), normal(mask, mask.key_length, 2)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    queries, keys = torch.from_numpy(mask.query_order), torch.from_numpy(mask.key_order)
    expected = attention(q, k, v, mask)[:, :, queries]
    found = attention(q[:, :, queries], k[:, :, keys], v[:, :, keys], mask.stored)
    torch.testing.assert_close(found, expected)
    weight = normal(mask, mask.query_length, 3)
    grads = (torch.autograd.grad((output * weight).sum(), leaves) for output in (found, expected))
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other)


def test_its_cells_are_those_of_the_mask_moved() -> None:
    mask = clear()
    order = mask.query_order
    assert not np.array_equal(order, np.arange(len(order)))
    assert np.array_equal(np.sort(order), np.arange(len(order)))
    assert np.array_equal(mask.stored.dense(), mask.dense()[np.ix_(order, order)])
    assert mask.stored.dense().flags.writeable  # the caller's own
    assert not mask.stored.descriptor().by_query.partial_tiles.flags.writeable
    assert mask.stored.descriptor().query_order is None
    assert np.array_equal(mask.stored.descriptor().by_query.partial_tiles, mask.descriptor().by_query.partial_tiles)


def test_there_is_one_for_a_mask_and_it_goes_with_it() -> None:
    mask = clear()
    stored = weakref.ref(mask.stored)
    assert mask.stored is mask.stored
    assert mask.stored.number != mask.number
    gc.disable()
    try:
        del mask
        assert stored() is None
    finally:
        gc.enable()


def test_it_survives_a_pickle() -> None:
    mask = clear()
    first = mask.stored
    again = pickle.loads(pickle.dumps(mask))
    assert again.stored.number not in (first.number, again.number)
    assert np.array_equal(again.stored.dense(), first.dense())
    assert repr(again.stored) == "StoredMask('clear', 185 queries x 185 keys)"
