"""Two calls whose outputs count visible cells, so that a single wrong cell shows, whatever the dtype.

Where q or k is 0 every score is 0, so every visible key of a query weighs the same, and with codes (random +1 and -1)
in the other tensors each row of an output is the sum of the codes of a set. n[i] is how many keys query i sees.

    keys of queries: q = 0, k and v = codes, dout = 0, dlse = n
        exp(lse[i]) = n[i]      out[i] n[i] = sum of v[j]      dq[i] / scale = sum of k[j], since dS is 1 where visible
    queries of keys: k = v = 0, q = codes, dout[i] = codes 2**round(log2 n[i]), dlse = n
        dk[j] / scale = sum of q[i]                             dv[j] = sum of dout[i] / n[i]

The sums are exact in float32, so only what is stored is rounded (`code_sums` says what of a difference is a wrong
cell). In bfloat16 and with 64 columns one cell shows among 200,000; beyond, the allowance grows and says so. The
weights 1 / n of dv may be rounded to the dtype or not, a kernel is free to do either. Column 0 of k is 1 everywhere:
there dq is as large as it can get, n times the largest key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from compilemask.kernel.reference import AttentionResult
from compilemask.measure.code_sums import Explain, SetError, code_sums, counts, judge, wrong_member
from compilemask.measure.kernel_runs import Inputs


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the tensors of a probe look like; `key_heads` share the query heads evenly."""

    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    head_dim: int
    dtype: torch.dtype


def query_probe(visible: Tensor, dtype: torch.dtype, head_dim: int, seed: int, key_heads: int | None = None) -> Inputs:
    """The call that tells which keys every query sees; `visible` is bool [batch, heads, queries, keys].

    `key_heads` (all heads by default) share the query heads evenly. Keys that nobody sees and queries that see nothing
    hold NaN.
    """
    return _spoilt(query_codes(_sizes(visible, dtype, head_dim, key_heads), visible.sum(-1), seed), visible)


def key_probe(visible: Tensor, dtype: torch.dtype, head_dim: int, seed: int, key_heads: int | None = None) -> Inputs:
    """The call that tells which queries see every key; arguments as for `query_probe`."""
    return _spoilt(key_codes(_sizes(visible, dtype, head_dim, key_heads), visible.sum(-1), seed), visible)


def query_codes(sizes: Sizes, count: Tensor, seed: int) -> Inputs:
    """`query_probe` by `count` [batch, heads, queries], the keys that each query sees; a count of 0 asks for no dq."""
    codes = _coder(count.device, sizes.dtype, seed)
    k, v = (codes(sizes.batch, sizes.key_heads, sizes.keys, sizes.head_dim) for _ in range(2))
    k[..., 0] = 1
    q = k.new_zeros(sizes.batch, sizes.heads, sizes.queries, sizes.head_dim)
    return Inputs(q, k, v, torch.zeros_like(q), count.float())


def key_codes(sizes: Sizes, count: Tensor, seed: int) -> Inputs:
    """`key_probe` by `count` [batch, heads, queries]; a query with count 0 adds nothing to dk."""
    codes = _coder(count.device, sizes.dtype, seed)
    q, dout = (codes(sizes.batch, sizes.heads, sizes.queries, sizes.head_dim) for _ in range(2))
    largest = math.floor(math.log2(torch.finfo(sizes.dtype).max)) - 1  # a query of float16 with more keys counts less
    power = torch.exp2(count.clamp(min=1).float().log2().round().clamp(max=largest))
    k = q.new_zeros(sizes.batch, sizes.key_heads, sizes.keys, sizes.head_dim)
    return Inputs(q, k, torch.zeros_like(k), dout * power[..., None].to(sizes.dtype), count.float())


def _sizes(visible: Tensor, dtype: torch.dtype, head_dim: int, key_heads: int | None) -> Sizes:
    batch, heads, queries, keys = visible.shape
    return Sizes(batch, heads, heads if key_heads is None else key_heads, queries, keys, head_dim, dtype)


def _coder(device: torch.device, dtype: torch.dtype, seed: int) -> Callable[..., Tensor]:
    generator = torch.Generator().manual_seed(seed)

    def codes(*shape: int) -> Tensor:
        return (2 * torch.randint(0, 2, shape, generator=generator, dtype=torch.int8) - 1).to(device).to(dtype)

    return codes


def _spoilt(given: Inputs, visible: Tensor) -> Inputs:
    """NaN where nobody looks."""
    blind = ~visible.any(-1)
    unseen = ~_grouped(visible.any(2), given.k.shape[1]).any(2)
    for tensor in (given.q, given.dout, given.dlse):
        tensor[blind] = math.nan
    for tensor in (given.k, given.v):
        tensor[unseen] = math.nan
    return given


def judge_queries(found: AttentionResult, given: Inputs, visible: Tensor) -> list[SetError]:
    """out, lse and, where it was asked for, dq of the call with `query_probe`; `visible` [batch, heads, rows, keys]."""
    members = visible.sum(-1)
    unit = members.clamp(min=1).double()
    counted = counts(found.lse, members)
    v, k = (_without_nan(codes) for codes in (given.v, given.k))
    # out and dq have been divided by the number of keys that the kernel saw, which is not always the right one
    grown = torch.nan_to_num(counted.found / counted.expected, nan=1.0, posinf=1.0)
    out = code_sums("out", found.out, unit, _over_keys(visible, v), members)
    errors = [judge(out, _names_key(visible, v, grown)), judge(counted, _tells_counts)]
    if found.dq is not None:
        unit = torch.full_like(unit, 1.0 / _scale(given))
        dq = code_sums("dq", found.dq, unit, _over_keys(visible, k), members)
        errors.append(judge(dq, _names_key(visible, k, grown)))
    return errors


def judge_keys(found: AttentionResult, given: Inputs, visible: Tensor, count: Tensor | None = None) -> list[SetError]:
    """dk and dv of the call with `key_probe`; `visible` [batch, heads, queries, keys].

    `count` [batch, heads, queries] is given where `visible` holds some of the keys only: how many each query sees.
    """
    assert found.dk is not None
    assert found.dv is not None
    groups = found.dk.shape[1]
    count = visible.sum(-1) if count is None else count
    members = _grouped(visible.sum(2), groups).sum(2)
    unit = torch.full_like(members, 1.0 / _scale(given), dtype=torch.float64)
    q, dout = _without_nan(given.q), _without_nan(given.dout)
    dk = code_sums("dk", found.dk, unit, _over_queries(visible, q, groups), members)
    inverse = 1.0 / count.clamp(min=1).double()
    candidates = []
    for weights in (inverse, inverse.to(given.dout.dtype).double()):
        codes = dout.double() * weights[..., None]
        dv = code_sums("dv", found.dv, torch.ones_like(unit), _over_queries(visible, codes, groups), members)
        candidates.append(judge(dv, _names_query(visible, codes, groups)))
    return [judge(dk, _names_query(visible, q, groups)), min(candidates, key=lambda error: error.used)]


def _names_key(visible: Tensor, codes: Tensor, grown: Tensor) -> Explain:
    """For a wrong query: the first key that it sees or misses wrongly."""
    group = visible.shape[1] // codes.shape[1]

    def explain(error: SetError, found: Tensor, expected: Tensor, weights: Tensor) -> SetError:
        here = error.position or (0, 0, 0)
        batch, head, seen = *here[:2], visible[here]
        other = wrong_member(found * grown[here] - expected, weights, codes[batch, head // group].double(), seen)
        return _named(error, other, seen, "visible keys")

    return explain


def _names_query(visible: Tensor, codes: Tensor, groups: int) -> Explain:
    """For a wrong key: the first query that sees or misses it wrongly, of all heads that share the key."""

    def explain(error: SetError, found: Tensor, expected: Tensor, weights: Tensor) -> SetError:
        batch, group, key = error.position or (0, 0, 0)
        seen = _grouped(visible, groups)[batch, group, :, :, key]
        others = _grouped(codes, groups)[batch, group]
        other = wrong_member(found - expected, weights, others.flatten(0, 1).double(), seen.flatten())
        head, query = divmod(other or 0, seen.shape[1])
        named = _named(error, other, seen.flatten(), "queries that see it")
        place = (batch, group * seen.shape[0] + head, key)
        return replace(named, position=place, other=None if other is None else query)

    return explain


def _tells_counts(error: SetError, found: Tensor, expected: Tensor, weights: Tensor) -> SetError:
    size = float(found[0])
    words = f"{size:,.0f}" if math.isfinite(size) else f"{size}"
    return replace(error, expected=f"{int(expected[0]):,} visible keys", found=f"{words} visible keys")


def _scale(given: Inputs) -> float:
    return given.q.shape[-1] ** -0.5 if given.scale is None else given.scale


def _without_nan(codes: Tensor) -> Tensor:
    return torch.nan_to_num(codes, nan=0.0).float()  # sums of codes are exact in float32


def _over_keys(visible: Tensor, codes: Tensor) -> Tensor:
    """[batch, heads, rows, columns]: the codes [batch, key heads, keys, columns] of the keys that each row sees."""
    group = visible.shape[1] // codes.shape[1]
    rows = [
        [seen.to(codes.dtype) @ codes[b, h // group] for h, seen in enumerate(heads)] for b, heads in enumerate(visible)
    ]
    return torch.stack([torch.stack(heads) for heads in rows])


def _over_queries(visible: Tensor, codes: Tensor, groups: int) -> Tensor:
    """[batch, key heads, keys, columns]: codes [batch, heads, queries, columns] of the queries that see each key."""
    rows = [[seen.T.to(codes.dtype) @ codes[b, h] for h, seen in enumerate(heads)] for b, heads in enumerate(visible)]
    return _grouped(torch.stack([torch.stack(heads) for heads in rows]), groups).sum(2)


def _grouped(x: Tensor, groups: int) -> Tensor:
    """[batch, heads, ...] as [batch, key heads, query heads of each, ...]."""
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:])


def _named(error: SetError, other: int | None, seen: Tensor, what: str) -> SetError:
    if other is None:
        size = f"{int(seen.sum()):,} {what}"
        return replace(error, expected=f"the {error.name} of {size}", found=f"the {error.name} of others")
    words = ("visible", "hidden") if bool(seen[other]) else ("hidden", "visible")
    return replace(error, other=other, expected=words[0], found=words[1])
