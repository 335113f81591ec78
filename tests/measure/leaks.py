"""Kernels with one wrong cell: the real kernels, run on a mask that differs in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from compilemask.kernel.reference import AttentionResult
from compilemask.measure.code_sums import SetError
from compilemask.measure.error_budget import OutputError, compare, references
from compilemask.measure.kernel_runs import Inputs, called, interpreted, random_inputs
from compilemask.measure.set_probe import judge_keys, judge_queries, key_probe, query_probe
from tests.kernel.made_masks import DenseMask

Cells = NDArray[np.bool_]
Run = Callable[[Cells, Inputs], AttentionResult]


def on_cpu(cells: Cells, given: Inputs) -> AttentionResult:
    """The public call on CPU tensors."""
    return called(DenseMask(cells), given, gradients=True)


def in_interpreter(cells: Cells, given: Inputs) -> AttentionResult:
    """The portable Triton kernels in the interpreter."""
    return interpreted(DenseMask(cells), given)


def causal(length: int) -> Cells:
    return np.tril(np.ones((1, 1, length, length), bool))


def with_wrong_cell(cells: Cells, row: int) -> Iterator[tuple[str, Cells, set[int]]]:
    """One key too many, one too few, and both at once, in one row of a causal mask, and which keys that concerns."""
    hidden, seen = row + 1, row // 2
    for name, keys in (("leak", (hidden,)), ("missing", (seen,)), ("swapped", (hidden, seen))):
        wrong = cells.copy()
        for key in keys:
            wrong[0, 0, row, key] ^= True
        yield name, wrong, set(keys)


def sets(run: Run, right: Cells, wrong: Cells, dtype: torch.dtype, head_dim: int = 64) -> dict[str, SetError]:
    """What both probes say of a kernel that takes `wrong` for `right`."""
    visible = torch.from_numpy(right)
    by_query, by_key = query_probe(visible, dtype, head_dim, 5), key_probe(visible, dtype, head_dim, 6)
    errors = judge_queries(run(wrong, by_query), by_query, visible)
    errors += judge_keys(run(wrong, by_key), by_key, visible)
    return {error.name: error for error in errors}


def errors(
    run: Run,
    right: Cells,
    wrong: Cells,
    dtype: torch.dtype,
    inputs: Callable[[torch.Tensor, torch.dtype, int, int], Inputs] = random_inputs,
    head_dim: int = 64,
) -> dict[str, OutputError]:
    """What the error budget says of the same kernel."""
    visible = torch.from_numpy(right)
    given = inputs(visible, dtype, head_dim, 7)
    truth = references(given.q, given.k, given.v, visible, given.scale, given.dout, given.dlse)
    return {error.name: error for error in compare(run(wrong, given), truth)}
