"""Time and GPU memory of long sequences: `python -m benchmarks.long_sequences [--tokens 32768 65536 131072 ...]`.

A window and packed documents, forward and backward, bf16, 16 heads of 128. Memory is what a call needs beyond its
inputs, outputs and gradients: schedules, descriptors, patterns and scratch. It has to grow with the tokens, not with
their square.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import torch

from compilemask import pipeline
from compilemask.kernel.api import attention

HEADS, HEAD_DIM = 16, 128
MIB = 1 << 20


def masks(tokens: int) -> dict[str, dict[str, Any]]:
    """Library masks of this length, with their settings."""
    return {
        "sliding_window": {"length": tokens, "size": 4096},
        "document_causal": {"documents": [8192] * (tokens // 8192)},
    }


def measured(name: str, settings: dict[str, Any]) -> str:
    """One row of the table."""
    begun = time.perf_counter()
    mask = pipeline.compile(name, params=settings)
    compiled = time.perf_counter() - begun
    torch.manual_seed(0)
    shape = (1, HEADS, mask.query_length, HEAD_DIM)
    q, k, v = (torch.randn(shape, dtype=torch.bfloat16, device="cuda").requires_grad_() for _ in range(3))
    gradient = torch.randn(shape, dtype=torch.bfloat16, device="cuda")
    held = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(2):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        events[0].record()
        output = attention(q, k, v, mask)
        events[1].record()
        output.backward(gradient)
        events[2].record()
        torch.cuda.synchronize()
        grads = [leaf.grad for leaf in (q, k, v) if leaf.grad is not None]
        if not all(bool(torch.isfinite(tensor).all()) for tensor in (output, *grads)):
            raise RuntimeError(f"{name} at {mask.query_length} tokens: not all values are finite")
        q.grad = k.grad = v.grad = None
    extra = torch.cuda.max_memory_allocated() - held - output.nbytes - sum(grad.nbytes for grad in grads)
    forward, backward = events[0].elapsed_time(events[1]), events[1].elapsed_time(events[2])
    tokens = mask.query_length
    return (
        f"{name:<18}{tokens:>9,} tokens  compiled in {compiled * 1e3:6.0f} ms  forward {forward:8.2f} ms  "
        f"backward {backward:8.2f} ms  extra memory {extra / MIB:8.1f} MiB, {extra / tokens:8.1f} bytes a token"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[32768, 65536, 131072, 262144])
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no CUDA GPU on this machine: nothing was run", file=sys.stderr)
        return 3
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, bf16, {HEADS} heads of {HEAD_DIM}")
    for tokens in options.tokens:
        for name, settings in masks(tokens).items():
            print(measured(name, settings), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
