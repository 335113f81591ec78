"""The float64 reference against a row-by-row loop over visible keys, and the corners where attention goes wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from compilemask.kernel import reference
from compilemask.kernel.reference import AttentionResult, dense_attention
from compilemask.measure.plain_attention import plain_attention

Array = NDArray[np.float64]


def loop_attention(q: Array, k: Array, v: Array, visible: NDArray[np.bool_], dout: Array, dlse: Array) -> list[Array]:
    """out, lse, dq, dk, dv of [heads, tokens, dim] arrays, one query at a time over the keys it sees."""
    group, scale = len(q) // len(k), q.shape[-1] ** -0.5
    out, lse = np.zeros((*q.shape[:2], v.shape[-1])), np.full(q.shape[:2], -np.inf)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for h, i in np.ndindex(*q.shape[:2]):
        seen = np.nonzero(visible[h, i])[0]
        if not len(seen):
            continue
        keys, values = k[h // group, seen], v[h // group, seen]
        scores = keys @ q[h, i] * scale
        lse[h, i] = np.logaddexp.reduce(scores)
        weights = np.exp(scores - lse[h, i])
        out[h, i] = weights @ values
        gradient = weights * (values @ dout[h, i] - out[h, i] @ dout[h, i] + dlse[h, i]) * scale
        dq[h, i] = gradient @ keys
        dk[h // group, seen] += gradient[:, None] * q[h, i]
        dv[h // group, seen] += weights[:, None] * dout[h, i]
    return [out, lse, dq, dk, dv]


def as_list(result: AttentionResult) -> list[Array]:
    tensors = (result.out, result.lse, result.dq, result.dk, result.dv)
    assert all(x is not None for x in tensors)
    return [x[0].double().numpy() for x in tensors if x is not None]


def problem(queries: int, keys: int, heads: int, key_heads: int, dim: int, value_dim: int) -> list[Array]:
    random = np.random.default_rng(queries + keys)
    shapes = [(heads, queries, dim), (key_heads, keys, dim), (key_heads, keys, value_dim), (heads, queries, value_dim)]
    return [random.standard_normal(shape) for shape in [*shapes, (heads, queries)]]


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (17, 63), (63, 17)])
@pytest.mark.parametrize("attend", [dense_attention, plain_attention])
def test_equals_a_loop_over_visible_keys(
    attend: object, queries: int, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "BLOCK_CELLS", 5 * keys)
    q, k, v, dout, dlse = problem(queries, keys, 4, 2, 8, 24)
    visible = np.random.default_rng(0).random((4, queries, keys)) < 0.4
    tensors = [torch.from_numpy(x)[None] for x in (q, k, v)]
    assert callable(attend)
    found = attend(
        *tensors, torch.from_numpy(visible)[None], dout=torch.from_numpy(dout)[None], dlse=torch.from_numpy(dlse)[None]
    )
    tolerance = 1e-12 if attend is dense_attention else 1e-6
    for got, want in zip(as_list(found), loop_attention(q, k, v, visible, dout, dlse), strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_empty_rows_and_unseen_keys_ignore_garbage() -> None:
    q, k, v, dout, dlse = (torch.from_numpy(x)[None] for x in problem(6, 6, 1, 1, 8, 8))
    visible = torch.ones(1, 1, 6, 6, dtype=torch.bool).tril()
    visible[..., [1, 4], :] = False
    visible[..., 2] = False
    clean = dense_attention(q, k, v, visible, dout=dout, dlse=dlse)
    for tensor, rows in ((q, [1, 4]), (dout, [1, 4]), (k, [2]), (v, [2])):
        tensor[..., rows, :] = math.nan
    dlse[..., 1] = math.inf
    dirty = dense_attention(q, k, v, visible, dout=dout, dlse=dlse)
    for before, after in zip(as_list(clean), as_list(dirty), strict=True):
        np.testing.assert_array_equal(before, after)
    out, lse, dq, dk, dv = as_list(dirty)
    assert not out[0, [1, 4]].any()
    assert np.isneginf(lse[0, [1, 4]]).all()
    assert not dq[0, [1, 4]].any()
    assert not dk[0, 2].any()
    assert not dv[0, 2].any()


def test_lse_is_a_natural_logarithm() -> None:
    zeros, ones = torch.zeros(1, 1, 9, 4), torch.ones(1, 1, 8, 4)
    lse = dense_attention(zeros, ones, ones, torch.ones(1, 1, 9, 8, dtype=torch.bool).tril(-1)).lse[0, 0]
    assert lse[0] == -math.inf
    assert lse[1:].tolist() == pytest.approx([math.log(n) for n in range(1, 9)], abs=1e-12)
    q, k = torch.ones(1, 1, 1, 1), torch.tensor([2.0, 4.0]).reshape(1, 1, 2, 1)
    two = dense_attention(q, k, k, torch.ones(1, 1, 1, 2, dtype=torch.bool), scale=0.5)
    assert float(two.lse) == pytest.approx(2.313261687518223, abs=1e-12)


def test_gradients_agree_with_autograd_of_torch() -> None:
    q, k, v, dout, _ = (torch.from_numpy(x)[None] for x in problem(33, 33, 2, 2, 16, 16))
    visible = torch.ones(1, 1, 33, 33, dtype=torch.bool).tril()
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], visible)
    grads = torch.autograd.grad(out, leaves, dout)
    found = dense_attention(q, k, v, visible, dout=dout)
    assert found.dq is not None
    assert found.dk is not None
    assert found.dv is not None
    for got, want in zip((found.out, found.dq, found.dk, found.dv), (out, *grads), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"visible": torch.ones(1, 1, 3, 4)}, "visible must be bool"),
        ({"visible": torch.ones(1, 1, 4, 4, dtype=torch.bool)}, "the tensors say"),
        ({"visible": torch.ones(3, 1, 3, 4, dtype=torch.bool)}, "does not broadcast"),
        ({"k": torch.ones(1, 3, 4, 8), "v": torch.ones(1, 3, 4, 8)}, "not a multiple"),
        ({"v": torch.ones(1, 2, 5, 8)}, "do not belong together"),
    ],
)
def test_shapes_that_disagree_are_named(change: dict[str, torch.Tensor], message: str) -> None:
    tensors = {"q": torch.ones(1, 2, 3, 8), "k": torch.ones(1, 2, 4, 8), "v": torch.ones(1, 2, 4, 8)}
    tensors["visible"] = torch.ones(1, 1, 3, 4, dtype=torch.bool)
    tensors |= change
    with pytest.raises(ValueError, match=message):
        dense_attention(tensors["q"], tensors["k"], tensors["v"], tensors["visible"])
