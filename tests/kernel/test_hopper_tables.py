"""What the Hopper kernel is given, checked without a GPU: pattern words in accumulator order, plans, token orders."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compilemask import pipeline
from compilemask.kernel.configurations import HOPPER_GLUON, HOPPER_TALL
from compilemask.kernel.hopper_launch import configuration_for, hopper_accepts
from compilemask.kernel.hopper_patterns import accumulator_order
from compilemask.kernel.prepared import prepared
from compilemask.kernel.reorder import in_order
from compilemask.kernel.tensor_maps import TensorMapOf


@pytest.mark.parametrize(("rows", "words"), [(128, 4), (192, 2)])
def test_pattern_words_hold_each_column_where_the_accumulator_wants_it(rows: int, words: int) -> None:
    natural = np.random.default_rng(0).integers(-(2**31), 2**31, (3, rows, words), dtype=np.int32)
    ordered = accumulator_order(torch.from_numpy(natural)).numpy().astype(np.int64)
    for column in range(words * 32):
        group, lane, pair = column // 8, column % 8 // 2, column % 2
        expected = (natural[:, :, column // 32].astype(np.int64) >> (column % 32)) & 1
        bit = 8 * (group % 4) + 7 - (2 * (group // 4) + pair)
        assert ((ordered[:, :, lane] >> bit & 1) == expected).all()


def half(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.empty(*shape, dtype=dtype)


@pytest.mark.parametrize(
    ("head_dim", "head_dim_v", "dtype", "scale"),
    [(264, 64, torch.bfloat16, 0.1), (64, 100, torch.float16, 0.1), (64, 64, torch.float32, 0.1),
     (64, 64, torch.float16, -1.0), (64, 64, torch.float16, 0.0), (12, 64, torch.float16, 0.1)],
)  # fmt: skip
def test_leaves_other_calls_to_the_portable_kernel(
    head_dim: int, head_dim_v: int, dtype: torch.dtype, scale: float
) -> None:
    query, value = half(1, 1, 8, head_dim, dtype=dtype), half(1, 1, 8, head_dim_v, dtype=dtype)
    assert not hopper_accepts(query, value, scale)


def test_accepts_every_width_it_has_a_configuration_for() -> None:
    pytest.importorskip("triton.experimental.gluon")
    for head_dim, head_dim_v in HOPPER_GLUON:
        assert hopper_accepts(half(1, 1, 8, head_dim), half(1, 1, 8, head_dim_v), 0.1)


def test_copies_only_what_tma_cannot_address() -> None:
    pytest.importorskip("triton.experimental.gluon")
    tokens_first = half(2, 64, 3, 64).transpose(1, 2)
    assert not TensorMapOf(tokens_first, 64, 64, 64).copies
    assert TensorMapOf(half(2, 3, 64, 65)[..., :64], 64, 64, 64).copies
    assert TensorMapOf(half(2, 3, 64, 64).transpose(2, 3), 64, 64, 64).copies
    assert TensorMapOf(half(1, 3, 64, 64).expand(2, 3, 64, 64), 64, 64, 64).copies


def test_token_order_takes_rows() -> None:
    tensor = torch.randn(2, 3, 7, 4)
    order = torch.randperm(7)
    assert torch.equal(in_order(tensor, order), tensor[:, :, order])
    assert in_order(tensor, None) is tensor


def test_tall_tiles_are_for_narrow_heads_of_masks_that_lose_little() -> None:
    masks = [pipeline.compile("causal", params={"length": length}) for length in (16384, 512)]
    long, short = (prepared(mask.number) for mask in masks)
    assert configuration_for(long, 64, 64) is HOPPER_TALL[64, 64]
    assert configuration_for(short, 64, 64) is HOPPER_GLUON[64, 64]
    assert configuration_for(long, 128, 128) is HOPPER_GLUON[128, 128]
