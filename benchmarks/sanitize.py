"""Every kernel once or twice at small and ragged sizes, for `compute-sanitizer`:

    compute-sanitizer --tool memcheck python -m benchmarks.sanitize
    compute-sanitizer --tool racecheck python -m benchmarks.sanitize

Prints a line per call; compares nothing, the tests do that. Nothing is autotuned, so the launches are those of a model.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import torch

from compilemask import pipeline
from compilemask.kernel.api import attention


@dataclass(frozen=True, slots=True)
class Case:
    """A library mask, its sizes, and the tensors that go with it."""

    mask: str
    params: dict[str, int]
    heads: int = 2
    key_heads: int = 1
    head_dim: int = 128
    head_dim_v: int = 128
    dtype: torch.dtype = torch.bfloat16


CASES = (
    Case("causal", {"length": 1}),
    Case("causal", {"length": 63}, head_dim=64, head_dim_v=64),
    Case("causal", {"length": 385}),
    Case("causal", {"length": 300}, dtype=torch.float16, head_dim=64, head_dim_v=128),
    Case("sliding_window", {"length": 517, "size": 70}, head_dim=96, head_dim_v=80),
    Case("clear", {"text": 37, "height": 13, "width": 19}),
    Case("hstu", {"contexts": 3, "history": 301, "targets": 77}),
    Case("causal", {"length": 260}, head_dim=192, head_dim_v=192),
    Case("causal", {"length": 260}, head_dim=256, head_dim_v=256),
    Case("causal", {"length": 200}, head_dim=32, head_dim_v=32),
    Case("causal", {"length": 130}, dtype=torch.float32, head_dim=64, head_dim_v=64),
)


def run(case: Case) -> None:
    """One forward and one backward pass."""
    mask = pipeline.compile(case.mask, params=dict(case.params))
    torch.manual_seed(0)

    def leaf(heads: int, length: int, width: int) -> torch.Tensor:
        made = torch.randn(1, heads, length, width, dtype=case.dtype, device="cuda")
        return made.requires_grad_()

    q = leaf(case.heads, mask.query_length, case.head_dim)
    k = leaf(case.key_heads, mask.key_length, case.head_dim)
    v = leaf(case.key_heads, mask.key_length, case.head_dim_v)
    attention(q, k, v, mask, enable_gqa=True).sum().backward()
    torch.cuda.synchronize()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=int, nargs="*", help="numbers of cases; all when none is given")
    chosen = parser.parse_args().cases or range(len(CASES))
    if not torch.cuda.is_available():
        print("no CUDA GPU on this machine: nothing was run", file=sys.stderr)
        return 3
    for number in chosen:
        run(CASES[number])
        print(f"ran {number} {CASES[number]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
