"""Lists that a mask is given as data: parents, rectangles and intervals, checked entry by entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import program as ir
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_scope import Scope
from compilemask.language.column_lists import nested_table
from compilemask.language.findings import RejectError, reject
from compilemask.language.values import ANY, INT64_MAX, INT64_MIN, ListValue, Value, describe, show
from compilemask.source import Span


def parents_of(scope: Scope, parents: ir.Expression, span: Span) -> None:
    """Check a list of parents, or all lists of a table that is looked up by the query."""
    tables: list[Value] = []
    if isinstance(parents, ir.Constant):
        tables = [parents.value]
    elif isinstance(parents, ir.Lookup) and isinstance(parents.values, ir.Constant):
        outer = parents.values.value
        tables = list(outer.items) if isinstance(outer, ListValue) else []
    elif kind_of(parents) not in (Kind.LIST, Kind.UNKNOWN):
        raise reject("not-a-list", f"the parents are {kind_of(parents).value}, expected a list", span)
    for table in tables:
        _check_parents(scope, table, span)


def _check_parents(scope: Scope, table: Value, span: Span) -> None:
    if not isinstance(table, ListValue) or (table.array is None or table.array.dtype != np.int64):
        what = describe(table) if not isinstance(table, ListValue) else "a list with other entries than numbers"
        raise reject("not-a-list", f"the parents are {what}, expected a list of numbers", span, "-1 is a root")
    parents = table.array
    wrong = np.flatnonzero((parents < -1) | (parents >= len(parents)))
    if len(wrong):
        node = int(wrong[0])
        raise reject(
            "parent-out-of-range",
            f"the parent of {node} is {int(parents[node])}, expected -1 to {len(parents) - 1}",
            span,
            "-1 is a root",
        )
    later = np.flatnonzero(parents >= np.arange(len(parents)))
    if len(later):
        _check_circle(parents.astype(np.int64), span)
        node = int(later[0])
        scope.findings.warn(
            "parent-after-child",
            f"the parent {int(parents[node])} of {node} comes after it",
            span,
            "causal would hide it",
        )


def _check_circle(parents: NDArray[np.int64], span: Span) -> None:
    state = np.zeros(len(parents), dtype=np.int8)
    for start in range(len(parents)):
        way = []
        node = start
        while node >= 0 and not state[node]:
            state[node] = 1
            way.append(node)
            node = int(parents[node])
        if node >= 0 and state[node] == 1:
            circle = way[way.index(node) :]
            shown = " -> ".join(map(str, [*circle[:6], node]))
            raise reject(
                "parent-circle", f"the parents run in a circle: {shown}", span, "one of them must be a root, -1"
            )
        state[way] = 2


def rectangle_rows(scope: Scope, value: Value, span: Span, bounded: bool) -> NDArray[np.int64]:
    """[n, 6] rows q0, q1, k0, k1, low, high from entries of four or six numbers."""
    if not isinstance(value, ListValue):
        raise reject("not-a-list", f"`rectangles` needs a list of lists, not {describe(value)}", span)
    rows = _rectangle_table(value, span)
    wrong = np.flatnonzero((rows[:, 0] > rows[:, 1]) | (rows[:, 2] > rows[:, 3]) | (rows[:, 4] > rows[:, 5]))
    if len(wrong):
        raise reject(
            "start-after-end",
            f"rectangle {int(wrong[0])} is {show(value[int(wrong[0])])}: a start is after its end",
            span,
        )
    if bounded:
        for column, axis in ((1, "queries"), (3, "keys")):
            length = scope.axes[axis].length
            beyond = np.flatnonzero((rows[:, column] > length) | (rows[:, column - 1] < 0))
            if len(beyond):
                place = int(beyond[0])
                raise reject(
                    "out-of-axis",
                    f"rectangle {place} is {show(value[place])}, and the {axis} have {length} slots",
                    span,
                    "order: first query, end of queries, first key, end of keys",
                )
    _warn_overlap(scope, rows, span)
    return rows


def _rectangle_table(value: ListValue, span: Span) -> NDArray[np.int64]:
    rows = np.empty((len(value), 6), dtype=np.int64)
    table = nested_table(value)
    if table is not None and table.flat.dtype == np.int64 and (np.diff(table.offsets) == 4).all():
        rows[:, :4] = table.flat.reshape(-1, 4)
        rows[:, 4:] = INT64_MIN, INT64_MAX
        return rows
    for place, entry in enumerate(value.items):
        rows[place] = _rectangle(entry, place, span)
    return rows


def _rectangle(entry: Value, place: int, span: Span) -> list[int]:
    values = entry.items if isinstance(entry, ListValue) else ()
    open_ends = (0, 0, 0, 0, INT64_MIN, INT64_MAX)
    numbers = [
        open_ends[i] if number is ANY and i >= 4 else number
        for i, number in enumerate(values)
        if type(number) is int or number is ANY
    ]
    kept = [number for number in numbers if type(number) is int]
    if len(values) not in (4, 6) or len(kept) != len(values):
        raise reject(
            "rectangle-shape",
            f"rectangle {place} is {show(entry)}, expected four or six numbers",
            span,
            "[q0, q1, k0, k1], and to cut it by diagonals [..., low, high] for low <= k - q <= high (`any`: no bound)",
        )
    return kept if len(kept) == 6 else [*kept, INT64_MIN, INT64_MAX]


def _warn_overlap(scope: Scope, rows: NDArray[np.int64], span: Span) -> None:
    if len(rows) > 256:
        return
    for place, row in enumerate(rows):
        rest = rows[:place]
        crossing = (
            (np.maximum(rest[:, 0], row[0]) < np.minimum(rest[:, 1], row[1]))
            & (np.maximum(rest[:, 2], row[2]) < np.minimum(rest[:, 3], row[3]))
            & (np.maximum(rest[:, 4], row[4]) <= np.minimum(rest[:, 5], row[5]))
        )
        if crossing.any():
            other = int(np.flatnonzero(crossing)[0])
            scope.findings.warn("rectangles-overlap", f"rectangles {other} and {place} overlap; cells count once", span)
            return


def interval_lists(
    scope: Scope, value: Value, span: Span, per_slot: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Offsets, starts and ends of a list that has one list of [start, end) per query."""
    if not isinstance(value, ListValue):
        raise reject("not-a-list", f"`intervals` needs one list per query, not {describe(value)}", span)
    if per_slot and len(value) != scope.axes["queries"].length:
        raise reject(
            "interval-count",
            f"`intervals` has {len(value)} entries, and there are {scope.axes['queries'].length} query slots",
            span,
            "one entry per slot, padding included; `intervals(...) by at` counts otherwise",
        )
    entries = [entry.items if isinstance(entry, ListValue) else (entry,) for entry in value]
    offsets = np.zeros(len(value) + 1, dtype=np.int64)
    np.cumsum([len(entry) for entry in entries], out=offsets[1:])
    table = _interval_table(entries, span)
    if per_slot and len(table) and (table.min() < 0 or table[:, 1].max() > scope.axes["keys"].length):
        wrong = int(np.flatnonzero((table[:, 0] < 0) | (table[:, 1] > scope.axes["keys"].length))[0])
        raise reject(
            "out-of-axis",
            f"the interval {table[wrong].tolist()} is outside of the {scope.axes['keys'].length} key slots",
            span,
        )
    _warn_crossing(scope, offsets, table, span)
    return offsets, table[:, 0].copy(), table[:, 1].copy()


def _warn_crossing(scope: Scope, offsets: NDArray[np.int64], table: NDArray[np.int64], span: Span) -> None:
    entry = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((table[:, 0], entry))
    entry, table = entry[order], table[order]
    crossing = np.flatnonzero(
        (entry[1:] == entry[:-1]) & (table[1:, 0] < table[:-1, 1]) & (table[1:, 1] > table[1:, 0])
    )
    if len(crossing):
        place = int(crossing[0])
        pair = f"{table[place].tolist()} and {table[place + 1].tolist()}"
        scope.findings.warn(
            "intervals-overlap",
            f"entry {int(entry[place])}: {pair} overlap; cells count once",
            span,
        )


def _interval_table(entries: list[tuple[Value, ...]], span: Span) -> NDArray[np.int64]:
    """[n, 2] starts and ends of all entries."""
    pairs = [pair.items if isinstance(pair, ListValue) else () for entry in entries for pair in entry]
    good = all(len(pair) == 2 and type(pair[0]) is int and type(pair[1]) is int for pair in pairs)
    table = np.array(pairs if good else [], dtype=np.int64).reshape(-1, 2)
    if not good or (table[:, 0] > table[:, 1]).any():
        for place, entry in enumerate(entries):
            for pair in entry:
                _check_interval(pair, place, span)
    return table


def _check_interval(pair: Value, place: int, span: Span) -> None:
    if isinstance(pair, ListValue) and len(pair) == 2 and all(type(end) is int for end in pair):
        start, end = (int(end) for end in pair.items if type(end) is int)
        if start <= end:
            return
        raise reject(
            "start-after-end", f"entry {place} has the interval [{start}, {end}]: the start is after the end", span
        )
    raise _interval_shape(pair, place, span)


def _interval_shape(pair: Value, place: int, span: Span) -> RejectError:
    return reject(
        "interval-shape", f"entry {place} has {show(pair)}, expected [start, end]", span, "an empty entry is []"
    )
