"""A new mask in every step, as packed training has it."""

from __future__ import annotations

from typing import cast

import pytest
import torch
from torch._dynamo.utils import counters

from compilemask import pipeline
from compilemask.descriptor.attention_mask import AttentionMask
from compilemask.errors import UsageError
from compilemask.kernel.api import attention


def test_a_graph_is_compiled_for_the_first_mask_and_once_for_all_others() -> None:
    torch.compiler.reset()
    counters.clear()
    call = torch.compile(lambda x, mask: attention(x, x, x, mask), backend="aot_eager", fullgraph=True)
    x = torch.randn(1, 2, 256, 16)
    for lengths in ([100, 156], [256], [1, 2, 253], [200, 56]):
        mask = pipeline.compile("document_causal", documents=lengths)
        torch.testing.assert_close(call(x, mask), attention(x, x, x, mask))
    assert counters["stats"]["unique_graphs"] == 2


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("gradient", [False, True])
def test_a_wrong_length_is_told_from_inside_a_graph(fullgraph: bool, gradient: bool) -> None:
    torch.compiler.reset()
    counters.clear()
    call = torch.compile(lambda x, mask: attention(x, x, x, mask), backend="aot_eager", fullgraph=fullgraph)
    with pytest.raises(UsageError, match="q must have the 31 queries of the mask causal, but has 32 tokens"):
        call(torch.randn(1, 2, 32, 16, requires_grad=gradient), pipeline.compile("causal", length=31))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize(
    ("shape", "mask", "words"),
    [
        ((1, 2, 32, 16), cast(AttentionMask, None), "mask must be"),
        ((1, 2, 32, 16), pipeline.compile("causal", length=31), "q must have the 31 queries"),
        ((2, 32, 16), pipeline.compile("causal", length=32), "q must be .batch, heads, tokens, head_dim., but has"),
    ],
)
def test_what_is_wrong_is_told_of_a_call_that_cannot_be_traced_and_of_what_follows_it(
    shape: tuple[int, ...], mask: AttentionMask, words: str, fullgraph: bool
) -> None:
    torch.compiler.reset()
    call = torch.compile(
        lambda x, v: attention(x, x, v, mask) @ torch.ones(8), backend="aot_eager", fullgraph=fullgraph
    )
    with pytest.raises(UsageError, match=words):
        call(torch.randn(shape), torch.randn(shape)[..., :8])
