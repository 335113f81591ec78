"""`order best`: the known token orders, each with the tiles it makes a kernel visit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import CompileMaskError
from compilemask.intervals import terms
from compilemask.intervals.lowering import Lowered, in_order
from compilemask.intervals.order import UNMOVED, TokenOrder
from compilemask.intervals.relations import relation_term
from compilemask.intervals.solve import Form
from compilemask.intervals.vector import Tokens
from compilemask.intervals.vectors import evaluate
from compilemask.language import program as ir
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.curves import hilbert, morton
from compilemask.language.program import Side
from compilemask.source import Span
from compilemask.tiles import visited_tiles

BLOCK = 128
PATCHES_2D = ((8, 8), (8, 16), (16, 8), (16, 16))
PATCHES_3D = ((2, 8, 8), (4, 4, 8), (4, 8, 8))
RASTER = "as written"
RUNS_MADE = 1 << 21
PIECES_TRIED = 1 << 25  # an order that cuts a mask into more pieces than this is far from the best

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One order and how many 128 x 128 tiles it visits, over all distinct masks; None: too many runs to count."""

    name: str
    order: TokenOrder
    visited: int | None


def candidates(variants: tuple[ir.Variant, ...], kept: tuple[Lowered, ...]) -> tuple[Candidate, ...]:
    """The caller's own order first, then every known one that moves something, with its tiles."""
    variant = variants[0]
    orders = {RASTER: TokenOrder()}
    ours = dict(_axis_orders(variant.queries, variant))
    theirs = ours if variant.keys is variant.queries else dict(_axis_orders(variant.keys, variant))
    for name in dict.fromkeys((*ours, *theirs)):
        order = TokenOrder(ours.get(name), theirs.get(name))
        if order.moves:
            orders[name] = order
    return tuple(Candidate(name, order, visited_by_all(variants, kept, order)) for name, order in orders.items())


def best(found: tuple[Candidate, ...]) -> Candidate:
    """The candidate with the fewest tiles; the earlier of equals, so the caller's own order where nothing helps."""
    return min(found, key=lambda one: np.inf if one.visited is None else one.visited)


def visited_by_all(variants: tuple[ir.Variant, ...], kept: tuple[Lowered, ...], order: TokenOrder) -> int | None:
    """Tiles that all distinct masks visit in an order; None where they can't be counted in a time to speak of."""
    try:
        there = [in_order(one, variant, order, RUNS_MADE) for one, variant in zip(kept, variants, strict=True)]
        if sum(one.pieces_in(order) for one in there) > PIECES_TRIED:
            return None
        return sum(visited_in(one, order, BLOCK, BLOCK) for one in there)
    except CompileMaskError:
        return None


def visited_in(lowered: Lowered, order: TokenOrder, block_m: int, block_n: int) -> int:
    """Tiles that a mask visits in an order."""
    if lowered.order.moves and lowered.order is order:
        return visited_in(Lowered(lowered.form, lowered.intervals), UNMOVED, block_m, block_n)
    intervals = lowered.intervals if not lowered.order.moves else lowered.intervals_in(lowered.form)
    if lowered.form is Form.ROW:
        return visited_tiles(intervals, block_m, block_n, order.queries, order.keys)
    return visited_tiles(intervals, block_n, block_m, order.keys, order.queries)


# ---------------------------------------------------------------- the known orders


def _axis_orders(axis: Axis, variant: ir.Variant) -> Iterator[tuple[str, NDArray[np.int32]]]:
    named = [*_grid_keys(axis), *_coordinate_keys(axis, variant)]
    for name, slots, keys in named:
        held = np.arange(axis.length, dtype=np.int32)
        held[slots] = slots[np.lexsort(keys[::-1])]
        if (held[slots] != slots).any():
            yield name, held


_Keyed = tuple[str, Ints, list[Ints]]


def _grid_keys(axis: Axis) -> Iterator[_Keyed]:
    """Patches and curves inside of every grid."""
    t, y, x = (axis.column(kind) for kind in (CoordinateKind.T, CoordinateKind.Y, CoordinateKind.X))
    flat = np.flatnonzero(_has(axis, y) & _has(axis, x) & ~_has(axis, t))
    if flat.size:
        grid, row, column = (values[flat] for values in (axis.innermost(), y.values, x.values))
        for height, width in PATCHES_2D:
            yield f"{height} x {width} patches", flat, [grid, row // height, column // width]
        for name, curve in (("hilbert", hilbert), ("morton", morton)):
            place = curve([row, column])
            if place is not None:
                yield name, flat, [grid, place]
    deep = np.flatnonzero(_has(axis, t))
    if deep.size:
        grid, frame, row, column = (v[deep] for v in (axis.innermost(), t.values, y.values, x.values))
        for depth, height, width in PATCHES_3D:
            keys = [grid, frame // depth, row // height, column // width]
            yield f"{depth} x {height} x {width} patches", deep, keys
        place = morton([frame, row, column])
        if place is not None:
            yield "morton", deep, [grid, place]


def _has(axis: Axis, column: object) -> NDArray[np.bool_]:
    present = getattr(column, "present", None)
    return np.ones(axis.length, np.bool_) if present is None else present


def _coordinate_keys(axis: Axis, variant: ir.Variant) -> Iterator[_Keyed]:
    """By every coordinate that a rule compares, other than the places of tokens."""
    seen: set[object] = set()
    for rule in variant.rules.rules:
        for coord in _compared(relation_term(rule.how)):
            if coord in seen or len(coord.parts) != 1 or _is_place(coord.parts[0]):
                continue
            seen.add(coord)
            slots = np.flatnonzero(~axis.padding)
            try:
                vector = evaluate(coord.parts[0], dict.fromkeys(Side, Tokens(axis, slots)))
            except CompileMaskError:
                continue
            if vector.values.dtype == object or not vector.values.ndim:
                continue
            values = np.broadcast_to(vector.values, slots.shape).astype(np.int64)
            if vector.present is not None:
                slots, values = slots[vector.present], values[vector.present]
            yield f"by {_text(coord.parts[0].span)}", slots, [values]


def _is_place(expression: ir.Expression) -> bool:
    places = (CoordinateKind.POS, CoordinateKind.INDEX)
    return isinstance(expression, ir.Constant) or (isinstance(expression, ir.Coordinate) and expression.kind in places)


def _compared(term: terms.Term) -> Iterator[terms.Expressed]:
    match term:
        case terms.And(parts=parts) | terms.Or(parts=parts):
            for part in parts:
                yield from _compared(part)
        case terms.Not(part=part):
            yield from _compared(part)
        case terms.Compare(query=query, key=key):
            for coord in (query, key):
                if isinstance(coord, terms.Expressed):
                    yield coord


def _text(span: Span | None) -> str:
    if span is None or span.line != span.end_line:
        return "a coordinate"
    text = span.source.line(span.line)[span.column - 1 : span.end_column - 1]
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
