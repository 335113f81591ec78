"""Sums of codes (random +1 and -1) over the members of a set: how many cells a found sum is away from the right one.

One member too many or too few moves every column by 1. Rounding may move a column by at most half an eps of its sum, so
columns count the more the smaller their sum is. A row is wrong where the root mean square over its columns, weighted
in this way, is more than 0.4 cells, and more than what rounding could do. (0.4, as a key that leaks into a query of one
key has half the weight.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

EPS32 = torch.finfo(torch.float32).eps
ENOUGH = 0.4  # cells
SAFETY = 1.25  # on what rounding could do
EVEN = 0.01  # squared cells: columns with less rounding than 0.1 cells count alike
MOST_NAMED = 4  # wrong cells of a row that are told apart


@dataclass(frozen=True, slots=True)
class SetError:
    """One output by the row that used the most of what it was allowed; `error` and `allowed` are in cells.

    `position` [batch, query head, row] is the first wrong row: a query of out, lse and dq, a key of dk and dv. Where a
    few cells explain the difference, `other` is the key, or the query, of the first of them, else None.
    """

    name: str
    used: float
    error: float
    allowed: float
    position: tuple[int, int, int] | None = None
    other: int | None = None
    expected: str = ""
    found: str = ""

    @property
    def within(self) -> bool:
        return self.position is None


@dataclass(frozen=True, slots=True)
class CodeSums:
    """Sums [batch, heads, rows, columns] in float64, the size of each set, and what rounding may do to each sum."""

    name: str
    found: Tensor
    expected: Tensor
    members: Tensor  # [batch, heads, rows]
    bound: Tensor


def code_sums(name: str, stored: Tensor, unit: Tensor, expected: Tensor, members: Tensor) -> CodeSums:
    """Sums out of what a kernel stored: `stored` times `unit`, which is one cell per row [batch, heads, rows]."""
    kind = torch.finfo(stored.dtype)
    expected = expected.double()
    sizes, count = expected.abs(), members[..., None].double()
    in_float32 = 4 * EPS32 * (1 + count.clamp(min=1).log()) * (sizes + count.sqrt()) + EPS32 * count
    bound = 0.5 * kind.eps * (1.02 * sizes + kind.tiny * unit[..., None]) + in_float32
    return CodeSums(name, stored.double() * unit[..., None], expected, members, bound)


def counts(lse: Tensor, members: Tensor) -> CodeSums:
    """The number of visible keys as the LSE of equal scores tells it."""
    count = members[..., None].double()
    bound = 4 * EPS32 * count * (1 + count.clamp(min=1).log())
    return CodeSums("lse", torch.exp(lse.double())[..., None], count, members, bound)


Explain = Callable[[SetError, Tensor, Tensor, Tensor], SetError]
"""Names the cell of a wrong row, given what was found and expected there and the weights of its columns."""


def judge(sums: CodeSums, explain: Explain) -> SetError:
    """The worst row and the first wrong one."""
    difference = sums.found - sums.expected
    weights = 1.0 / (sums.bound.square() + EVEN)
    if not difference.numel():
        return SetError(sums.name, 0.0, 0.0, ENOUGH)
    off, rounding = _weighted(difference, weights), _weighted(sums.bound, weights)
    off = torch.where((sums.members == 0) & (sums.found != 0).any(-1), math.inf, off)
    off = torch.nan_to_num(off, nan=math.inf, posinf=math.inf)
    allowed = (SAFETY * rounding).clamp(min=ENOUGH)
    used = off / allowed
    worst = int(used.argmax())
    figures = float(used.view(-1)[worst]), float(off.view(-1)[worst]), float(allowed.view(-1)[worst])
    error = SetError(sums.name, *figures)
    if error.used <= 1.0:
        return error
    batch, head, row = (int(i) for i in (used > 1.0).nonzero()[0])
    here = (batch, head, row)
    return explain(SetError(sums.name, *figures, here), sums.found[here], sums.expected[here], weights[here])


def _weighted(x: Tensor, weights: Tensor) -> Tensor:
    return ((weights * x.square()).sum(-1) / weights.sum(-1)).sqrt()


def wrong_member(difference: Tensor, weights: Tensor, codes: Tensor, seen: Tensor) -> int | None:
    """The first of `codes` [others, columns] that a row has too much, though it is not `seen`, or misses.

    The codes that explain the difference best are taken away one after another; None where a few leave a rest.
    """
    rest, found = difference, []
    power = (codes.square() @ weights).clamp(min=EVEN)
    signs = torch.where(seen, -1.0, 1.0).double()
    for _ in range(MOST_NAMED):
        fit = torch.nan_to_num(signs * (codes @ (weights * rest)) / power, nan=-math.inf)
        best = int(fit.argmax())
        if best in found or float(fit[best]) < ENOUGH:
            return None
        found.append(best)
        rest = rest - signs[best] * codes[best]
        if float(_weighted(rest, weights)) < ENOUGH:
            return min(found)
    return None
