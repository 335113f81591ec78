"""The Hopper forward kernel on a Hopper GPU, against float64 dense attention; more items than programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from compilemask.kernel import hopper_launch
from compilemask.kernel.api import attention
from compilemask.kernel.reference import AttentionResult
from compilemask.measure.error_budget import compare, references
from tests.kernel.dense_attention import dense, relative_error
from tests.kernel.made_masks import DenseMask

IS_HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 9
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not IS_HOPPER, reason="needs a Hopper GPU")]

ERRORS = {torch.bfloat16: 4e-3, torch.float16: 6e-4}


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes of one call."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_dim: int
    head_dim_v: int
    dtype: torch.dtype


CASES = {
    "many items a program": Case(4, 16, 4, 1000, 1200, 128, 128, torch.bfloat16),
    "narrow": Case(3, 16, 16, 1024, 1024, 64, 64, torch.float16),
    "padded widths": Case(2, 4, 2, 129, 2049, 96, 80, torch.bfloat16),
    "wide values": Case(1, 2, 1, 63, 111, 64, 128, torch.bfloat16),
    "one token": Case(1, 1, 1, 1, 1, 128, 128, torch.bfloat16),
    "smallest heads": Case(1, 4, 4, 700, 900, 32, 16, torch.bfloat16),
    "largest heads": Case(2, 4, 4, 1000, 1200, 256, 256, torch.bfloat16),
    "largest queries and keys": Case(1, 4, 2, 1000, 1200, 192, 128, torch.float16),
    "largest values": Case(1, 4, 2, 300, 1200, 64, 256, torch.bfloat16),
}


def blocky_mask(case: Case, seed: int) -> DenseMask:
    """Full, random and empty blocks; one head of one sample sees nothing, some queries and keys take no part."""
    rng = np.random.default_rng(seed)
    cells = rng.random((case.batch, case.heads, case.queries, case.keys)) < 0.3
    for _ in range(6):
        top, left = rng.integers(0, case.queries), rng.integers(0, case.keys)
        cells[:, rng.integers(0, case.heads), top : top + 500, left : left + 700] = rng.random() < 0.6
    cells[..., ::7, :] = False
    cells[..., ::5] = False
    cells[0, 0] = False
    return DenseMask(cells)


@pytest.mark.parametrize("name", CASES)
def test_equals_dense_attention_whatever_the_unseen_hold(name: str) -> None:
    case = CASES[name]
    mask = blocky_mask(case, 1)
    visible = torch.from_numpy(mask.cells).cuda()
    torch.manual_seed(1)

    def random(heads: int, length: int, width: int) -> torch.Tensor:
        return torch.randn(case.batch, heads, length, width, dtype=case.dtype, device="cuda")

    q = random(case.heads, case.queries, case.head_dim)
    k = random(case.kv_heads, case.keys, case.head_dim)
    v = random(case.kv_heads, case.keys, case.head_dim_v)
    expected, expected_lse = dense(q, k, v, visible, 0.1)
    against = references(q, k, v, visible, 0.1)
    seen = visible.any(2).reshape(case.batch, case.kv_heads, -1, case.keys).any(2)
    k, v = torch.where(seen[..., None], k, torch.nan), torch.where(seen[..., None], v, torch.inf)
    q = torch.where(visible.any(3)[..., None], q, torch.nan)
    assert hopper_launch.hopper_accepts(q, v, 0.1)
    output, lse = attention(q, k, v, mask, scale=0.1, return_lse=True, enable_gqa=True)
    errors = compare(AttentionResult(output, lse), against)
    assert all(error.within for error in errors), errors
    assert relative_error(output, expected) < ERRORS[case.dtype]
    assert torch.equal(torch.isinf(lse), torch.isinf(expected_lse))
    finite = torch.isfinite(expected_lse)
    assert relative_error(lse[finite], expected_lse[finite]) < 5e-6
    again, _ = attention(q, k, v, mask, scale=0.1, return_lse=True, enable_gqa=True)
    assert torch.equal(output, again)


@pytest.mark.parametrize("tall_limit", [0.0, 99.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_scores_that_jump_are_walked_again(
    head_dim: int, dtype: torch.dtype, tall_limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys far ahead with scores hundreds above those before, and values that overflow where weights exceed 1."""
    monkeypatch.setattr(hopper_launch, "TALL_LIMIT", tall_limit)
    case = Case(2, 8, 8, 1500, 1700, head_dim, head_dim, dtype)
    mask = DenseMask(np.tril(np.ones((1, 1, case.queries, case.keys), bool)))
    torch.manual_seed(3)
    q, k, v = (
        torch.randn(case.batch, case.heads, length, head_dim, dtype=dtype, device="cuda")
        for length in (case.queries, case.keys, case.keys)
    )
    k[:, ::2, 140::97] *= 60
    k[:, 1::2, 400::301] *= 15
    v[:, :, 7] = 3e4 if dtype is torch.float16 else 1e38
    visible = torch.from_numpy(mask.cells).cuda()
    expected, expected_lse = dense(q, k, v, visible, 0.1)
    output, lse = attention(q, k, v, mask, scale=0.1, return_lse=True)
    assert bool(torch.isfinite(output).all())
    errors = compare(AttentionResult(output, lse), references(q, k, v, visible, 0.1))
    assert all(error.within for error in errors), errors
    assert relative_error(output, expected) < ERRORS[dtype]
    assert relative_error(lse, expected_lse) < 5e-6
    assert torch.equal(output, attention(q, k, v, mask, scale=0.1))


@pytest.mark.parametrize("layout", ["tokens first", "expanded", "unaligned"])
def test_reads_any_strides(layout: str) -> None:
    mask = DenseMask(np.tril(np.ones((1, 1, 300, 300), bool)))
    torch.manual_seed(2)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.bfloat16, device="cuda")

    q = random(2, 300, 4, 128).transpose(1, 2)
    if layout == "tokens first":
        k, v = (random(2, 300, 4, 128).transpose(1, 2) for _ in range(2))
    elif layout == "expanded":
        k, v = (random(1, 1, 300, 128).expand(2, 4, 300, 128) for _ in range(2))
    else:
        k, v = random(2, 4, 300, 131)[..., 1:129], random(2, 4, 128, 300).transpose(2, 3)
    expected, _ = dense(q, k, v, torch.from_numpy(mask.cells).cuda(), 0.1)
    assert relative_error(attention(q, k, v, mask, scale=0.1), expected) < 4e-3
