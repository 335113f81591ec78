"""The kernels against float64 dense attention, and against the sets of visible cells.

A reduced mask runs with random data and with adverse data, judged by `error_budget`, and with the two probes of
`set_probe`, which see a single wrong cell. On a GPU a longer mask also runs whole, judged on sampled rows and columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from compilemask.kernel.reference import AttentionResult
from compilemask.measure import sampling
from compilemask.measure.error_budget import compare, references
from compilemask.measure.judged import Tokens, of_error, of_set
from compilemask.measure.kernel_runs import Inputs, adverse_inputs, called, interpreted, random_inputs
from compilemask.measure.mask_checks import Place
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.reduced_mask import INTERPRETED_SIZE, ReducedMask, reduced_mask
from compilemask.measure.report import Check
from compilemask.measure.set_probe import judge_keys, judge_queries, key_probe, query_probe
from compilemask.measure.whole_sets import check_whole_sets

GPU_SIZE = 2048
HEAD_DIM = 64
GPU_HEAD_DIM = 128
INTERPRETED_DTYPES = (torch.float32, torch.float16)
GPU_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
DATA = (("", "random data", random_inputs), ("adverse ", "adverse data", adverse_inputs))

Step = Callable[[str], None]
Run = Callable[[ReducedMask, Inputs], AttentionResult]


def check_in_interpreter(places: Sequence[Place], block: tuple[int, int], step: Step) -> list[Check]:
    """Forward and backward of a reduced mask in Triton's interpreter, float32 and float16."""
    mask = reduced_mask(list(places), INTERPRETED_SIZE)
    checks = []
    for dtype in INTERPRETED_DTYPES:
        tokens = Tokens(mask.places, mask.queries, mask.keys, block, dtype)
        checks += _check_reduced(mask, tokens, HEAD_DIM, "cpu", interpreted, step)
    # once: in the interpreter the kernels walk the same tiles in every dtype
    return checks + _check_sets(mask, tokens, HEAD_DIM, "cpu", interpreted, step)


def check_on_gpu(places: Sequence[Place], block: tuple[int, int], step: Step) -> list[Check]:
    """Forward and backward of a reduced mask in all dtypes, and of the whole mask where that is longer.

    Of the whole mask the forward pass is judged in all dtypes with random data, both passes in the first as sets.
    """
    mask = reduced_mask(list(places), GPU_SIZE)
    checks = []
    for dtype in GPU_DTYPES:
        tokens = Tokens(mask.places, mask.queries, mask.keys, block, dtype)
        checks += _check_reduced(mask, tokens, GPU_HEAD_DIM, "cuda", _called, step)
        checks += _check_sets(mask, tokens, GPU_HEAD_DIM, "cuda", _called, step)
        if not mask.is_whole:
            step(f"kernel, {tokens.word}, whole length")
            checks += _check_whole(places[0], dtype, block)
    if not mask.is_whole:
        step("kernel, whole length, visible sets")
        checks += check_whole_sets(places[0], GPU_DTYPES[0], GPU_HEAD_DIM, block, "cuda")
    return checks


def _called(mask: ReducedMask, given: Inputs) -> AttentionResult:
    return called(mask, given, gradients=True)


def _check_reduced(mask: ReducedMask, tokens: Tokens, head_dim: int, device: str, run: Run, step: Step) -> list[Check]:
    visible, scope = torch.from_numpy(mask.visible)[None].to(device), _scope(mask, head_dim)
    checks = []
    for name, words, inputs in DATA:
        step(f"kernel, {tokens.word}, {words}")
        given = inputs(visible, tokens.dtype, head_dim, sampling.SEED)
        truth = references(given.q, given.k, given.v, visible, given.scale, given.dout, given.dlse)
        found = run(mask, given)
        checks += [of_error(name, error, scope, tokens, found, truth.exact) for error in compare(found, truth)]
    return checks


def _check_sets(mask: ReducedMask, tokens: Tokens, head_dim: int, device: str, run: Run, step: Step) -> list[Check]:
    step(f"kernel, {tokens.word}, visible sets")
    visible, scope = torch.from_numpy(mask.visible)[None].to(device), _scope(mask, head_dim)
    by_query = query_probe(visible, tokens.dtype, head_dim, sampling.SEED)
    by_key = key_probe(visible, tokens.dtype, head_dim, sampling.SEED + 1)
    errors = judge_queries(run(mask, by_query), by_query, visible) + judge_keys(run(mask, by_key), by_key, visible)
    return [of_set("sets ", error, scope, tokens) for error in errors]


def _scope(mask: ReducedMask, head_dim: int) -> str:
    size = f"{mask.query_length:,} x {mask.key_length:,}"
    heads = f"{len(mask.places)} head{'s' if len(mask.places) > 1 else ''}"
    return f"{'all' if mask.is_whole else 'reduced to'} {size} tokens, {heads}, head_dim {head_dim}"


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
    tokens = Tokens((place,), rows, np.arange(compiled.key_length, dtype=np.int64), block, dtype)
    scope = f"whole length {compiled.query_length:,} x {compiled.key_length:,}, {len(rows):,} rows judged"
    return [of_error("whole ", error, scope, tokens, part, truth.exact) for error in compare(part, truth)]
