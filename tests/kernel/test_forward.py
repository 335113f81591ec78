"""The portable forward kernel against float64 dense attention, in the interpreter or on the GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from compilemask.kernel.configurations import Configuration
from compilemask.kernel.device_tensors import to_device
from compilemask.kernel.forward_launch import portable_forward
from tests.kernel.dense_attention import dense, largest_error, row_error
from tests.kernel.dense_descriptor import descriptor_of

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
TOLERANCE = {torch.float32: 2e-6, torch.float16: 1e-3}


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes of one call."""

    queries: int
    keys: int
    heads: int = 1
    kv_heads: int = 1
    batch: int = 1
    head_dim: int = 16
    head_dim_v: int = 16
    dtype: torch.dtype = torch.float32


CASES = {
    "one token": Case(1, 1),
    "odd": Case(63, 111, heads=2, kv_heads=2, batch=2),
    "more queries": Case(130, 65, head_dim=64, head_dim_v=64),
    "grouped, D 80, V 48": Case(111, 200, heads=4, kv_heads=2, head_dim=80, head_dim_v=48, dtype=torch.float16),
    "multi-query, D 192, V 128": Case(65, 64, heads=3, kv_heads=1, head_dim=192, head_dim_v=128, dtype=torch.float16),
    "D 96": Case(70, 70, head_dim=96, head_dim_v=96),
    "D 256": Case(40, 70, head_dim=256, head_dim_v=256, dtype=torch.float16),
}


def random_mask(case: Case, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Blocks of full, random and empty cells; some queries see nothing, some keys nobody sees."""
    shape = (case.batch, case.heads, case.queries, case.keys)
    mask = rng.random(shape) < 0.4
    for visible in (True, False):
        for _ in range(2):
            top, left = rng.integers(0, case.queries), rng.integers(0, case.keys)
            mask[:, rng.integers(0, case.heads), top : top + 90, left : left + 90] = visible
    mask[..., ::7, :] = False
    mask[..., ::5] = False
    return mask


@pytest.mark.parametrize("name", CASES)
def test_equals_dense_attention_and_ignores_what_nobody_sees(name: str) -> None:
    case = CASES[name]
    rng = np.random.default_rng(3)
    torch.manual_seed(3)
    mask = random_mask(case, rng)
    tensors = to_device(descriptor_of(mask, 64, 64), DEVICE)
    query = torch.randn(case.batch, case.heads, case.queries, case.head_dim, dtype=case.dtype)
    key = torch.randn(case.batch, case.kv_heads, case.keys, case.head_dim, dtype=case.dtype)
    value = torch.randn(case.batch, case.kv_heads, case.keys, case.head_dim_v, dtype=case.dtype)
    expected, expected_lse = dense(query, key, value, torch.from_numpy(mask), 0.2)
    unseen = torch.from_numpy(~mask.any(axis=(0, 1, 2)))
    key[:, :, unseen] = torch.nan
    value[:, :, unseen] = torch.inf
    query[torch.from_numpy(~mask.any(axis=3))] = torch.nan
    output, lse = portable_forward(
        query.to(DEVICE), key.to(DEVICE), value.to(DEVICE), tensors, 0.2, Configuration(64, 64, 4, 1)
    )
    assert row_error(output.cpu(), expected) < TOLERANCE[case.dtype]
    assert torch.equal(torch.isinf(lse.cpu()), torch.isinf(expected_lse))
    finite = torch.isfinite(expected_lse)
    assert largest_error(lse.cpu()[finite], expected_lse[finite]) < 2e-6


def test_reads_any_strides() -> None:
    torch.manual_seed(4)
    mask = np.tril(np.ones((1, 1, 80, 80), bool))
    tensors = to_device(descriptor_of(mask, 64, 64), DEVICE)
    query = torch.randn(2, 80, 3, 32, device=DEVICE).transpose(1, 2)
    key = torch.randn(32, 80, device=DEVICE).t().expand(2, 3, 80, 32)
    value = torch.randn(2, 3, 160, 64, device=DEVICE)[:, :, ::2, ::2]
    output, _ = portable_forward(query, key, value, tensors, 0.2, Configuration(64, 64, 4, 1))
    expected, _ = dense(query.cpu(), key.cpu(), value.cpu(), torch.from_numpy(mask), 0.2)
    assert row_error(output.cpu(), expected) < 2e-6


def test_one_variant_serves_broadcast_heads() -> None:
    torch.manual_seed(5)
    mask = np.tril(np.ones((2, 1, 70, 70), bool))
    mask[1, :, :, :10] = False
    tensors = to_device(descriptor_of(mask, 64, 64), DEVICE)
    query, key, value = (torch.randn(2, 3, 70, 16, device=DEVICE) for _ in range(3))
    output, _ = portable_forward(query, key, value, tensors, 0.25, Configuration(64, 64, 4, 1))
    expected, _ = dense(query.cpu(), key.cpu(), value.cpu(), torch.from_numpy(mask), 0.25)
    assert row_error(output.cpu(), expected) < 2e-6


def test_nan_in_a_key_reaches_the_queries_that_see_it() -> None:
    mask = np.ones((1, 1, 64, 64), bool)
    tensors = to_device(descriptor_of(mask, 64, 64), DEVICE)
    query, key, value = (torch.randn(1, 1, 64, 16, device=DEVICE) for _ in range(3))
    key[0, 0, 5] = torch.nan
    output, lse = portable_forward(query, key, value, tensors, 0.25, Configuration(64, 64, 4, 1))
    assert bool(output.isnan().all())
    assert bool(lse.isnan().all())
