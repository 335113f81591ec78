"""What `attention` refuses, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import Tensor

from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.errors import UsageError
from compilemask.kernel.api import attention
from tests.kernel.made_masks import mixed_mask, tensors


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


def test_what_one_call_was_allowed_is_not_allowed_to_the_next() -> None:
    mask = mixed_mask(1, 1, 9, 11)
    q, k, v = tensors(mask, heads=4)
    attention(q, k, v, mask, enable_gqa=True)
    with pytest.raises(UsageError, match="grouped heads need enable_gqa=True"):
        attention(q, k, v, mask)
    with pytest.raises(UsageError, match="k must have the dtype of q"):
        attention(q, k.half(), v, mask, enable_gqa=True)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("batch", "heads", "words"), [(1, 3, "mask's 3 heads, but has 2"), (3, 1, "mask's batch size, 3, but has 2")]
)
def test_refuses_a_mask_made_for_another_batch_or_other_heads(device: str, batch: int, heads: int, words: str) -> None:
    q, k, v = (tensor.to(device) for tensor in tensors(mixed_mask(1, 1, 9, 11)))
    with pytest.raises(UsageError, match=f"q must have the {words}"):
        attention(q, k, v, mixed_mask(batch, heads, 9, 11))
