"""Which kind of value an expression gives, as far as the text and the constants tell."""

from __future__ import annotations

from enum import Enum

from compilemask.language import program as ir
from compilemask.language.values import Grid, ListValue, Unbounded, Value


class Kind(Enum):
    """The kinds of values, in the words of messages."""

    NUMBER = "a number"
    CONDITION = "a condition"
    STRING = "a string"
    LIST = "a list"
    ANY = "`any`"
    GRID = "a grid"
    UNKNOWN = "unknown"


_LISTS = (ir.Function.RANGE, ir.Function.DIFF, ir.Function.CUMSUM, ir.Function.RUNS)


def kind_of(expression: ir.Expression, depth: int = 3) -> Kind:
    """The kind of value that an expression has wherever it is present; not looked for deeper than `depth`."""
    if not depth:
        return Kind.UNKNOWN
    match expression:
        case ir.Constant(_, value):
            return kind_of_value(value)
        case ir.Coordinate() | ir.Negative() | ir.RunningTotal():
            return Kind.NUMBER
        case ir.Comparison() | ir.AllOf() | ir.AnyOf() | ir.Negation():
            return Kind.CONDITION
        case ir.Listing() | ir.Slice():
            return Kind.LIST
        case ir.Arithmetic(_, _, left, right):
            first = kind_of(left, depth - 1)
            return _arithmetic(first, kind_of(right, depth - 1))
        case ir.Lookup():
            return _joined([kind_of_value(entry) for entry in _entries(expression)])
        case ir.Call(_, function, _):
            return Kind.LIST if function in _LISTS else Kind.GRID if function is ir.Function.GRID else Kind.NUMBER
        case ir.Conditional(_, _, value, otherwise):
            return _joined([kind_of(value, depth - 1), kind_of(otherwise, depth - 1)])
        case ir.Cases(_, _, cases):
            return _joined([kind_of(case.value, depth - 1) for case in cases])
    return Kind.UNKNOWN


def _arithmetic(left: Kind, right: Kind) -> Kind:
    for kind in (Kind.LIST, Kind.UNKNOWN, Kind.ANY):
        if left is kind or right is kind:
            return kind
    return Kind.NUMBER


def kind_of_value(value: Value) -> Kind:
    """The kind of a value."""
    match value:
        case bool():
            return Kind.CONDITION
        case int():
            return Kind.NUMBER
        case str():
            return Kind.STRING
        case ListValue():
            return Kind.LIST
        case Unbounded():
            return Kind.ANY
        case Grid():
            return Kind.GRID
    return Kind.UNKNOWN


def _joined(kinds: list[Kind]) -> Kind:
    found = set(kinds)
    if found == {Kind.NUMBER, Kind.ANY}:
        return Kind.UNKNOWN
    return found.pop() if len(found) == 1 else Kind.UNKNOWN


def _entries(lookup: ir.Lookup) -> list[Value]:
    """Some entries that a lookup may give: one of each kind that its constant table holds."""
    tables: list[Value] = []
    if isinstance(lookup.values, ir.Constant):
        tables = [lookup.values.value]
    elif isinstance(lookup.values, ir.Lookup):
        tables = _entries(lookup.values)
    entries: dict[type, Value] = {}
    lists: list[Value] = []
    for table in tables:
        if isinstance(table, ListValue):
            sample: tuple[Value, ...] = tuple(table.array[:1].tolist()) if table.array is not None else table.items
            for entry in sample:
                if isinstance(entry, ListValue):
                    lists.append(entry)
                else:
                    entries.setdefault(type(entry), entry)
    return [*entries.values(), *(entry for entry in lists if isinstance(entry, ListValue) and len(entry))]
