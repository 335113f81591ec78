"""`attention` on CPU tensors: values, gradients, torch.compile, torch.func, and what it refuses."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.descriptor.build import descriptor_from_dense
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import register
from compilemask.errors import UsageError
from compilemask.kernel.api import attention
from compilemask.pipeline import CompiledMask, compile_text
from tests.kernel.dense_attention import dense, row_error


@dataclass(eq=False)
class DenseMask:
    """A mask given cell by cell, [batch or 1, heads or 1, queries, keys]."""

    cells: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self.number = register(self)

    @property
    def query_length(self) -> int:
        return int(self.cells.shape[2])

    @property
    def key_length(self) -> int:
        return int(self.cells.shape[3])

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        return descriptor_from_dense(self.cells, block_m, block_n)


def mixed_mask(batch: int, heads: int, queries: int, keys: int) -> DenseMask:
    """Full, partial and empty tiles, queries that see nothing and keys that nobody sees."""
    cells = np.random.default_rng(1).random((batch, heads, queries, keys)) < 0.3
    cells[..., 128:, :128] = True
    cells[..., :3, :] = False
    cells[..., 7] = False
    return DenseMask(cells)


def tensors(mask: DenseMask, heads: int = 2, kv_heads: int = 2, batch: int = 2, dtype: torch.dtype = torch.float32,
            head_dim: int = 16, head_dim_v: int = 24) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    torch.manual_seed(2)
    shapes = ((heads, mask.query_length, head_dim), (kv_heads, mask.key_length, head_dim))
    q, k = (torch.randn(batch, *shape, dtype=dtype, requires_grad=True) for shape in shapes)
    return q, k, torch.randn(batch, kv_heads, mask.key_length, head_dim_v, dtype=dtype, requires_grad=True)


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


def test_refuses_forward_mode_in_words() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = (tensor.detach() for tensor in tensors(mask))
    with pytest.raises(UsageError, match="reverse mode only"):
        torch.func.jvp(lambda q: attention(q, k, v, mask), (q,), (torch.ones_like(q),))
    with pytest.raises(UsageError, match="reverse mode only"):
        torch.func.linearize(lambda q: attention(q, k, v, mask), q)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))  # type: ignore[no-untyped-call]
        with pytest.raises(UsageError, match="reverse mode only"):
            attention(dual, k, v, mask)


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


RECOMPILE = "compile the mask with the sizes of these tensors."
REFUSED: dict[str, tuple[Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]], str]] = {
    "three axes": (lambda q, k, v: (q[0], k, v),
                   "q must be [batch, heads, tokens, head_dim], but has shape [2, 9, 16]."),
    "integers": (lambda q, k, v: (q.int(), k, v),
                 "q must be bfloat16, float16, float32 or float64, but is torch.int32."),
    "mixed dtypes": (lambda q, k, v: (q, k.half(), v),
                     "k must have the dtype of q, torch.float32, but is torch.float16."),
    "batch": (lambda q, k, v: (q, k, v[:1]), "v must have the batch size of q, 2, but has 1."),
    "heads": (lambda q, k, v: (q, k[:, :1], v[:, :1]),
              "k must have the 2 heads of q, but has 1; grouped heads need enable_gqa=True."),
    "value heads": (lambda q, k, v: (q, k, v[:, :1]), "v must have the heads of k, 2, but has 1."),
    "head_dim": (lambda q, k, v: (q, k[..., :8], v), "k must have the head_dim of q, 16, but has 8."),
    "wide heads": (lambda q, k, v: (q, k, v.repeat(1, 1, 1, 20)), "v must have a head_dim from 1 to 256, but has 480."),
    "arrays": (lambda q, k, v: (cast(Tensor, q.detach().numpy()), k, v),
               "q must be a torch tensor, but is of type ndarray."),
    "layout": (lambda q, k, v: (q.transpose(1, 2), k.transpose(1, 2)[:, :9], v.transpose(1, 2)[:, :9]),
               "q must have the 9 queries of the mask, but has 2 tokens: is it [batch, tokens, heads, head_dim]? Then "
               "transpose(1, 2) first."),
    "queries": (lambda q, k, v: (q[:, :, 1:], k, v),
                f"q must have the 9 queries of the mask, but has 8 tokens; {RECOMPILE}"),
    "keys": (lambda q, k, v: (q, k, v[:, :, 1:]),
             f"v must have the 11 keys of the mask, but has 10 tokens; {RECOMPILE}"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_in_one_sentence(name: str) -> None:
    change, message = REFUSED[name]
    mask = mixed_mask(1, 1, 9, 11)
    with pytest.raises(UsageError) as refused:
        attention(*change(*tensors(mask)), mask)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("given", "named"), [("causal", "'causal'"), (None, "of type NoneType"), (torch.ones(9, 11) > 0, "of type Tensor")]
)
def test_refuses_what_is_no_compiled_mask(given: object, named: str) -> None:
    with pytest.raises(
        UsageError, match=f"mask must be a compiled mask, but is {named}; compilemask.compile makes one"
    ):
        attention(*tensors(mixed_mask(1, 1, 9, 11)), cast(AttentionMask, given))


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("large", "a number, but is 'large'"),
        ("0.5", "a number, but is '0.5'"),
        (True, "a number, but is True"),
        ([0.5], r"a number, but is \[0.5\]"),
        (float("nan"), "a finite number, but is nan"),
        (torch.tensor(float("nan")), "a finite number, but is nan"),
        (-float("inf"), "a finite number, but is -inf"),
        (10**400, "a number that a float can hold"),
    ],
)
def test_refuses_a_scale_that_is_no_number(scale: object, words: str) -> None:
    mask = mixed_mask(1, 1, 9, 11)
    with pytest.raises(UsageError, match=f"^scale must be {words}"):
        attention(*tensors(mask), mask, scale=cast(float, scale))


def test_refuses_a_scale_that_wants_a_gradient() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    with pytest.raises(UsageError, match=r"scale gets no gradient, .* multiply q by it instead"):
        attention(*tensors(mask), mask, scale=cast(float, torch.nn.Parameter(torch.tensor(0.3))))


@pytest.mark.parametrize("scale", [2, np.float32(2), torch.tensor(2.0), -0.5, 0])
def test_takes_any_finite_number_as_scale(scale: float) -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = tensors(mask)
    assert torch.equal(attention(q, k, v, mask, scale=scale), attention(q, k, v, mask, scale=float(scale)))


def test_what_one_call_was_allowed_is_not_allowed_to_the_next() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = tensors(mask, heads=4)
    attention(q, k, v, mask, enable_gqa=True)
    with pytest.raises(UsageError, match="grouped heads need enable_gqa=True"):
        attention(q, k, v, mask)
    with pytest.raises(UsageError, match="k must have the dtype of q"):
        attention(q, k.half(), v, mask, enable_gqa=True)


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


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("batch", "heads", "words"), [(1, 3, "mask's 3 heads, but has 2"), (3, 1, "mask's batch size, 3, but has 2")]
)
def test_refuses_a_mask_made_for_another_batch_or_other_heads(device: str, batch: int, heads: int, words: str) -> None:
    q, k, v = (tensor.to(device) for tensor in tensors(mixed_mask(1, 1, 9, 11)))
    with pytest.raises(UsageError, match=f"q must have the {words}"):
        attention(q, k, v, mixed_mask(batch, heads, 9, 11))


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
