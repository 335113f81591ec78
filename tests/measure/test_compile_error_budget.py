"""The error budget accepts honest low precision and refuses a wrong cell, a NaN and a loss of precision."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from compilemask.kernel.reference import AttentionResult
from compilemask.measure.error_budget import References, compare, references


def problem(dtype: torch.dtype) -> tuple[References, AttentionResult]:
    generator = torch.Generator().manual_seed(3)
    q, k, v, dout = (torch.randn(1, 2, 63, 32, generator=generator).to(dtype) for _ in range(4))
    dlse = torch.randn(1, 2, 63, generator=generator)
    visible = torch.ones(1, 1, 63, 63, dtype=torch.bool).tril(-1)
    against = references(q, k, v, visible, dout=dout, dlse=dlse)
    exact = against.exact
    assert exact.dq is not None
    assert exact.dk is not None
    assert exact.dv is not None
    stored = AttentionResult(
        exact.out.to(dtype), exact.lse.float(), exact.dq.to(dtype), exact.dk.to(dtype), exact.dv.to(dtype)
    )
    return against, stored


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rounded_truth_and_the_plain_reference_are_within(dtype: torch.dtype) -> None:
    against, stored = problem(dtype)
    for candidate in (stored, against.plain):
        errors = compare(candidate, against)
        assert [e.name for e in errors] == ["out", "lse", "dq", "dk", "dv"]
        assert all(e.within and e.used <= 1.0 for e in errors), errors


def test_one_wrong_cell_is_named() -> None:
    against, stored = problem(torch.float16)
    stored.out[0, 1, 40, 7] += 0.1
    out = compare(stored, against)[0]
    assert not out.within
    assert out.first_wrong == (0, 1, 40, 7)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_an_empty_row_must_have_lse_minus_infinity(value: float) -> None:
    against, stored = problem(torch.float16)
    stored.lse[0, 0, 0] = value
    lse = compare(stored, against)[1]
    assert lse.first_wrong == (0, 0, 0)
    assert not lse.within


def test_half_precision_products_do_not_pass_as_float32() -> None:
    against, _ = problem(torch.float32)
    coarse = dataclasses.replace(against.plain, out=against.plain.out.half().float())
    assert not compare(coarse, against)[0].within
