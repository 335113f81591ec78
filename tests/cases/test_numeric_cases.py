"""Numeric cases through `compilemask.attention` on the CPU, against float64 written out row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import compilemask
from compilemask import pipeline
from compilemask.errors import UsageError
from tests.cases.dense_structures import GROWING
from tests.cases.numeric import CASES, Array, Inputs, NumericCase, layouts, normal

BY_NAME = {case.name: case for case in CASES}


def _tensor(array: Array) -> torch.Tensor:
    """[1, heads, tokens, width] with the strides of the array."""
    return torch.from_numpy(array)[None].requires_grad_()


def _results(case: NumericCase, inputs: Inputs) -> list[Array]:
    """Output, LSE, dQ, dK and dV."""
    mask = pipeline.compile(case.mask, params=case.parameters)
    q, k, v = (_tensor(array) for array in (inputs.q, inputs.k, inputs.v))
    out, lse = compilemask.attention(q, k, v, mask, scale=inputs.scale, return_lse=True)
    gradients = torch.autograd.grad(out, (q, k, v), torch.from_numpy(inputs.out_gradient)[None])
    tensors = [out.detach(), lse.detach(), *gradients]
    return [tensor[0].numpy() for tensor in tensors]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_attention_gives_the_float64_result(case: NumericCase) -> None:
    expected = case.expected()
    out, lse, *gradients = _results(case, case.inputs())
    np.testing.assert_allclose(out, expected.out, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(lse, expected.lse, rtol=1e-6, atol=1e-6)  # the LSE is float32
    for got, right in zip(gradients, (expected.dq, expected.dk, expected.dv), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-10 * max(1.0, float(np.abs(right).max())))


def test_rows_and_keys_without_partners_are_exactly_zero() -> None:
    rows, keys = BY_NAME["empty_rows"], BY_NAME["documents_without_queries"]
    out, lse, dq, *_ = _results(rows, rows.inputs())
    assert not out[0, [1, 4]].any()
    assert np.isneginf(lse[0, [1, 4]]).all()
    assert not dq[0, [1, 4]].any()
    *_, dk, dv = _results(keys, keys.inputs())
    dead = [0, 1, 2, 3, 4, 9, 10, 11, 12]
    assert not dk[0, dead].any()
    assert not dv[0, dead].any()


def test_memory_layouts_give_identical_results() -> None:
    case = BY_NAME["memory_layouts"]
    first, *others = [_results(case, inputs) for _, inputs in layouts(case.inputs())]
    for results in others:
        for array, right in zip(results, first, strict=True):
            np.testing.assert_array_equal(array, right)


def test_the_same_bits_on_every_run() -> None:
    case = BY_NAME["unequal_columns"]
    first = _results(case, case.inputs())
    for _ in range(4):
        for array, right in zip(_results(case, case.inputs()), first, strict=True):
            np.testing.assert_array_equal(array, right)


@pytest.mark.parametrize(("batch", "heads"), [(3, 3), (1, 3), (2, 2), (4, 3), (2, 1)])
def test_a_mask_of_two_samples_and_three_heads_fits_nothing_else(batch: int, heads: int) -> None:
    mask = pipeline.compile_text(GROWING, name="growing.mask")
    inputs = normal(84, 9, 9, 8)
    q, k, v = (torch.from_numpy(array)[None].expand(batch, heads, -1, -1) for array in (inputs.q, inputs.k, inputs.v))
    with pytest.raises(UsageError):
        compilemask.attention(q, k, v, mask)


def test_a_mask_of_one_sample_and_one_head_serves_all() -> None:
    inputs = normal(84, 9, 9, 8)
    q, k, v = (torch.from_numpy(array)[None].expand(2, 3, -1, -1) for array in (inputs.q, inputs.k, inputs.v))
    out = compilemask.attention(q, k, v, pipeline.compile("causal", length=9))
    assert (out == out[:1, :1]).all()
