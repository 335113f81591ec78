"""Selectors for whole axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compilemask.errors import InternalError
from compilemask.intervals.vector import Bools, Tokens, anywhere, value_error
from compilemask.intervals.vectors import evaluate, holds
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.program import Side


def selected(selector: ir.Selector, axis: Axis) -> Bools:
    """[tokens] which tokens of the axis the selector holds; never padding."""
    effort.spend(axis.length + effort.A_NODE, selector.span)
    match selector:
        case ir.AllTokens():
            return ~axis.padding
        case ir.RegionTokens(path=path):
            return axis.in_path(path)
        case ir.UnionTokens(parts=parts):
            chosen = selected(parts[0], axis)
            for part in parts[1:]:
                chosen = chosen | selected(part, axis)
            return chosen
        case ir.WhereTokens(of=of, condition=condition):
            chosen = selected(of, axis)
            return _keep(axis, chosen, lambda tokens: holds(condition, {Side.THIS: tokens}))
        case ir.NumberedTokens() | ir.RangeTokens():
            return _by_number(selector, axis)
        case ir.EndTokens():
            return _ends(selector, axis)
    raise InternalError(f"selector {selector} is not known")


def _keep(axis: Axis, chosen: Bools, condition: Callable[[Tokens], Bools]) -> Bools:
    slots = np.flatnonzero(chosen)
    kept = np.zeros(axis.length, np.bool_)
    kept[slots] = condition(Tokens(axis, slots))
    return kept


def _where_present(chosen: Bools, present: Bools | None) -> Bools:
    return chosen if present is None else chosen & present


def _by_number(selector: ir.NumberedTokens | ir.RangeTokens, axis: Axis) -> Bools:
    region = selector.path[-1]
    kind = CoordinateKind

    def inside(tokens: Tokens) -> Bools:
        scope = {Side.THIS: tokens}
        number = axis.column(kind.NUMBER, region).values[tokens.slots]
        if isinstance(selector, ir.NumberedTokens):
            index = evaluate(selector.index, scope)
            return _where_present(number == index.values, index.present)
        chosen = np.ones(number.shape, np.bool_)
        for end, is_start in ((selector.start, True), (selector.stop, False)):
            if end is not None:
                value = evaluate(end, scope)
                chosen &= number >= value.values if is_start else number < value.values
                chosen = _where_present(chosen, value.present)
        return chosen

    return _keep(axis, axis.in_path(selector.path), inside)


def _ends(selector: ir.EndTokens, axis: Axis) -> Bools:
    def inside(tokens: Tokens) -> Bools:
        count = evaluate(selector.count, {Side.THIS: tokens})
        if anywhere(count.values < 0, count.present):
            raise value_error(f"`{selector.end.value} n of` has a negative n", selector.count.span)
        at = axis.column(CoordinateKind.AT, selector.region)
        place = at.values[tokens.slots]
        if selector.end is ir.End.FIRST:
            chosen = place < count.values
        else:
            size = axis.column(CoordinateKind.SIZE, selector.region).values[tokens.slots]
            chosen = place >= size - count.values
        chosen = chosen if count.present is None else chosen & count.present
        return chosen if at.present is None else chosen & at.present[tokens.slots]

    return _keep(axis, selected(selector.of, axis), inside)
