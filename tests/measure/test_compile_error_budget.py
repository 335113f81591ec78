"""The error budget accepts honest low precision and refuses a wrong cell, a NaN and a loss of precision."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from compilemask.kernel.reference import AttentionResult
from compilemask.measure.error_budget import References, compare, references
from compilemask.measure.kernel_runs import Inputs, adverse_inputs, random_inputs
from tests.measure.leaks import Cells, causal, errors, in_interpreter, on_cpu


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


MakeInputs = Callable[[torch.Tensor, torch.dtype, int, int], Inputs]


def masks(length: int) -> dict[str, Cells]:
    """Rows of all sizes, of a few keys, of one key, and scattered ones; rows and keys that take no part."""
    random = np.random.default_rng(5).random((1, 1, length, length))
    scattered = random < 0.03
    scattered[..., 5::9, :], scattered[..., 3::8] = False, False
    window = causal(length) & ~np.tril(np.ones((length, length), bool), -7)
    return {
        "causal": causal(length),
        "window": window,
        "one key": np.eye(length, dtype=bool)[None, None],
        "scattered": scattered,
    }


@pytest.mark.parametrize("width", [64, 128])
def test_adverse_data_stays_within_float16(width: int) -> None:
    for queries in range(1, 60):
        for keys in (1, 2, 3):
            given = adverse_inputs(torch.ones(1, 1, queries, keys, dtype=torch.bool), torch.float16, width, 20)
            assert all(bool(tensor.isfinite().all()) for tensor in (given.q, given.k, given.v, given.dout))


@pytest.mark.parametrize("inputs", [random_inputs, adverse_inputs])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_right_kernels_use_a_part_of_the_budget(dtype: torch.dtype, inputs: MakeInputs) -> None:
    for name, cells in masks(400).items():
        found = errors(on_cpu, cells, cells, dtype, inputs)
        assert max(error.used for error in found.values()) < 0.75, (name, found)
    if dtype is not torch.bfloat16:  # which the interpreter can't multiply
        for name, cells in masks(70).items():
            found = errors(in_interpreter, cells, cells, dtype, inputs)
            assert max(error.used for error in found.values()) < 0.75, (name, found)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_leak_into_one_row_of_random_data_is_red(dtype: torch.dtype) -> None:
    right = causal(1000)
    for row in (60, 500):
        wrong = right.copy()
        wrong[0, 0, row, row + 1] = True
        assert errors(on_cpu, right, wrong, dtype, head_dim=32)["lse"].first_wrong == (0, 0, row)


def test_a_row_does_not_borrow_from_a_row_with_a_larger_error() -> None:
    """Half of the worst error that the plain reference makes anywhere is too much for the row with the least."""
    against, stored = problem(torch.bfloat16)
    for name in ("out", "dq", "dk", "dv"):
        exact, plain, value = (getattr(of, name)[0, 0] for of in (against.exact, against.plain, stored))
        by_row = (plain.double() - exact).abs().amax(-1)
        row = int(torch.where(by_row > 0, by_row, math.inf).argmin())
        value[row] = (exact[row] + by_row.max() / 2).to(value.dtype)
        error = next(error for error in compare(stored, against) if error.name == name)
        assert error.first_wrong is not None
        assert error.first_wrong[:3] == (0, 0, row)


def cancelling(visible: torch.Tensor, dtype: torch.dtype, head_dim: int, seed: int) -> Inputs:
    """Every second key is long, and orthogonal to the query of the next token."""
    given = random_inputs(visible, dtype, head_dim, seed)
    key, query = given.k[:, :, ::2].double() * 1000, given.q[:, :, 1::2].double()
    along = (key * query).sum(-1, keepdim=True) / query.square().sum(-1, keepdim=True)
    given.k[:, :, ::2] = (key - along * query).to(dtype)
    return given


def test_the_error_of_an_lse_reaches_every_weight_of_its_row() -> None:
    """A long key whose products cancel moves the LSE, and with it the weights of all other keys of the row."""
    cells = np.kron(np.eye(60), [[0, 0], [1, 1]]).astype(bool)[None, None]
    for run in (on_cpu, in_interpreter):
        found = errors(run, cells, cells, torch.float32, cancelling)
        assert max(error.used for error in found.values()) < 0.6, found
