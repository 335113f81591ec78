"""The probes of `set_probe` on a mask too long to be known cell by cell: sampled rows and columns, at full length."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from compilemask.kernel.reference import AttentionResult
from compilemask.measure import sampling
from compilemask.measure.code_sums import SetError
from compilemask.measure.judged import Tokens, of_set
from compilemask.measure.kernel_runs import Inputs, called
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.places import Place
from compilemask.measure.report import Check, Outcome
from compilemask.measure.set_probe import Sizes, judge_keys, judge_queries, key_codes, query_codes

BYTES_PER_VALUE = 40  # of q, k, v, out, dout, their gradients and the sums of dq, at most


def check_whole_sets(
    place: Place, dtype: torch.dtype, head_dim: int, block: tuple[int, int], device: str
) -> list[Check]:
    """out, lse and dq on sampled queries, dk and dv on sampled keys, of the sample and head of `place`."""
    compiled, variant = place.compiled, place.variant
    size = f"{place.prefix}whole length {compiled.query_length:,} x {compiled.key_length:,}"
    values = compiled.batch * compiled.heads * max(compiled.query_length, compiled.key_length) * head_dim
    if device == "cuda" and values * BYTES_PER_VALUE > _free_memory():
        return [
            Check("kernel whole sets", Outcome.SKIPPED, f"{size} with gradients does not fit into the GPU's memory")
        ]
    rows = sampling.lines(variant.queries, variant.keys.length)
    columns = sampling.lines(variant.keys, variant.queries.length)
    everything = np.arange(compiled.query_length, dtype=np.int64), np.arange(compiled.key_length, dtype=np.int64)
    errors = _by_rows(place, rows, dtype, head_dim, device)
    tokens = Tokens(lambda *_: place, rows, everything[1], block, dtype)
    checks = [of_set("whole sets ", error, f"{size}, {len(rows):,} rows judged", tokens) for error in errors]
    errors = _by_columns(place, columns, dtype, head_dim, device)
    tokens = Tokens(lambda *_: place, everything[0], columns, block, dtype)
    scope = f"{size}, {len(columns):,} columns judged"
    return checks + [of_set("whole sets ", error, scope, tokens) for error in errors]


def _free_memory() -> int:
    """Bytes on the GPU that nobody holds."""
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def _by_rows(place: Place, rows: NDArray[np.int64], dtype: torch.dtype, head_dim: int, device: str) -> list[SetError]:
    visible = torch.from_numpy(BlockOracle(place.variant).rows(rows)).to(device)[None, None]
    picked = torch.from_numpy(rows).to(device)
    count = torch.zeros(place.compiled.query_length, dtype=torch.int64, device=device)
    count[picked] = visible.sum(-1)[0, 0]
    given = query_codes(_sizes(place, dtype, head_dim), _of_head(place, count), sampling.SEED)
    found, here = called(place.compiled, given, gradients=True), _here(place)
    assert found.dq is not None
    part = AttentionResult(*(x[here][:, :, picked] for x in (found.out, found.lse, found.dq)))
    return judge_queries(part, _head_of(given, here), visible)


def _by_columns(
    place: Place, columns: NDArray[np.int64], dtype: torch.dtype, head_dim: int, device: str
) -> list[SetError]:
    visible = torch.from_numpy(BlockOracle(place.variant).columns(columns)).to(device)[None, None]
    # how many keys a query sees is a matter of all keys: taken from the compiled mask, checked by rows
    known = place.compiled.rows_of(place.batch, place.head).visible_per_row()
    count = torch.from_numpy(known).to(device)
    given = key_codes(_sizes(place, dtype, head_dim), _of_head(place, count), sampling.SEED + 1)
    found, here = called(place.compiled, given, gradients=True), _here(place)
    assert found.dk is not None
    assert found.dv is not None
    picked = torch.from_numpy(columns).to(device)
    part = AttentionResult(
        found.out[here], found.lse[here], None, *(x[here][:, :, picked] for x in (found.dk, found.dv))
    )
    return judge_keys(part, _head_of(given, here), visible, count[None, None])


def _sizes(place: Place, dtype: torch.dtype, head_dim: int) -> Sizes:
    of = place.compiled
    return Sizes(of.batch, of.heads, of.heads, of.query_length, of.key_length, head_dim, dtype)


def _of_head(place: Place, count: Tensor) -> Tensor:
    """[batch, heads, queries]: `count` in the sample and head of `place`, 0 elsewhere."""
    everywhere = count.new_zeros(place.compiled.batch, place.compiled.heads, len(count))
    everywhere[place.batch, place.head] = count
    return everywhere


def _here(place: Place) -> tuple[slice, slice]:
    return slice(place.batch, place.batch + 1), slice(place.head, place.head + 1)


def _head_of(given: Inputs, here: tuple[slice, slice]) -> Inputs:
    return Inputs(given.q[here], given.k[here], given.v[here], given.dout[here], given.dlse[here], given.scale)
