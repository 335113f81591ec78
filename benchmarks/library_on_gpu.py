"""Every library mask on this machine's GPU, whole, output, LSE and gradients: against float64, and as sets of cells.

    python -m benchmarks.library_on_gpu [NAME ...] [--tokens 2048 4096] [--dtype bfloat16] [--head-dim 128]

A row per mask and size: its axes, the share of its allowance that each output used (above 1 is wrong), the largest of
three runs, and whether a second run gave the same bits. The runs: random data and adverse data within the error budget,
and the two probes of `compilemask.measure.set_probe`, which see a single wrong cell; these have two query heads per key
head where the heads are even in number. Keys that nobody sees hold NaN. The last line counts; the exit code is 1 if
anything is wrong.
"""

from __future__ import annotations

import argparse
import sys

import torch

from benchmarks.library_sizes import resized
from compilemask import library, pipeline
from compilemask.errors import CompileMaskError
from compilemask.measure.code_sums import SetError
from compilemask.measure.error_budget import NAMES, OutputError, compare, references
from compilemask.measure.kernel_runs import adverse_inputs, called, random_inputs
from compilemask.measure.set_probe import judge_keys, judge_queries, key_probe, query_probe
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
    found: list[OutputError | SetError] = []
    same = True
    for inputs in (random_inputs, adverse_inputs):
        given = inputs(visible, dtype, head_dim, SEED)
        first, again = (called(mask, given, gradients=True) for _ in range(2))
        found += compare(first, references(given.q, given.k, given.v, visible, given.scale, given.dout, given.dlse))
        same &= all(torch.equal(getattr(first, output), getattr(again, output)) for output in NAMES)
    found += set_errors(mask, visible, dtype, head_dim)
    used = {output: max(error.used for error in found if error.name == output) for output in NAMES}
    words = "  ".join(f"{output} {share:5.2f}" for output, share in used.items())
    right = same and all(error.within for error in found)
    size = f"{visible.shape[0]} x {visible.shape[1]} x {mask.query_length:,} x {mask.key_length:,}"
    row = f"{'ok   ' if right else 'WRONG'} {name:<28}{size:<26}{words}{'' if same else '  bits differ'}"
    return "\n".join([row, *(f"      {error}" for error in found if not error.within)]), right


def set_errors(mask: CompiledMask, visible: torch.Tensor, dtype: torch.dtype, head_dim: int) -> list[SetError]:
    """What the probes say of the kernels on a mask whose visible cells are [batch, heads, queries, keys]."""
    heads = visible.shape[1]
    by_query, by_key = (
        make(visible, dtype, head_dim, SEED, heads // 2 if heads % 2 == 0 else heads)
        for make in (query_probe, key_probe)
    )
    errors = judge_queries(called(mask, by_query, gradients=True), by_query, visible)
    return errors + judge_keys(called(mask, by_key, gradients=True), by_key, visible)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Library masks against float64 dense attention, and as sets of cells, on the GPU."
    )
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
