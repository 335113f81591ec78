"""The kernels against float64 dense attention, within the error that their dtype costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.kernel.reference import AttentionResult
from compilemask.measure import sampling
from compilemask.measure.error_budget import OutputError, compare, references
from compilemask.measure.kernel_runs import Inputs, called, interpreted, random_inputs
from compilemask.measure.mask_checks import Place
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.reduced_mask import INTERPRETED_SIZE, ReducedMask, reduced_mask
from compilemask.measure.report import Check, Outcome, WrongCell

GPU_SIZE = 2048
HEAD_DIM = 64
GPU_HEAD_DIM = 128
INTERPRETED_DTYPES = (torch.float32, torch.float16)
GPU_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
PRECISION = {
    torch.float32: "float32: products in full float32 (IEEE, never TF32), sums in float32",
    torch.float16: "float16: exact products of float16 values, weights rounded to float16, sums in float32",
    torch.bfloat16: "bfloat16: exact products of bfloat16 values, weights rounded to bfloat16, sums in float32",
}
"""In which numbers the kernels multiply and add; `PRECISION` in the launches is what makes the first line true."""

Step = Callable[[str], None]


def check_in_interpreter(places: Sequence[Place], block: tuple[int, int], step: Step) -> list[Check]:
    """Forward and backward of a reduced mask in Triton's interpreter, float32 and float16."""
    mask = reduced_mask(list(places), INTERPRETED_SIZE)
    checks = []
    for dtype in INTERPRETED_DTYPES:
        step(f"kernel, {_word(dtype)}, interpreted")
        checks += _check_reduced(mask, dtype, HEAD_DIM, "cpu", interpreted, block)
    return checks


def check_on_gpu(places: Sequence[Place], block: tuple[int, int], step: Step) -> list[Check]:
    """Forward of the whole mask, judged on sampled rows, and forward and backward of a reduced one, in all dtypes."""
    mask = reduced_mask(list(places), GPU_SIZE)
    checks = []
    for dtype in GPU_DTYPES:
        step(f"kernel, {_word(dtype)}, on the GPU")
        checks += _check_reduced(
            mask, dtype, GPU_HEAD_DIM, "cuda", lambda reduced, given: called(reduced, given, gradients=True), block
        )
        if not mask.is_whole:
            step(f"kernel, {_word(dtype)}, whole length, on the GPU")
            checks += _check_whole(places[0], dtype, block)
    return checks


Run = Callable[[ReducedMask, Inputs], AttentionResult]


def _check_reduced(
    mask: ReducedMask, dtype: torch.dtype, head_dim: int, device: str, run: Run, block: tuple[int, int]
) -> list[Check]:
    visible = torch.from_numpy(mask.visible)[None].to(device)
    given = random_inputs(visible, dtype, head_dim, sampling.SEED)
    truth = references(given.q, given.k, given.v, visible, dout=given.dout, dlse=given.dlse)
    size = f"{mask.query_length:,} x {mask.key_length:,}"
    heads = f"{visible.shape[1]} head{'s' if visible.shape[1] > 1 else ''}"
    scope = f"{'all' if mask.is_whole else 'reduced to'} {size} tokens, {heads}, head_dim {head_dim}"
    found = run(mask, given)
    errors = compare(found, truth)
    wheres = [_Where(mask.places, mask.queries, mask.keys, block, dtype)] * len(errors)
    return [
        _judged(_word(dtype), error, scope, where, found, truth.exact)
        for error, where in zip(errors, wheres, strict=True)
    ]


def _check_whole(place: Place, dtype: torch.dtype, block: tuple[int, int]) -> list[Check]:
    compiled = place.compiled
    rows = sampling.lines(place.variant.queries, place.variant.keys.length)
    seen = torch.from_numpy(BlockOracle(place.variant).rows(rows)).cuda()[None, None]
    everywhere = seen.expand(compiled.batch, compiled.heads, -1, -1)
    given = random_inputs(everywhere, dtype, GPU_HEAD_DIM, sampling.SEED, compiled.query_length)
    found = called(compiled, given, gradients=False)
    picked = torch.from_numpy(rows).cuda()
    here = slice(place.batch, place.batch + 1), slice(place.head, place.head + 1)
    part = AttentionResult(found.out[here][:, :, picked], found.lse[here][:, :, picked])
    truth = references(given.q[here][:, :, picked], given.k[here], given.v[here], seen)
    where = _Where((place,), rows, np.arange(compiled.key_length, dtype=np.int64), block, dtype)
    scope = f"whole length {compiled.query_length:,} x {compiled.key_length:,}, {len(rows):,} rows judged"
    return [_judged(f"{_word(dtype)} whole", error, scope, where, part, truth.exact) for error in compare(part, truth)]


@dataclass(frozen=True, slots=True, eq=False)
class _Where:
    """Which tokens the rows of outputs and gradients stand for, and the type of the tensors; head i is place i."""

    places: tuple[Place, ...]
    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    block: tuple[int, int]
    dtype: torch.dtype


def _judged(
    name: str, error: OutputError, scope: str, where: _Where, found: AttentionResult, exact: AttentionResult
) -> Check:
    good = error.within
    wrong = None
    if not good and error.first_wrong is not None:
        wrong = _wrong_cell(
            error.name, error.first_wrong, where, getattr(found, error.name), getattr(exact, error.name)
        )
    outcome = Outcome.PASS if good else Outcome.FAIL
    return Check(
        f"kernel {name} {error.name}",
        outcome,
        scope,
        of_budget=error.used,
        first_wrong=wrong,
        precision=PRECISION[where.dtype],
        largest_error=error.largest,
        largest_allowed=error.allowed_largest,
    )


def _wrong_cell(name: str, position: tuple[int, ...], where: _Where, found: Tensor, exact: Tensor) -> WrongCell:
    """The query, or for dK and dV the key, of the first value beyond the budget."""
    head, row = position[1], position[2]
    place = where.places[min(head, len(where.places) - 1)]
    of_key = name in ("dk", "dv")
    slots = where.keys if of_key else where.queries
    words = f"{name} {float(exact[position]):.6g}", f"{float(found[position]):.6g}"
    if of_key:
        return place.wrong(-1, int(slots[row]), where.block, *words)
    return place.wrong(int(slots[row]), -1, where.block, *words)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
