"""Every library mask on this machine's GPU, whole, against float64 dense attention: output, LSE and gradients.

    python -m benchmarks.library_on_gpu [NAME ...] [--tokens 2048 4096] [--dtype bfloat16] [--head-dim 128]

A row per mask and size: its axes, the share of the error budget that each output used (above 1 is wrong), and whether a
second run gave the same bits. Keys that nobody sees hold NaN. The last line counts; the exit code is 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import sys

import torch

from benchmarks.library_sizes import resized
from compilemask import library, pipeline
from compilemask.errors import CompileMaskError
from compilemask.measure.error_budget import compare, references
from compilemask.measure.kernel_runs import called, random_inputs
from compilemask.pipeline import CompiledMask

SEED = 20


def visible_cells(mask: CompiledMask) -> torch.Tensor:
    """Bool [batch, heads, queries, keys] on the GPU; masks without heads of their own get two."""
    samples = range(mask.variant.shape[0])
    heads = range(mask.variant.shape[1])
    cells = torch.stack([torch.stack([torch.from_numpy(mask.dense(b, h)) for h in heads]) for b in samples])
    return cells.expand(max(mask.batch, 1), max(mask.heads, 2), -1, -1).cuda()


def judged(name: str, tokens: int, dtype: torch.dtype, head_dim: int) -> tuple[str, bool]:
    """One row of the table, and whether all of it is right."""
    mask = pipeline.compile(name, params=resized(name, tokens))
    visible = visible_cells(mask)
    given = random_inputs(visible, dtype, head_dim, SEED)
    found, again = (called(mask, given, gradients=True) for _ in range(2))
    truth = references(given.q, given.k, given.v, visible, dout=given.dout, dlse=given.dlse)
    errors = compare(found, truth)
    same = all(torch.equal(getattr(found, e.name), getattr(again, e.name)) for e in errors)
    used = "  ".join(f"{error.name} {error.used:5.2f}" for error in errors)
    right = same and all(error.within for error in errors)
    size = f"{visible.shape[0]} x {visible.shape[1]} x {mask.query_length:,} x {mask.key_length:,}"
    return f"{'ok   ' if right else 'WRONG'} {name:<28}{size:<26}{used}{'' if same else '  bits differ'}", right


def main() -> int:
    parser = argparse.ArgumentParser(description="Library masks against float64 dense attention on the GPU.")
    parser.add_argument("names", nargs="*", help="library masks; all when none is given")
    parser.add_argument("--tokens", type=int, nargs="+", default=[2048, 4096])
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--head-dim", type=int, default=128)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no CUDA GPU on this machine: nothing was checked", file=sys.stderr)
        return 3
    wrong, checked = [], 0
    for name in options.names or library.names():
        for tokens in options.tokens:
            try:
                row, right = judged(name, tokens, getattr(torch, options.dtype), options.head_dim)
            except CompileMaskError as error:
                row, right = f"WRONG {name:<28}{error}", False
            checked += 1
            wrong += [] if right else [name]
            print(row, flush=True)
    print(
        f"{torch.cuda.get_device_name()}, {options.dtype}, head_dim {options.head_dim}: {checked} checked, "
        f"{len(wrong)} wrong {' '.join(sorted(set(wrong)))}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
