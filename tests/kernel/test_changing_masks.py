"""A new mask in every step, as packed training has it."""

from __future__ import annotations

import pytest
import torch
from torch._dynamo.utils import counters

from compilemask import pipeline
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
