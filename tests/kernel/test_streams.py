"""Masks used on several CUDA streams, and dropped while a stream still reads what was made of them."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import Tensor

from compilemask import pipeline
from compilemask.kernel.api import attention
from compilemask.pipeline import CompiledMask
from tests.kernel.dense_attention import dense, relative_error

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")]

CYCLES = 50_000_000  # some 30 ms of waiting


def holes() -> CompiledMask:
    """Partial tiles, and keys that nobody sees."""
    return pipeline.compile("causal_holes", params={})


def inputs(mask: CompiledMask, dtype: torch.dtype) -> tuple[Tensor, ...]:
    torch.manual_seed(3)
    lengths = (mask.query_length, mask.key_length, mask.key_length)
    return tuple(torch.randn(1, 4, length, 64, dtype=dtype, device="cuda") for length in lengths)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_mask_first_used_on_two_streams_at_once(dtype: torch.dtype) -> None:
    mask = holes()
    q, k, v = inputs(mask, dtype)
    expected = dense(q, k, v, torch.from_numpy(mask.dense()).cuda(), 0.125)[0]
    streams = [torch.cuda.Stream() for _ in range(2)]  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    outputs = []
    for stream in streams:
        with torch.cuda.stream(stream):
            outputs.append(attention(q, k, v, mask))
    torch.cuda.synchronize()
    assert all(relative_error(output, expected) < 4e-3 for output in outputs)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_mask_dropped_while_a_stream_still_waits_to_read_it(dtype: torch.dtype) -> None:
    mask = holes()
    q, k, v = inputs(mask, dtype)
    expected = attention(q, k, v, mask)
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(CYCLES)  # type: ignore[no-untyped-call]
        output = attention(q, k, v, mask)
    del mask
    gc.collect()
    for _ in range(3):  # other masks and other memory want the place
        other = pipeline.compile("causal", params={"length": 1024})
        zeros = torch.zeros(1, 4, 1024, 64, dtype=dtype, device="cuda")
        attention(zeros, zeros, zeros, other)
        torch.full((1 << 20,), 0x7F7F7F7F, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    assert torch.equal(output, expected)
