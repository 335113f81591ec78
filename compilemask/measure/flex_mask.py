"""A mask as FlexAttention wants it: a `mask_mod` as one would write it by hand, and the tile map as its `BlockMask`.

Coordinates that equal the token number are compared as they are; others are looked up in a table by token. What has no
such form (trees, lists, random keys) falls back to the runs of every row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from compilemask.intervals import Intervals
from compilemask.language import program as bound
from compilemask.language.axis import Axis
from compilemask.measure.oracle.expressions import Environment, Tokens, evaluate, selected
from compilemask.measure.oracle.vectors import numbers
from compilemask.pipeline import CompiledMask

Term: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""True or false, or a number, from query and key numbers."""
MaskMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

BLOCK = 128
UNBOUNDED = 2**30
MOST_COMPARED = 8


class _NoFormError(Exception):
    """This relation has no comparison form."""


def mask_mod(compiled: CompiledMask, device: str) -> MaskMod:
    """The predicate of batch entry 0 and head 0, for all batch entries and heads."""
    try:
        visible = _program(compiled.program.variant_of(0, 0), device)
    except _NoFormError:
        visible = _from_runs(compiled, device)
    return lambda batch, head, query, key: visible(query, key)


def block_mask(compiled: CompiledMask, device: str) -> BlockMask:
    """The tiles of batch entry 0 and head 0, in the caller's token order."""
    from compilemask.tiles import build_tile_map

    tiles = build_tile_map(compiled.rows, BLOCK, BLOCK)
    kinds = torch.from_numpy(tiles.kinds()).to(device)
    partial, full = (_listed(kinds == kind) for kind in (1, 2))
    return BlockMask.from_kv_blocks(
        *partial, *full, BLOCK_SIZE=BLOCK, mask_mod=mask_mod(compiled, device),
        seq_lengths=(compiled.query_length, compiled.key_length),
    )  # fmt: skip


def _listed(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """How many and which tiles of every row, [1, 1, rows] and [1, 1, rows, columns]."""
    order = torch.argsort(chosen.to(torch.int8), dim=-1, descending=True, stable=True)
    return chosen.sum(-1, dtype=torch.int32)[None, None], order.to(torch.int32)[None, None].contiguous()


def _from_runs(compiled: CompiledMask, device: str) -> Term:
    """A comparison for every run of a row where they are few, as one would write it; else a search for the key."""
    rows = compiled.rows
    most = max(1, int(rows.runs_per_row().max(initial=1)))
    return _compared(rows, most, device) if most <= MOST_COMPARED else _searched(rows, most, device)


def _compared(rows: Intervals, most: int, device: str) -> Term:
    starts, ends = (np.zeros((most, rows.rows), np.int32) for _ in range(2))
    place, row = rows.run_places(), rows.run_rows()
    starts[place, row], ends[place, row] = rows.starts, rows.ends
    firsts, lasts = torch.from_numpy(starts).to(device), torch.from_numpy(ends).to(device)

    def visible(query: Tensor, key: Tensor) -> Tensor:
        found = (key >= firsts[0, query]) & (key < lasts[0, query])
        for run in range(1, most):
            found = found | ((key >= firsts[run, query]) & (key < lasts[run, query]))
        return found

    return visible


def _searched(rows: Intervals, most: int, device: str) -> Term:
    """A key is visible if an odd number of the row's borders (start, end, start, end, ...) lie at or before it."""
    steps = [1 << bit for bit in reversed(range((2 * most).bit_length()))]
    listed = np.zeros(2 * (rows.runs + steps[0]), np.int32)  # more behind the last, where a search may look
    listed[0 : 2 * rows.runs : 2], listed[1 : 2 * rows.runs : 2] = rows.starts, rows.ends
    borders = torch.from_numpy(listed).to(device)
    offsets = torch.from_numpy((2 * rows.offsets).astype(np.int32)).to(device)

    def visible(query: Tensor, key: Tensor) -> Tensor:
        found, end = offsets[query], offsets[query + 1]
        for step in steps:
            there = found + step
            found = torch.where((there <= end) & (borders[there - 1] <= key), there, found)
        return found % 2 == 1

    return visible


def _program(variant: bound.Variant, device: str) -> Term:
    """Rules from top to bottom: a later one adds what it shows or takes away what it hides; limits cut at the end."""
    shown: Term | None = None
    limits: list[Term] = []
    axes = variant.queries, variant.keys
    for rule in variant.rules.rules:
        term = _relation(rule.how, axes, device)
        if isinstance(rule, bound.Limit):
            limits.append(term)
            continue
        sides = _both(
            _chosen(rule.who, axes[0], device, of_query=True), _chosen(rule.whom, axes[1], device, of_query=False)
        )
        matched = _both(sides, term) or _everywhere
        if rule.shows:
            shown = matched if shown is None else _join(torch.logical_or, shown, matched)
        elif shown is not None:
            shown = _join(torch.logical_and, shown, _inverted(matched))
    result = shown or _nowhere
    for limit in limits:
        result = _join(torch.logical_and, result, limit)
    return result


def _everywhere(query: Tensor, key: Tensor) -> Tensor:
    return (query >= 0) & (key >= 0)


def _nowhere(query: Tensor, key: Tensor) -> Tensor:
    return (query < 0) & (key < 0)


def _join(operator: Callable[[Tensor, Tensor], Tensor], left: Term, right: Term) -> Term:
    return lambda query, key: operator(left(query, key), right(query, key))


def _inverted(term: Term) -> Term:
    return lambda query, key: ~term(query, key)


def _both(left: Term | None, right: Term | None) -> Term | None:
    if left is None or right is None:
        return left or right
    return _join(torch.logical_and, left, right)


def _chosen(selector: bound.Selector, axis: Axis, device: str, *, of_query: bool) -> Term | None:
    """Whether a selector holds the query (or the key); None where it holds all."""
    held = selected(selector, Tokens(axis, np.arange(axis.length, dtype=np.int64)))
    if held.all():
        return None
    borders = np.flatnonzero(np.diff(np.concatenate(([False], held, [False]))))
    if len(borders) == 2:
        first, last = int(borders[0]), int(borders[1])
        if of_query:
            return lambda query, key: (query >= first) & (query < last)
        return lambda query, key: (key >= first) & (key < last)
    table = torch.from_numpy(held).to(device)
    return (lambda query, key: table[query]) if of_query else (lambda query, key: table[key])


def _relation(node: bound.Relation, axes: tuple[Axis, Axis], device: str) -> Term:
    match node:
        case bound.AllPairs():
            return _everywhere
        case bound.NoPairs():
            return _nowhere
        case bound.Both() | bound.Either():
            operator = torch.logical_and if isinstance(node, bound.Both) else torch.logical_or
            result = _relation(node.parts[0], axes, device)
            for part in node.parts[1:]:
                result = _join(operator, result, _relation(part, axes, device))
            return result
        case bound.Complement():
            return _inverted(_relation(node.relation, axes, device))
        case bound.Same():
            return _of_distances(node.by, axes, device, lambda gaps: _all([gap == 0 for gap in gaps]))
        case bound.Causal() if len(node.by.parts) == 1:
            return _of_distances(node.by, axes, device, lambda gaps: gaps[0] >= 0)
        case bound.Before() if len(node.by.parts) == 1:
            return _of_distances(node.by, axes, device, lambda gaps: gaps[0] > 0)
        case bound.Window(behind=bound.Constant(value=behind), ahead=bound.Constant(value=ahead)):
            most = behind if isinstance(behind, int) else UNBOUNDED
            least = -ahead if isinstance(ahead, int) else -UNBOUNDED
            return _of_distances(node.by, axes, device, lambda gaps: (gaps[0] <= most) & (gaps[0] >= least))
        case bound.Disc(radius=bound.Constant(value=int(radius))):
            limit = radius**2 + (1 if node.inclusive else 0)
            return _of_distances(node.by, axes, device, lambda gaps: _sum([gap * gap for gap in gaps]) < limit)
    raise _NoFormError


def _all(terms: list[Tensor]) -> Tensor:
    result = terms[0]
    for term in terms[1:]:
        result = result & term
    return result


def _sum(terms: list[Tensor]) -> Tensor:
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def _of_distances(by: bound.By, axes: tuple[Axis, Axis], device: str, judge: Callable[[list[Tensor]], Tensor]) -> Term:
    """A judgement of query coordinate minus key coordinate, part by part."""
    pairs = []
    for part in by.parts:
        if part.enclosing is not None and len(part.enclosing.names):
            raise _NoFormError
        pairs.append((_column(part, axes[0], device), _column(part, axes[1], device)))
    return lambda query, key: judge([ours(query) - theirs(key) for ours, theirs in pairs])


def _column(part: bound.Part, axis: Axis, device: str) -> Callable[[Tensor], Tensor]:
    """A coordinate by token number: the number itself, shifted, or a look-up."""
    everyone = Tokens(axis, np.arange(axis.length, dtype=np.int64))
    found = numbers(evaluate(part.expression, Environment(this=everyone)))
    if not found.present.all() and not isinstance(part.expression, bound.Coordinate):
        raise _NoFormError
    values: NDArray[np.int64] = np.broadcast_to(found.values, everyone.slots.shape)
    shift = int(values[0]) if len(values) else 0
    if np.array_equal(values, everyone.slots + shift):
        return lambda token: token + shift
    table = torch.from_numpy(values.astype(np.int32)).to(device)
    return lambda token: table[token]
