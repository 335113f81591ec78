"""The kernels against float64 dense attention, and against the sets of visible cells.

A reduced mask runs with random data and with adverse data, judged by `error_budget`, and with the two probes of
`set_probe`, which see a single wrong cell. On a GPU a longer mask also runs whole, judged on sampled rows and columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from compilemask.kernel.reference import AttentionResult
from compilemask.measure import sampling
from compilemask.measure.error_budget import compare, references
from compilemask.measure.judged import Tokens, of_error, of_set
from compilemask.measure.kernel_runs import Inputs, adverse_inputs, called, interpreted, random_inputs
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.places import Place
from compilemask.measure.reduced_mask import (
    GROUPED_HEADS,
    GROUPED_SAMPLES,
    INTERPRETED_SIZE,
    ReducedMask,
    grouped_mask,
    reduced_masks,
)
from compilemask.measure.report import Check
from compilemask.measure.set_probe import judge_keys, judge_queries, key_probe, query_probe
from compilemask.measure.whole_sets import check_whole_sets

GPU_SIZE = 2048
HEAD_DIM = 64
GPU_HEAD_DIM = 128
INTERPRETED_DTYPES = (torch.float32, torch.float16)
GPU_DTYPES = (torch.bfloat16, torch.float16, torch.float32)
INTERPRETED_GROUPED = (96, 64)
"""Queries and keys of the interpreter's run with grouped heads: it has eight heads, and is about which is which."""

Step = Callable[[str], None]
Run = Callable[[ReducedMask, Inputs], AttentionResult]


def check_in_interpreter(places: Sequence[Place], numbers: int, block: tuple[int, int], step: Step) -> list[Check]:
    """Forward and backward of reduced masks in Triton's interpreter, float32 and float16.

    Of more than four distinct masks each run takes the next few, the sets take the first `numbers`.
    """
    masks = reduced_masks(places, numbers, INTERPRETED_SIZE)
    turns = itertools.cycle(masks)
    checks = []
    for dtype in INTERPRETED_DTYPES:
        runs = _Runs(dtype, HEAD_DIM, "cpu", interpreted, block, step)
        checks += runs.random(next(turns)) + runs.adverse(next(turns))
    # once: in the interpreter the kernels walk the same heads and tiles in every dtype
    return checks + runs.grouped(grouped_mask(places, *INTERPRETED_GROUPED)) + runs.sets(masks)


def check_on_gpu(places: Sequence[Place], numbers: int, block: tuple[int, int], step: Step) -> list[Check]:
    """Forward and backward of reduced masks in all dtypes, and of the whole mask where that is longer.

    Of the whole mask the forward pass is judged in all dtypes with random data, both passes in the first as sets; of
    several distinct masks the dtypes judge one after another.
    """
    masks = reduced_masks(places, numbers, GPU_SIZE)
    grouped = grouped_mask(places, GPU_SIZE, GPU_SIZE)
    turns, whole = itertools.cycle(masks), itertools.cycle(places[:numbers])
    checks = []
    for dtype in GPU_DTYPES:
        runs = _Runs(dtype, GPU_HEAD_DIM, "cuda", _called, block, step)
        checks += runs.random(next(turns)) + runs.adverse(next(turns)) + runs.grouped(grouped) + runs.sets(masks)
        if not masks[0].is_whole:
            step(f"kernel, {_word(dtype)}, whole length")
            checks += _check_whole(next(whole), dtype, block)
    if not masks[0].is_whole:
        step("kernel, whole length, visible sets")
        checks += check_whole_sets(next(whole), GPU_DTYPES[0], GPU_HEAD_DIM, block, "cuda")
    return checks


def _called(mask: ReducedMask, given: Inputs) -> AttentionResult:
    return called(mask, given, gradients=True)


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of reduced masks in one dtype on one device."""

    dtype: torch.dtype
    head_dim: int
    device: str
    run: Run
    block: tuple[int, int]
    step: Step

    def random(self, mask: ReducedMask) -> list[Check]:
        """Random data."""
        self.step(f"kernel, {_word(self.dtype)}, random data")
        visible = self._visible(mask)
        return self._judged("", mask, visible, random_inputs(visible, self.dtype, self.head_dim, sampling.SEED))

    def adverse(self, mask: ReducedMask) -> list[Check]:
        """Data that is hard on a softmax."""
        self.step(f"kernel, {_word(self.dtype)}, adverse data")
        visible = self._visible(mask)
        given = adverse_inputs(visible, self.dtype, self.head_dim, sampling.SEED)
        return self._judged("adverse ", mask, visible, given)

    def grouped(self, mask: ReducedMask) -> list[Check]:
        """Random data of two samples, with two query heads per key head."""
        self.step(f"kernel, {_word(self.dtype)}, grouped heads")
        visible = self._visible(mask).expand(GROUPED_SAMPLES, -1, -1, -1).expand(-1, GROUPED_HEADS, -1, -1)
        key_heads = GROUPED_HEADS // 2
        given = random_inputs(visible, self.dtype, self.head_dim, sampling.SEED, key_heads=key_heads)
        return self._judged("grouped ", mask, visible, given)

    def sets(self, masks: Sequence[ReducedMask]) -> list[Check]:
        """The two probes, on every mask."""
        self.step(f"kernel, {_word(self.dtype)}, visible sets")
        return [check for mask in masks for check in self._sets(mask)]

    def _judged(self, name: str, mask: ReducedMask, visible: torch.Tensor, given: Inputs) -> list[Check]:
        """One run against float64."""
        truth = references(given.q, given.k, given.v, visible, given.scale, given.dout, given.dlse)
        found, scope, tokens = self.run(mask, given), self._scope(mask, given), self._tokens(mask)
        return [of_error(name, error, scope, tokens, found, truth.exact) for error in compare(found, truth)]

    def _sets(self, mask: ReducedMask) -> list[Check]:
        visible, tokens = self._visible(mask), self._tokens(mask)
        by_query = query_probe(visible, self.dtype, self.head_dim, sampling.SEED)
        by_key = key_probe(visible, self.dtype, self.head_dim, sampling.SEED + 1)
        errors = judge_queries(self.run(mask, by_query), by_query, visible)
        errors += judge_keys(self.run(mask, by_key), by_key, visible)
        return [of_set("sets ", error, self._scope(mask, by_query), tokens) for error in errors]

    def _visible(self, mask: ReducedMask) -> torch.Tensor:
        return torch.from_numpy(mask.visible).to(self.device)

    def _tokens(self, mask: ReducedMask) -> Tokens:
        return Tokens(mask.place, mask.queries, mask.keys, self.block, self.dtype)

    def _scope(self, mask: ReducedMask, given: Inputs) -> str:
        """What a run compared: tokens, batch entries and heads of the call, what the mask tells apart, its order."""
        words = [f"{'all' if mask.is_whole else 'reduced to'} {mask.query_length:,} x {mask.key_length:,} tokens"]
        batch, heads = given.q.shape[:2]
        words += [f"{batch} samples"] if batch > 1 else []
        words.append(f"{heads} head{'s' if heads > 1 else ''}")
        words += [f"{given.k.shape[1]} key heads"] if given.k.shape[1] != heads else []
        words.append(f"head_dim {self.head_dim}")
        words += ["in token order"] if mask.order.moves else []
        return mask.prefix + ", ".join(words)


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
    tokens = Tokens(lambda *_: place, rows, np.arange(compiled.key_length, dtype=np.int64), block, dtype)
    scope = f"{place.prefix}whole length {compiled.query_length:,} x {compiled.key_length:,}, {len(rows):,} rows judged"
    return [of_error("whole ", error, scope, tokens, part, truth.exact) for error in compare(part, truth)]
