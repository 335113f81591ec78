"""Numeric cases through `compilemask.attention` on the CPU, against float64 written out row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import compilemask
from compilemask import pipeline
from compilemask.errors import UsageError
from tests.cases.case import four
from tests.cases.dense_structures import GROWING
from tests.cases.numeric import CASES, Array, Inputs, NumericCase, attention, layouts, normal
from tests.masks.comparison import KERNEL_TILES, TINY_TILES, check, check_meaning
from tests.masks.predicates.registry import Mask

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_mask_of_the_case_comes_out_exactly(case: NumericCase) -> None:
    compiled = pipeline.compile(case.mask, params=case.parameters)
    check_meaning(compiled, four(case.visible))
    check(compiled, four(case.visible), (*KERNEL_TILES, *TINY_TILES))


def test_the_lse_is_that_of_the_scaled_scores() -> None:
    q, k = torch.tensor([[[[1.0]]]], dtype=torch.float64), torch.tensor([[[[2.0], [4.0]]]], dtype=torch.float64)
    mask = pipeline.compile("causal_end", new=1, total=2)
    _, lse = compilemask.attention(q, k, k, mask, scale=0.5, return_lse=True)
    assert float(lse) == pytest.approx(np.log(np.exp(1.0) + np.exp(2.0)), rel=1e-6)


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


def test_the_stride_of_an_axis_of_one_means_nothing() -> None:
    tensors = [torch.from_numpy(array) for array in (normal(71, 10, 10, 8).q, *[normal(72, 10, 10, 8).k] * 2)]
    mask = pipeline.compile("causal", length=10)
    results = []
    for strides in ((80, 80, 8, 1), (1, 7, 8, 1), (3, 0, 8, 1)):
        q, k, v = (x.reshape(-1).as_strided((1, 1, 10, 8), strides).requires_grad_() for x in tensors)
        out = compilemask.attention(q, k, v, mask)
        results.append([out.detach(), *torch.autograd.grad(out.sum(), (q, k, v))])
    for result in results[1:]:
        for tensor, right in zip(result, results[0], strict=True):
            assert torch.equal(tensor, right)


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


BY_SAMPLE = GROWING.replace("heads 3\n", "").split("rules when")[0]
BY_HEAD = GROWING.replace(" per batch = [0, 1]", " = 1")


@pytest.mark.parametrize(
    ("text", "batch", "heads", "visible"),
    [
        (BY_SAMPLE, 2, 3, lambda b, h: _window(b)),
        (BY_SAMPLE, 2, 1, lambda b, h: _window(b)),
        (BY_HEAD, 2, 3, lambda b, h: _window(1, first=h != 2)),
        (BY_HEAD, 5, 3, lambda b, h: _window(1, first=h != 2)),
        (GROWING, 2, 3, lambda b, h: _window(b, first=h != 2)),
    ],
    ids=["samples", "samples of one head", "heads", "heads of five samples", "both"],
)
def test_an_axis_of_one_serves_all_and_others_are_their_own(
    text: str, batch: int, heads: int, visible: Callable[[int, int], Mask]
) -> None:
    mask = pipeline.compile_text(text, name="broadcast.mask")
    inputs = [normal(84 + b, 9, 9, 8, heads=heads) for b in range(batch)]
    q, k, v = (torch.from_numpy(np.stack([getattr(one, name) for one in inputs])) for name in "qkv")
    out = compilemask.attention(q, k, v, mask)
    for b, h in np.ndindex(batch, heads):
        one = Inputs(inputs[b].q[[h]], inputs[b].k[[h]], inputs[b].v[[h]], inputs[b].out_gradient[[h]])
        np.testing.assert_allclose(out[b, h].numpy(), attention(one, visible(b, h)).out[0], rtol=1e-9, atol=1e-11)


def _window(behind: int, *, first: bool = True) -> Mask:
    """Itself and `behind` keys before it, without key 0 unless `first`."""
    mask: Mask = np.tri(9, dtype=bool) & ~np.tri(9, 9, -behind - 1, dtype=bool)
    mask[:, 0] &= first
    return mask


@pytest.mark.parametrize(
    ("text", "batch", "heads"), [(BY_SAMPLE, 3, 1), (BY_SAMPLE, 1, 3), (BY_HEAD, 2, 2), (BY_HEAD, 1, 1)]
)
def test_other_sizes_are_refused(text: str, batch: int, heads: int) -> None:
    x = torch.zeros(batch, heads, 9, 8)
    with pytest.raises(UsageError):
        compilemask.attention(x, x, x, pipeline.compile_text(text, name="broadcast.mask"))
