"""`attention` captured in a CUDA graph, and replayed with other contents of its tensors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from compilemask.kernel.api import attention
from tests.kernel.made_masks import DenseMask, mixed_mask

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")]


def inputs(mask: DenseMask, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """q, k, v and the incoming gradient."""
    shapes = [(4, mask.query_length), (2, mask.key_length), (2, mask.key_length), (4, mask.query_length)]
    return tuple(torch.randn(2, heads, length, 64, dtype=dtype, device="cuda") for heads, length in shapes)


def with_gradients(mask: DenseMask, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Output, LSE and the gradients of q, k and v."""
    q, k, v, incoming = given
    q, k, v = (tensor.detach().requires_grad_() for tensor in (q, k, v))
    output, lse = attention(q, k, v, mask, return_lse=True, enable_gqa=True)
    return output.detach(), lse.detach(), *torch.autograd.grad(output, (q, k, v), incoming)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_replay_computes_what_its_tensors_hold_then(dtype: torch.dtype) -> None:
    mask = mixed_mask(2, 4, 700, 900)
    torch.manual_seed(5)
    held = inputs(mask, dtype)
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):  # what a mask needs on a device is made by its first call, outside the graph
        with_gradients(mask, held)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        replayed = with_gradients(mask, held)
    for _ in range(2):
        fresh = inputs(mask, dtype)
        for tensor, new in zip(held, fresh, strict=True):
            tensor.copy_(new)
        for result in replayed:
            result.fill_(torch.nan)
        graph.replay()
        for result, expected in zip(replayed, with_gradients(mask, fresh), strict=True):
            assert torch.equal(result, expected)
