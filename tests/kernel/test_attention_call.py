"""`attention` on CPU tensors: values, gradients, torch.compile and torch.func."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from compilemask.errors import UsageError
from compilemask.kernel.api import attention
from compilemask.pipeline import CompiledMask, compile_text
from tests.kernel.dense_attention import dense, row_error
from tests.kernel.made_masks import DenseMask, mixed_mask, tensors


@pytest.mark.parametrize(("batch", "heads", "kv_heads"), [(1, 1, 2), (2, 1, 1), (1, 4, 2), (2, 4, 4)])
def test_values_and_gradients_equal_dense_attention(batch: int, heads: int, kv_heads: int) -> None:
    mask = mixed_mask(batch, heads, 150, 170)
    q, k, v = tensors(mask, heads=4, kv_heads=kv_heads)
    output, lse = attention(q, k, v, mask, return_lse=True, enable_gqa=True)
    expected, expected_lse = dense(q, k, v, torch.from_numpy(mask.cells), 0.25)
    assert row_error(output, expected) < 1e-6
    incoming, for_lse = torch.randn(output.shape), torch.randn(lse.shape)
    finite = torch.isfinite(expected_lse)
    assert torch.equal(finite, torch.isfinite(lse))
    actual = torch.autograd.grad((output * incoming).sum() + (lse[finite] * for_lse[finite]).sum(), (q, k, v))
    loss = (expected * incoming).sum() + (expected_lse[finite] * for_lse[finite]).sum()
    for mine, theirs in zip(actual, torch.autograd.grad(loss, (q, k, v)), strict=True):
        assert row_error(mine, theirs) < 2e-6


def test_an_empty_batch_gives_empty_results() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = (tensor[:0].detach().requires_grad_() for tensor in tensors(mask))
    output, lse = attention(q, k, v, mask, return_lse=True)
    grads = torch.autograd.grad(output.sum() + lse.sum(), (q, k, v))
    assert [list(x.shape) for x in (output, lse, *grads)] == [
        [0, 2, 9, 24], [0, 2, 9], [0, 2, 9, 16], [0, 2, 11, 16], [0, 2, 11, 24],
    ]  # fmt: skip


@pytest.mark.parametrize("length", [1, 128, 256])
def test_a_mask_without_partial_tiles(length: int) -> None:
    mask = DenseMask(np.ones((1, 1, length, length), np.bool_))
    q, k, v = tensors(mask)
    assert row_error(attention(q, k, v, mask), dense(q, k, v, torch.from_numpy(mask.cells), 0.25)[0]) < 1e-6


def test_what_nobody_looks_at_may_hold_anything() -> None:
    mask = mixed_mask(1, 1, 150, 170)
    q, k, v = tensors(mask)
    clean = attention(q, k, v, mask)
    clean_grads = torch.autograd.grad(clean.sum(), (q, k, v))
    with torch.no_grad():
        k[:, :, 7], v[:, :, 7], q[:, :, :3] = torch.nan, torch.inf, torch.nan
    output = attention(q, k, v, mask)
    assert torch.equal(output, clean)
    assert not output[:, :, :3].any()
    for grad, clean_grad in zip(torch.autograd.grad(output.sum(), (q, k, v)), clean_grads, strict=True):
        assert torch.equal(grad, clean_grad)


def test_float64_passes_gradcheck_through_output_and_lse() -> None:
    mask = DenseMask(np.random.default_rng(3).random((1, 1, 9, 10)) < 0.6)
    inputs = tensors(mask, batch=1, dtype=torch.float64, head_dim=4, head_dim_v=3)

    def call(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        output, lse = attention(q, k, v, mask, return_lse=True)
        return output, torch.where(lse == -torch.inf, 0, lse)

    assert torch.autograd.gradcheck(call, inputs)


def test_half_precision_on_the_cpu() -> None:
    mask = mixed_mask(1, 1, 64, 130)
    q, k, v = tensors(mask, dtype=torch.bfloat16)
    output = attention(q, k, v, mask)
    assert output.dtype == torch.bfloat16
    assert row_error(output, dense(q, k, v, torch.from_numpy(mask.cells), 0.25)[0]) < 4e-3


def test_compiles_as_one_graph() -> None:
    mask = mixed_mask(1, 1, 70, 70)
    q, k, v = tensors(mask)

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        output, lse = attention(q * 2, k, v, mask, return_lse=True)
        return output.sum() + lse[:, :, 3:].sum()

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    eager, graph = (torch.autograd.grad(run(q, k, v), (q, k, v)) for run in (call, compiled))
    for mine, theirs in zip(graph, eager, strict=True):
        assert torch.equal(mine, theirs)


def test_registered_operator_is_sound() -> None:
    from compilemask.kernel.prepared import handle_of
    from compilemask.kernel.registration import attention_op

    mask = mixed_mask(1, 1, 20, 20)
    torch.library.opcheck(attention_op, (*tensors(mask), handle_of(mask), 0.25))


def test_a_mask_that_only_a_graph_used_lives_until_the_backward_pass() -> None:
    torch._dynamo.reset()

    def call(q: Tensor, mask: CompiledMask) -> Tensor:
        return attention(q, q, q, mask)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    q = torch.randn(1, 2, 30, 8, requires_grad=True)
    text = "layout\n    token : 30\nrules\n    token sees token : causal\n"
    output = compiled(q, compile_text(text))
    gc.collect()
    (grad,) = torch.autograd.grad(output.sum(), q)
    (expected,) = torch.autograd.grad(call(q, compile_text(text)).sum(), q)
    assert torch.equal(grad, expected)


@pytest.mark.parametrize(("batch", "queries", "keys"), [(0, 8, 8), (1, 0, 0), (1, 2, 0)])
def test_nothing_to_see_gives_zeros(batch: int, queries: int, keys: int) -> None:
    text = f"queries\n    q1 : {queries}\nkeys\n    k1 : {keys}\nalign end\nrules\n    q1 sees k1 : causal\n"
    mask = compile_text(text)
    q = torch.randn(batch, 2, queries, 16, requires_grad=True)
    k, v = (torch.randn(batch, 2, keys, 16, requires_grad=True) for _ in range(2))
    output, lse = attention(q, k, v, mask, return_lse=True)
    assert output.shape == (batch, 2, queries, 16)
    assert not output.any()
    assert bool((lse == float("-inf")).all())
    assert not any(grad.any() for grad in torch.autograd.grad(output.sum(), (q, k, v)))


def test_works_under_checkpointing_and_torch_func() -> None:
    mask = mixed_mask(1, 1, 40, 50)
    q, k, v = (tensor.detach() for tensor in tensors(mask))

    def loss(q: Tensor) -> Tensor:
        return attention(q, k, v, mask).square().sum()

    expected = torch.func.grad(loss)(q)
    stacked = torch.stack([q, 2 * q])
    assert torch.equal(torch.vmap(torch.func.grad(loss))(stacked)[0], expected)
    leaf = q.clone().requires_grad_()
    recomputed = torch.utils.checkpoint.checkpoint(loss, leaf, use_reentrant=False)
    assert torch.equal(torch.autograd.grad(recomputed, leaf)[0], expected)


def test_several_gradients_at_once() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    leaves = tensors(mask)
    output = attention(leaves[0], leaves[1], leaves[2], mask)
    incoming = torch.randn(3, *output.shape)
    found = torch.autograd.grad(output, leaves, incoming, is_grads_batched=True, retain_graph=True)
    each = [torch.autograd.grad(output, leaves, one, retain_graph=True) for one in incoming]
    for place, grad in enumerate(found):
        assert torch.equal(grad, torch.stack([one[place] for one in each]))


def test_a_mask_is_forgotten_with_its_owner() -> None:
    from compilemask.kernel import prepared

    mask = mixed_mask(1, 1, 8, 8)
    handle = prepared.handle_of(mask)
    assert prepared.handle_of(mask) == handle
    del mask
    gc.collect()
    with pytest.raises(UsageError, match="keep a reference to a mask until its last backward pass has run"):
        prepared.prepared(handle)


@pytest.mark.parametrize("scale", [2, np.float32(2), torch.tensor(2.0), -0.5, 0])
def test_takes_any_finite_number_as_scale(scale: float) -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = tensors(mask)
    assert torch.equal(attention(q, k, v, mask, scale=scale), attention(q, k, v, mask, scale=float(scale)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_autocast_casts_as_for_the_attention_of_pytorch(dtype: torch.dtype) -> None:
    mask = mixed_mask(1, 1, 150, 170)
    q, k, v = tensors(mask, dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16):
        output = attention(q, k, v, mask)
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        grads = torch.autograd.grad(output.sum(), (q, k, v))
    assert output.dtype == expected.dtype
    cast_down = [tensor.detach().to(expected.dtype).requires_grad_() for tensor in (q, k, v)]
    plain = attention(cast_down[0], cast_down[1], cast_down[2], mask)
    assert torch.equal(output, plain)
    for grad, other in zip(grads, torch.autograd.grad(plain.sum(), cast_down), strict=True):
        assert grad.dtype == dtype
        assert torch.equal(grad, other.to(dtype))


def test_tensors_without_memory_give_shapes() -> None:
    mask = mixed_mask(1, 1, 150, 170)
    q, k, v = (tensor.to("meta") for tensor in tensors(mask))
    output, lse = attention(q, k, v, mask, return_lse=True)
    assert (output.device.type, output.shape, lse.shape) == ("meta", (2, 2, 150, 24), (2, 2, 150))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda mask: pickle.loads(pickle.dumps(mask))])
def test_copies_of_a_compiled_mask_outlive_it(duplicate: Callable[[CompiledMask], CompiledMask]) -> None:
    mask = compile_text("layout\n    text : 9\n\nrules\n    text sees text : causal\n", name="small")
    twin = duplicate(mask)
    assert twin.number != mask.number
    q, k, v = (torch.randn(1, 1, 9, 8) for _ in range(3))
    expected = attention(q, k, v, mask)
    del mask
    gc.collect()
    assert torch.equal(attention(q, k, v, twin), expected)
