"""Expressions and selectors of one token, evaluated for many tokens at once.

The binder needs it for positions, storage orders, sizes of repeated regions and the checks of whole files; the result
equals `meaning` token by token. `and`, `or` and `if` evaluate their later parts only for the tokens that get there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from compilemask.language import arithmetic as scalar
from compilemask.language import program as ir
from compilemask.language.analysis import constant_in_runs
from compilemask.language.arithmetic import AbsentValueError, EvaluationError
from compilemask.language.axis import Axis, Column, CoordinateKind
from compilemask.language.values import INT64_MAX, INT64_MIN, ListValue, Value

SMALL = 512

Slots = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Frame(Protocol):
    """Where coordinates of many tokens come from."""

    def column(self, kind: CoordinateKind, region: str | None) -> Column: ...

    def select(self, selector: ir.Selector, slots: Slots) -> Flags: ...

    def total(self, expression: ir.RunningTotal) -> Values: ...


class Values(NamedTuple):
    """A value per token: int64 numbers, bool conditions, or objects (strings, lists, `any`); `present` None: all."""

    values: NDArray[np.int64] | NDArray[np.bool_] | NDArray[np.object_]
    present: Flags | None

    def mask(self) -> Flags:
        """Which values are present."""
        return np.ones(len(self.values), dtype=np.bool_) if self.present is None else self.present

    def true(self) -> Flags:
        """A condition as flags: absent is false."""
        flags = self.values.astype(np.bool_) if self.values.dtype == np.bool_ else _conditions(self)
        return flags if self.present is None else flags & self.present


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
            self._totals[id(expression)] = (expression, self._running(expression))
        return self._totals[id(expression)][1]

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
        if self.axis.picked is not None:
            raise EvaluationError("`cumsum` over tokens needs the whole layout", "`queries are` has cut it")
        in_order = np.zeros_like(values)
        in_order[order] = values
        return Values(np.cumsum(in_order)[order], present)


def evaluate(expression: ir.Expression, frame: Frame, slots: Slots) -> Values:
    """The value of an expression (side THIS, or one side only) for these tokens.

    Raises EvaluationError, with `slot`, where a token has no value that it should have.
    """
    found = _EVALUATORS[type(expression)](expression, frame, slots)
    if found.present is not None and found.present.all():
        return Values(found.values, None)
    return found


def select(selector: ir.Selector, frame: AxisFrame, slots: Slots) -> Flags:
    """Which of these tokens the selector holds; padding never."""
    axis = frame.axis
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
        return _numbers(found, "an instance number"), found.mask()

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
    count = _numbers(found, f"the count of `{selector.end.value}`")
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


# ---------------------------------------------------------------- expressions


def _constant(expression: ir.Constant, frame: Frame, slots: Slots) -> Values:
    value = expression.value
    if type(value) is bool:
        return Values(np.full(len(slots), value, dtype=np.bool_), None)
    if type(value) is int:
        return Values(np.full(len(slots), value, dtype=np.int64), None)
    values = np.empty(len(slots), dtype=np.object_)
    values.fill(value)
    return Values(values, None)


def _coordinate(expression: ir.Coordinate, frame: Frame, slots: Slots) -> Values:
    column = frame.column(expression.kind, expression.region)
    return Values(column.values[slots], None if column.present is None else column.present[slots])


def _cases(expression: ir.Cases, frame: Frame, slots: Slots) -> Values:
    open_ = np.ones(len(slots), dtype=np.bool_)
    pieces: list[tuple[Slots, Values]] = []
    for case in reversed(expression.cases):
        left = np.flatnonzero(open_)
        held = left[frame.select(case.selector, slots[left])]
        open_[held] = False
        pieces.append((held, evaluate(case.value, frame, slots[held])))
    return _assemble(len(slots), pieces)


def _arithmetic(expression: ir.Arithmetic, frame: Frame, slots: Slots) -> Values:
    left, right = evaluate(expression.left, frame, slots), evaluate(expression.right, frame, slots)
    present = _and(left.present, right.present)
    operator = expression.operator
    numeric = left.values.dtype == np.int64 and right.values.dtype == np.int64
    a, b = (found.values.astype(np.int64, copy=False) if numeric else _NOTHING for found in (left, right))
    if not numeric or _needs_care(operator, a, b):
        return _each(lambda x, y: scalar.arithmetic(operator, x, y), (left, right), slots)
    match operator:
        case ir.ArithmeticOperator.ADD:
            return Values(a + b, present)
        case ir.ArithmeticOperator.SUBTRACT:
            return Values(a - b, present)
        case ir.ArithmeticOperator.MULTIPLY:
            return Values(a * b, present)
        case ir.ArithmeticOperator.FLOOR_DIVIDE:
            return Values(np.floor_divide(a, b, dtype=np.int64), present)
        case _:
            return Values(np.mod(a, b, dtype=np.int64), present)


def _needs_care(operator: ir.ArithmeticOperator, a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether some value might overflow or divide by zero, so that each is computed by itself."""
    if not len(a):
        return False
    if operator in (ir.ArithmeticOperator.FLOOR_DIVIDE, ir.ArithmeticOperator.MODULO):
        return bool((b == 0).any()) or (int(b.min()) < 0 and int(a.min()) == INT64_MIN)
    large_a, large_b = (max(abs(int(values.min())), abs(int(values.max()))) for values in (a, b))
    return (large_a * large_b if operator is ir.ArithmeticOperator.MULTIPLY else large_a + large_b) > INT64_MAX


def _negative(expression: ir.Negative, frame: Frame, slots: Slots) -> Values:
    zero = ir.Constant(expression.span, 0)
    return _arithmetic(
        ir.Arithmetic(expression.span, ir.ArithmeticOperator.SUBTRACT, zero, expression.operand), frame, slots
    )


def _lookup(expression: ir.Lookup, frame: Frame, slots: Slots) -> Values:
    index = evaluate(expression.index, frame, slots)
    table = expression.values
    if isinstance(table, ir.Constant) and isinstance(table.value, ListValue) and index.values.dtype == np.int64:
        return _gather(table.value, index, slots)
    if isinstance(table, ir.Lookup) and isinstance(table.values, ir.Constant) and index.values.dtype == np.int64:
        flat = nested_table(table.values.value)
        if flat is not None:
            return _gather_nested(flat, evaluate(table.index, frame, slots), index, slots)
    found = evaluate(table, frame, slots)
    return _each(lambda values, place: scalar.lookup(values, place, from_end=False), (found, index), slots)


def _gather(table: ListValue, index: Values, slots: Slots) -> Values:
    places = _checked_places(index, np.full(len(slots), len(table), dtype=np.int64), slots)
    values = table.array if table.array is not None else objects(table.items)
    if not len(values):
        return Values(np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.bool_))
    return Values(values[places], index.present)


def _checked_places(index: Values, sizes: NDArray[np.int64], slots: Slots) -> NDArray[np.int64]:
    places = _numbers(index, "the index")
    wrong = (places < 0) | (places >= sizes)
    if wrong.any():
        failing = wrong & index.mask()
        if failing.any():
            first = int(np.flatnonzero(failing)[0])
            place, size = int(places[first]), int(sizes[first])
            hint = (
                "an index that depends on a token never counts from the end: exclude -1 with `where`"
                if place < 0
                else None
            )
            raise EvaluationError(f"index {place} is outside of a list of {size}", hint, int(slots[first]))
        places = np.where(wrong, 0, places)
    return places


class NestedTable(NamedTuple):
    """A list of flat lists as one: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int64] | NDArray[np.bool_] | NDArray[np.object_]
    offsets: NDArray[np.int64]


def nested_table(table: Value) -> NestedTable | None:
    """A list of lists as one flat table, None where it is anything else."""
    if not isinstance(table, ListValue) or not len(table) or table.array is not None:
        return None
    rows = table.items
    if not all(isinstance(row, ListValue) for row in rows):
        return None
    lists = [row for row in rows if isinstance(row, ListValue)]
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    kinds = {row.array.dtype if row.array is not None else None for row in lists if len(row)}
    if len(kinds) == 1 and None not in kinds:
        flat = np.concatenate([row.array for row in lists if row.array is not None and len(row)])
        return NestedTable(flat, offsets)
    return NestedTable(objects([entry for row in lists for entry in row]), offsets)


def _gather_nested(table: NestedTable, outer: Values, inner: Values, slots: Slots) -> Values:
    rows = _checked_places(outer, np.full(len(slots), len(table.offsets) - 1, dtype=np.int64), slots)
    present = _and(outer.present, inner.present)
    places = _checked_places(Values(inner.values, present), table.offsets[rows + 1] - table.offsets[rows], slots)
    if not len(table.flat):
        return Values(np.zeros(len(slots), dtype=np.int64), np.zeros(len(slots), dtype=np.bool_))
    return Values(table.flat[np.minimum(table.offsets[rows] + places, len(table.flat) - 1)], present)


def _slice(expression: ir.Slice, frame: Frame, slots: Slots) -> Values:
    ends = [None if end is None else evaluate(end, frame, slots) for end in (expression.start, expression.stop)]
    given = [end for end in ends if end is not None]

    def cut(values: Value, *rest: Value) -> Value:
        left = list(rest)
        start, stop = (None if end is None else left.pop(0) for end in ends)
        return scalar.slice_of(values, start, stop, from_end=False)

    return _each(cut, (evaluate(expression.values, frame, slots), *given), slots)


def _call(expression: ir.Call, frame: Frame, slots: Slots) -> Values:
    arguments = tuple(evaluate(argument, frame, slots) for argument in expression.arguments)
    fast = _fast_call(expression, arguments)
    return (
        fast if fast is not None else _each(lambda *values: scalar.call(expression.function, values), arguments, slots)
    )


def _fast_call(expression: ir.Call, arguments: tuple[Values, ...]) -> Values | None:
    function = expression.function
    numeric = all(argument.values.dtype == np.int64 for argument in arguments)
    if numeric and len(arguments) == 2 and function in (ir.Function.MIN, ir.Function.MAX):
        a, b = (argument.values for argument in arguments)
        chosen = np.minimum(a, b) if function is ir.Function.MIN else np.maximum(a, b)
        return Values(chosen.astype(np.int64), _and(arguments[0].present, arguments[1].present))
    if function not in (ir.Function.COUNT, ir.Function.FIND) or len(arguments) != 2:
        return None
    table = expression.arguments[0]
    if not isinstance(table, ir.Constant) or not isinstance(table.value, ListValue):
        return None
    entries, wanted = table.value.array, arguments[1]
    if entries is None or entries.dtype != np.int64 or wanted.values.dtype != np.int64 or not len(entries):
        return None
    if function is ir.Function.COUNT:
        scalar.call(function, (table.value, 0))
        return Values(np.searchsorted(entries, wanted.values, side="right").astype(np.int64), wanted.present)
    order = np.argsort(entries, kind="stable")
    places = np.minimum(np.searchsorted(entries[order], wanted.values), len(entries) - 1)
    found = order[places]
    return Values(found.astype(np.int64), _and(wanted.present, entries[found] == wanted.values))


def _running_total(expression: ir.RunningTotal, frame: Frame, slots: Slots) -> Values:
    total = frame.total(expression)
    return Values(total.values[slots], None if total.present is None else total.present[slots])


def _conditional(expression: ir.Conditional, frame: Frame, slots: Slots) -> Values:
    holds = evaluate(expression.condition, frame, slots).true()
    yes, no = np.flatnonzero(holds), np.flatnonzero(~holds)
    return _assemble(
        len(slots),
        [
            (yes, evaluate(expression.value, frame, slots[yes])),
            (no, evaluate(expression.otherwise, frame, slots[no])),
        ],
    )


def _comparison(expression: ir.Comparison, frame: Frame, slots: Slots) -> Values:
    left, right = evaluate(expression.left, frame, slots), evaluate(expression.right, frame, slots)
    operator = expression.operator
    present = _and(left.present, right.present)
    if operator in (ir.ComparisonOperator.IN, ir.ComparisonOperator.NOT_IN):
        flags = _contained(expression, left)
        if flags is not None:
            flags = flags if operator is ir.ComparisonOperator.IN else ~flags
            return Values(flags if present is None else flags & present, None)
    a, b = left.values, right.values
    if a.dtype == b.dtype and (a.dtype == np.int64 or (a.dtype == np.bool_ and operator in _EQUALITIES)):
        compare = _COMPARISONS[operator]
        flags = compare(a, b)
    else:
        flags = _each(lambda x, y: scalar.compare(operator, x, y), (left, right), slots).values.astype(np.bool_)
    return Values(flags if present is None else flags & present, None)


def _contained(expression: ir.Comparison, left: Values) -> Flags | None:
    table = expression.right
    if not isinstance(table, ir.Constant) or not isinstance(table.value, ListValue):
        return None
    if not len(table.value):
        return np.zeros(len(left.values), dtype=np.bool_)
    if table.value.array is None or table.value.array.dtype != left.values.dtype:
        return None
    return np.isin(left.values, table.value.array)


def _all_of(expression: ir.AllOf, frame: Frame, slots: Slots) -> Values:
    flags = np.ones(len(slots), dtype=np.bool_)
    for part in expression.parts:
        flags[flags] = evaluate(part, frame, slots[flags]).true()
    return Values(flags, None)


def _any_of(expression: ir.AnyOf, frame: Frame, slots: Slots) -> Values:
    flags = np.zeros(len(slots), dtype=np.bool_)
    for part in expression.parts:
        flags[~flags] = evaluate(part, frame, slots[~flags]).true()
    return Values(flags, None)


def _negation(expression: ir.Negation, frame: Frame, slots: Slots) -> Values:
    return Values(~evaluate(expression.operand, frame, slots).true(), None)


def _listing(expression: ir.Listing, frame: Frame, slots: Slots) -> Values:
    parts = tuple(evaluate(part, frame, slots) for part in expression.parts)
    return _each(lambda *values: ListValue(values), parts, slots)


# ---------------------------------------------------------------- values put together


def objects(items: list[Value] | tuple[Value, ...]) -> NDArray[np.object_]:
    """The values as an object array, lists staying lists."""
    array = np.empty(len(items), dtype=np.object_)
    for place, item in enumerate(items):
        array[place] = item
    return array


def _each(function: Callable[..., Value], arguments: tuple[Values, ...], slots: Slots) -> Values:
    """The function value by value, where all arguments are present."""
    present: Flags | None = None
    for argument in arguments:
        present = _and(present, argument.present)
    keep = np.ones(len(slots), dtype=np.bool_) if present is None else present.copy()
    columns = [argument.values.tolist() for argument in arguments]
    results: list[Value] = []
    for place in np.flatnonzero(keep).tolist():
        try:
            results.append(function(*(column[place] for column in columns)))
        except AbsentValueError:
            keep[place] = False
        except EvaluationError as error:
            raise EvaluationError(error.message, error.hint, int(slots[place])) from None
    return _assemble(len(slots), [(np.flatnonzero(keep), pack(results))])


def pack(results: list[Value]) -> Values:
    """Values as the narrowest kind of array that holds them."""
    if all(type(result) is int for result in results):
        return Values(np.array(results, dtype=np.int64), None)
    if all(type(result) is bool for result in results):
        return Values(np.array(results, dtype=np.bool_), None)
    return Values(objects(results), None)


def _assemble(length: int, pieces: list[tuple[NDArray[np.intp], Values]]) -> Values:
    """Values of disjoint sets of places put together; places in no set are absent."""
    filled = [(places, values) for places, values in pieces if len(places)]
    kinds = {values.values.dtype for _, values in filled}
    kind: np.dtype[np.generic] = kinds.pop() if len(kinds) == 1 else np.dtype(np.object_ if kinds else np.int64)
    result = np.zeros(length, dtype=kind)
    present = np.zeros(length, dtype=np.bool_)
    for places, values in filled:
        result[places] = values.values if kind != np.object_ else objects(values.values.tolist())
        present[places] = values.mask()
    return Values(result, None if present.all() else present)


def _and(left: Flags | None, right: Flags | None) -> Flags | None:
    if left is None or right is None:
        return left if right is None else right
    return left & right


def _numbers(found: Values, what: str) -> NDArray[np.int64]:
    if found.values.dtype == np.int64:
        return found.values.astype(np.int64, copy=False)
    present = found.mask()
    result = np.zeros(len(found.values), dtype=np.int64)
    result[present] = [scalar.number(value, what) for value in found.values[present].tolist()]
    return result


def _conditions(found: Values) -> Flags:
    present = found.mask()
    result = np.zeros(len(found.values), dtype=np.bool_)
    result[present] = [scalar.condition(value, "this") for value in found.values[present].tolist()]
    return result


_NOTHING = np.zeros(0, dtype=np.int64)
_EQUALITIES = (ir.ComparisonOperator.EQUAL, ir.ComparisonOperator.NOT_EQUAL)
_COMPARISONS: dict[ir.ComparisonOperator, Callable[..., Flags]] = {
    ir.ComparisonOperator.LESS: np.less,
    ir.ComparisonOperator.LESS_EQUAL: np.less_equal,
    ir.ComparisonOperator.EQUAL: np.equal,
    ir.ComparisonOperator.NOT_EQUAL: np.not_equal,
    ir.ComparisonOperator.GREATER_EQUAL: np.greater_equal,
    ir.ComparisonOperator.GREATER: np.greater,
}
_EVALUATORS: dict[type, Callable[..., Values]] = {
    ir.Constant: _constant,
    ir.Coordinate: _coordinate,
    ir.Cases: _cases,
    ir.Arithmetic: _arithmetic,
    ir.Negative: _negative,
    ir.Lookup: _lookup,
    ir.Slice: _slice,
    ir.Call: _call,
    ir.RunningTotal: _running_total,
    ir.Conditional: _conditional,
    ir.Comparison: _comparison,
    ir.AllOf: _all_of,
    ir.AnyOf: _any_of,
    ir.Negation: _negation,
    ir.Listing: _listing,
}
