"""Expressions of one token, evaluated for many tokens at once; the result equals `meaning` token by token.

`and`, `or` and `if` evaluate their later parts only for the tokens that get there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from compilemask.language import arithmetic as scalar
from compilemask.language import effort, functions
from compilemask.language import program as ir
from compilemask.language.arithmetic import AbsentValueError, EvaluationError
from compilemask.language.axis import Column, CoordinateKind
from compilemask.language.values import INT64_MAX, INT64_MIN, ListValue, Value

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


def evaluate(expression: ir.Expression, frame: Frame, slots: Slots) -> Values:
    """The value of an expression (side THIS, or one side only) for these tokens.

    Raises EvaluationError, with `slot`, where a token has no value that it should have.
    """
    effort.spend(len(slots) + effort.A_NODE, expression.span)
    found = _EVALUATORS[type(expression)](expression, frame, slots)
    if found.present is not None and found.present.all():
        return Values(found.values, None)
    return found


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
    effort.spend(effort.A_DIVISION * len(slots))
    match operator:
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
    places = numbers_of(index, "the index")
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
    effort.spend(effort.AN_ENTRY * table.total)
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
        fast
        if fast is not None
        else _each(lambda *values: functions.call(expression.function, values), arguments, slots)
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
        functions.call(function, (table.value, 0))
        return Values(np.searchsorted(entries, wanted.values, side="right").astype(np.int64), wanted.present)
    effort.spend(effort.AN_ENTRY * len(entries))
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
    if (
        operator in _COMPARISONS
        and a.dtype == b.dtype
        and (a.dtype == np.int64 or (a.dtype == np.bool_ and operator in _EQUALITIES))
    ):
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
    effort.spend(effort.AN_ENTRY * len(table.value))
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
    effort.spend(effort.ONE_BY_ONE * int(keep.sum()))
    columns = [argument.values.tolist() for argument in arguments]
    results: list[Value] = []
    entries = 0
    for place in np.flatnonzero(keep).tolist():
        try:
            results.append(function(*(column[place] for column in columns)))
            if type(results[-1]) is ListValue:
                entries += results[-1].total
                scalar.bounded(entries, "the lists of all tokens together", "make one list and look numbers up in it")
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


def numbers_of(found: Values, what: str) -> NDArray[np.int64]:
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
