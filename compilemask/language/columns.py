"""Selectors and expressions for all tokens of an axis: what positions, storage orders and the checks of files need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.analysis import constant_in_runs
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import Axis, Column, CoordinateKind
from compilemask.language.column_parts import Flags, Slots, Values, numbers_of
from compilemask.language.column_values import evaluate

SMALL = 512


class AxisFrame:
    """The tokens of an axis."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self._totals: dict[int, tuple[ir.RunningTotal, Values]] = {}

    def column(self, kind: CoordinateKind, region: str | None) -> Column:
        return self.axis.column(kind, region)

    def select(self, selector: ir.Selector, slots: Slots) -> Flags:
        return select(selector, self, slots)

    def total(self, expression: ir.RunningTotal) -> Values:
        if id(expression) not in self._totals:
            self._totals[id(expression)] = (expression, self._picked(expression))
        return self._totals[id(expression)][1]

    def _picked(self, expression: ir.RunningTotal) -> Values:
        whole, slots = self.axis.uncut(np.arange(self.axis.length, dtype=np.int64))
        if whole is self.axis:
            return self._running(expression)
        found = AxisFrame(whole).total(expression)
        return Values(found.values[slots], found.mask()[slots])

    def _running(self, expression: ir.RunningTotal) -> Values:
        real = np.flatnonzero(~self.axis.padding)
        found = evaluate(expression.operand, self, real)
        if found.values.dtype == np.object_:
            raise EvaluationError("`cumsum` over tokens needs a number or a condition")
        values = np.zeros(self.axis.length, dtype=np.int64)
        values[real] = np.where(found.mask(), found.values, 0)
        present = np.zeros(self.axis.length, dtype=np.bool_)
        present[real] = found.mask()
        order = np.arange(len(values)) if self.axis.written is None else self.axis.written
        in_order = np.zeros_like(values)
        in_order[order] = values
        return Values(np.cumsum(in_order)[order], present)


def select(selector: ir.Selector, frame: AxisFrame, slots: Slots) -> Flags:
    """Which of these tokens the selector holds; padding never."""
    axis = frame.axis
    effort.spend(len(slots) + effort.A_NODE, selector.span)
    match selector:
        case ir.AllTokens():
            return ~axis.padding[slots]
        case ir.RegionTokens(_, path):
            return axis.in_path(path)[slots]
        case ir.NumberedTokens() | ir.RangeTokens():
            return _numbered(selector, frame, slots)
        case ir.EndTokens():
            return _ends(selector, frame, slots)
        case ir.WhereTokens(_, of, condition):
            chosen = select(of, frame, slots)
            chosen[chosen] = _by_run(condition, frame, slots[chosen]).true()
            return chosen
        case ir.UnionTokens(_, parts):
            chosen = np.zeros(len(slots), dtype=np.bool_)
            for part in parts:
                chosen |= select(part, frame, slots)
            return chosen
    raise AssertionError(selector)


def selected(selector: ir.Selector, axis: Axis) -> Flags:
    """Which tokens of the axis the selector holds, bool [tokens]."""
    return select(selector, AxisFrame(axis), np.arange(axis.length, dtype=np.int64))


def column_of(expression: ir.Expression, axis: Axis, slots: Slots | None = None) -> Values:
    """The value of an expression for all tokens of an axis, or for some."""
    return _by_run(expression, AxisFrame(axis), np.arange(axis.length, dtype=np.int64) if slots is None else slots)


def one_per_run(axis: Axis, slots: Slots) -> tuple[Slots, NDArray[np.int64]]:
    """The first of these tokens of every run, and which of them stands for each token. The slots ascend."""
    if axis.written is None and axis.picked is None:
        ends = np.cumsum(axis.runs.length)
        begin, end = np.searchsorted(slots, ends - axis.runs.length), np.searchsorted(slots, ends)
        some = np.flatnonzero(end > begin)
        return slots[begin[some]], np.repeat(np.arange(len(some)), (end - begin)[some])
    run = axis.run_of()[slots]
    first = np.full(len(axis.runs.length), -1, dtype=np.int64)
    first[run[::-1]] = slots[::-1]
    held = np.flatnonzero(first >= 0)
    place = np.zeros(len(first), dtype=np.int64)
    place[held] = np.arange(len(held))
    return first[held], place[run]


def _by_run(expression: ir.Expression, frame: AxisFrame, slots: Slots) -> Values:
    """`evaluate`, once per run where all tokens of a run have the same value."""
    if isinstance(expression, ir.Constant | ir.Coordinate) or len(slots) < SMALL or not constant_in_runs(expression):
        return evaluate(expression, frame, slots)
    chosen, place = one_per_run(frame.axis, slots)
    found = evaluate(expression, frame, chosen)
    return Values(found.values[place], None if found.present is None else found.present[place])


# ---------------------------------------------------------------- selectors


def _numbered(selector: ir.NumberedTokens | ir.RangeTokens, frame: AxisFrame, slots: Slots) -> Flags:
    region = selector.path[-1]
    chosen = frame.axis.in_path(selector.path)[slots]
    inside = slots[chosen]
    if not len(inside):
        return chosen
    numbers = frame.column(CoordinateKind.NUMBER, region).values[inside]

    def end(expression: ir.Expression) -> tuple[NDArray[np.int64], Flags]:
        found = evaluate(expression, frame, inside)
        return numbers_of(found, "an instance number"), found.mask()

    kept = np.ones(len(inside), dtype=np.bool_)
    if isinstance(selector, ir.NumberedTokens):
        wanted, present = end(selector.index)
        kept = (numbers == wanted) & present
    else:
        if selector.start is not None:
            wanted, present = end(selector.start)
            kept &= (numbers >= wanted) & present
        if selector.stop is not None:
            wanted, present = end(selector.stop)
            kept &= (numbers < wanted) & present
    chosen[chosen] = kept
    return chosen


def _ends(selector: ir.EndTokens, frame: AxisFrame, slots: Slots) -> Flags:
    chosen = select(selector.of, frame, slots)
    inside = slots[chosen]
    if not len(inside):
        return chosen
    found = evaluate(selector.count, frame, inside)
    count = numbers_of(found, f"the count of `{selector.end.value}`")
    negative = (count < 0) & found.mask()
    if negative.any():
        first = int(np.flatnonzero(negative)[0])
        raise EvaluationError(
            f"`{selector.end.value} {int(count[first])}`: the count is negative", slot=int(inside[first])
        )
    at = frame.column(CoordinateKind.AT, selector.region).values[inside]
    if selector.end is ir.End.FIRST:
        kept = at < count
    else:
        kept = at >= frame.column(CoordinateKind.SIZE, selector.region).values[inside] - count
    chosen[chosen] = kept & found.mask()
    return chosen
