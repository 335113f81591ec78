"""From terms to plans: conjunctions become joins by equal classes and one range."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError, MaskFileError
from compilemask.intervals import plan as plans
from compilemask.intervals import terms
from compilemask.intervals.codes import UNBOUNDED, check_kinds, combine, numbers
from compilemask.intervals.join import Join
from compilemask.intervals.key_index import KeyIndex
from compilemask.intervals.limits import check_parts
from compilemask.intervals.order import UNMOVED, TokenOrder, inverse
from compilemask.intervals.plan import Plan
from compilemask.intervals.requests import Asking, Keys, Requests
from compilemask.intervals.selection import selected
from compilemask.intervals.terms import Order, Term
from compilemask.intervals.vector import Tokens, Vector, value_error
from compilemask.intervals.vectors import evaluate, holds
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.distinct import distinct
from compilemask.language.program import Side
from compilemask.language.values import ANY
from compilemask.source import Diagnostic, Severity, Span

Ints = NDArray[np.int64]
BRANCHES = 64
PLANNED_STEPS = 16  # for every query and key that a part selects
LARGEST = 2**60
LOWEST, HIGHEST = np.int64(-(2**62)), np.int64(2**62)


class Form(Enum):
    """ROW: intervals of keys for every query; COLUMN: intervals of queries for every key."""

    ROW = "row"
    COLUMN = "column"


@dataclass(slots=True)
class Pair:
    """A comparison with its values: [queries], [keys]."""

    compare: terms.Compare
    query: NDArray[Any]
    key: NDArray[Any]


@dataclass(slots=True)
class Conjunction:
    """Comparisons and specials that must all hold, over some queries and keys."""

    queries: Ints  # slots
    keys: Ints
    equal: list[Pair] = field(default_factory=list)
    ranges: list[Pair] = field(default_factory=list)
    specials: list[Term] = field(default_factory=list)

    def keep(self, of_query: bool, kept: NDArray[np.bool_]) -> None:
        """Drop queries or keys."""
        if kept.all():
            return
        for pair in self.equal + self.ranges:
            if of_query:
                pair.query = pair.query[kept]
            else:
                pair.key = pair.key[kept]
        if of_query:
            self.queries = self.queries[kept]
        else:
            self.keys = self.keys[kept]


class Solver:
    """Plans for one pair of axes.

    Slots are the caller's everywhere; where `order` puts tokens elsewhere, slot arrays are in that order and masks
    come out in it.
    """

    def __init__(self, queries: Axis, keys: Axis, order: TokenOrder = UNMOVED) -> None:
        self.queries = queries
        self.keys = keys
        self.order = order
        self._query_place = inverse(order.queries)
        self._key_place = inverse(order.keys)
        self.per_cell: list[ir.Expression] = []
        self._planned = 0

    def shape(self, form: Form) -> tuple[int, int]:
        """Rows and columns of a mask in this form."""
        both = (self.queries.length, self.keys.length)
        return both if form is Form.ROW else both[::-1]

    def plan(self, term: Term, queries: Ints, keys: Ints, form: Form) -> Plan:
        """The plan of a term for the given query and key slots (ascending)."""
        if not queries.size or not keys.size or isinstance(term, terms.Never):
            return plans.Nothing(*self.shape(form))
        match term:
            case terms.Or(parts=parts):
                return plans.union([self.plan(part, queries, keys, form) for part in parts])
            case terms.Not(part=part):
                return plans.Without(self._rectangle(queries, keys, form), self.plan(part, queries, keys, form))
            case terms.And(parts=parts):
                return self._conjunction(parts, queries, keys, form)
        return self._conjunction((term,), queries, keys, form)

    def place(self, of_query: bool, slots: Ints) -> Ints:
        """Where the caller's slots lie in the order."""
        places = self._query_place if of_query else self._key_place
        return slots if places is None else places[slots]

    def selected(self, selector: ir.Selector, of_query: bool) -> Ints:
        """The caller's slots that a selector holds, as they lie in the order."""
        held = self.order.queries if of_query else self.order.keys
        chosen = selected(selector, self.queries if of_query else self.keys)
        return np.flatnonzero(chosen) if held is None else held[chosen[held]].astype(np.int64)

    # ---------------------------------------------------------------- conjunctions

    def _conjunction(self, parts: tuple[Term, ...], queries: Ints, keys: Ints, form: Form) -> Plan:
        queries, keys, rest = self._filter(parts, queries, keys)
        if not queries.size or not keys.size:
            return plans.Nothing(*self.shape(form))
        split = self._wildcards(rest, queries, keys, form)
        if split is not None:
            return split
        options = [part for part in rest if isinstance(part, terms.Or)]
        if options and np.prod([len(option.parts) for option in options]) <= BRANCHES:
            others = [part for part in rest if part is not options[0]]
            branches = [terms.conjunction(*others, part) for part in options[0].parts]
            return plans.union([self.plan(branch, queries, keys, form) for branch in branches])
        hidden = [part for part in rest if isinstance(part, terms.Not)]
        if hidden:
            shown = [part for part in rest if not isinstance(part, terms.Not)]
            cheap = [part for part in shown if isinstance(part, terms.Compare)]
            base = self.plan(terms.conjunction(*shown), queries, keys, form)
            for part in hidden:
                cut = self.plan(terms.conjunction(*cheap, part.part), queries, keys, form)
                base = plans.Without(base, cut)
            return base
        return self._joins(rest, queries, keys, form)

    def _filter(self, parts: tuple[Term, ...], queries: Ints, keys: Ints) -> tuple[Ints, Ints, list[Term]]:
        """Keep the tokens that one-sided parts allow, from left to right."""
        rest: list[Term] = []
        for part in parts:
            match part:
                case terms.Filter(of_query=of_query, condition=condition):
                    tokens = self._tokens(of_query, queries if of_query else keys)
                    kept = np.broadcast_to(holds(condition, _every_side(tokens)), tokens.slots.shape)
                case terms.Present(of_query=of_query, expression=expression):
                    tokens = self._tokens(of_query, queries if of_query else keys)
                    present = evaluate(expression, _every_side(tokens)).present
                    if present is None:
                        continue
                    kept = np.broadcast_to(present, tokens.slots.shape)
                case _:
                    rest.append(part)
                    continue
            if of_query:
                queries = queries[kept]
            else:
                keys = keys[kept]
        return queries, keys, rest

    def _tokens(self, of_query: bool, slots: Ints) -> Tokens:
        return Tokens(self.queries if of_query else self.keys, slots)

    def _wildcards(self, rest: list[Term], queries: Ints, keys: Ints, form: Form) -> Plan | None:
        """Comparisons inside common instances become equalities; tokens without one of them go separately."""
        for place, part in enumerate(rest):
            if not isinstance(part, terms.Enclosed):
                continue
            others = rest[:place] + rest[place + 1 :]
            plan: list[Plan] = []
            for query_part, lacking in self._by_lack(self.queries, part.enclosing.query_region, part, queries):
                for key_part, lacking_too in self._by_lack(self.keys, part.enclosing.key_region, part, keys):
                    names = [name for name in part.enclosing.names if name not in lacking | lacking_too]
                    equal = [
                        terms.Compare(
                            terms.Enclosing(part.enclosing.query_region, name),
                            terms.Enclosing(part.enclosing.key_region, name),
                            0,
                            Order.EQUAL,
                        )
                        for name in names
                    ]
                    plan.append(self.plan(terms.conjunction(*others, *equal), query_part, key_part, form))
            return plans.union(plan)
        return None

    def _by_lack(self, axis: Axis, region: str, part: terms.Enclosed, slots: Ints) -> list[tuple[Ints, frozenset[str]]]:
        names = part.enclosing.names
        signature = np.zeros(slots.size, np.int64)
        for bit, name in enumerate(names):
            signature |= (axis.enclosing(region, name)[slots] < 0).astype(np.int64) << bit
        return [
            (slots[signature == value], frozenset(name for bit, name in enumerate(names) if value >> bit & 1))
            for value in distinct(signature).tolist()
        ]

    def _joins(self, rest: list[Term], queries: Ints, keys: Ints, form: Form) -> Plan:
        self._planned += queries.size + keys.size
        check_parts(self._planned)
        effort.spend(effort.A_PLAN + PLANNED_STEPS * (queries.size + keys.size))
        joined = Conjunction(queries, keys)
        for part in rest:
            if isinstance(part, terms.Compare):
                self._compare(joined, part)
            elif not isinstance(part, terms.Always):
                joined.specials.append(part)
        if not joined.queries.size or not joined.keys.size:
            return plans.Nothing(*self.shape(form))
        found = [self._range(joined, group, form) for group in _groups(joined, form)]
        if joined.equal and not found and all(isinstance(part, terms.Opaque | terms.Or) for part in joined.specials):
            # These two do not look at the equal classes themselves.
            found.append(self._range(joined, [], form))
        found += [self._special(part, joined, form) for part in joined.specials]
        return plans.intersection(found) if found else self._rectangle(joined.queries, joined.keys, form)

    def _rectangle(self, queries: Ints, keys: Ints, form: Form) -> Plan:
        queries, keys = self.place(True, queries), self.place(False, keys)
        rows, columns = (queries, keys) if form is Form.ROW else (keys, queries)
        return plans.Rectangle(*self.shape(form), rows, columns)

    def _compare(self, joined: Conjunction, part: terms.Compare) -> None:
        query = self.coordinate(part.query, Tokens(self.queries, joined.queries))
        key = self.coordinate(part.key, Tokens(self.keys, joined.keys))
        live = [v.values if v.present is None else v.values[v.present] for v in (query, key)]
        check_kinds(live[0], live[1], _span(part))
        if part.order is not Order.EQUAL or part.shift:
            for coord, values in ((part.query, live[0]), (part.key, live[1])):
                if isinstance(coord, terms.Expressed):
                    _check_size(values, coord.parts[0].span)
        moved = _moved(query.values, part) if part.order is Order.EQUAL and part.shift else query.values
        pair = Pair(part, moved, key.values)
        (joined.equal if part.order is Order.EQUAL else joined.ranges).append(pair)
        if query.present is not None:
            joined.keep(True, query.present)
        if key.present is not None:
            joined.keep(False, key.present)

    def coordinate(self, coord: terms.Coord, tokens: Tokens) -> Vector:
        """[tokens] values of a coordinate; [tokens, parts] where several compare lexicographically."""
        match coord:
            case terms.Enclosing(region=region, outer=outer):
                return Vector(tokens.axis.enclosing(region, outer)[tokens.slots], None)
            case terms.WindowEnd():
                return _window_end(coord, tokens)
            case terms.Expressed(parts=parts):
                columns = [_column(part, tokens) for part in parts]
                present = None
                for column in columns:
                    present = column.present if present is None else _and(present, column.present)
                if len(columns) == 1:
                    return columns[0]
                return Vector(np.stack([numbers(column.values, parts[0].span) for column in columns], axis=1), present)
        raise InternalError(f"coordinate {coord} is not known")

    # ---------------------------------------------------------------- one join

    def _range(self, joined: Conjunction, group: list[Pair], form: Form) -> Plan:
        """A range of one coordinate; no group: all keys of the same class."""
        classes = combine([(pair.query, pair.key) for pair in joined.equal]) if joined.equal else None
        query_class, key_class, count = classes or (None, None, 1)
        rows, columns, row_class, column_class = joined.queries, joined.keys, query_class, key_class
        if form is Form.COLUMN:
            rows, columns, row_class, column_class = columns, rows, column_class, row_class
        if not group:
            zero = np.int64(0)
            keys = Keys(columns, column_class, count, np.zeros(columns.size, np.int64))
            return self.join(Requests(rows, row_class, np.asarray(zero), np.asarray(zero)), keys, form)
        low: Ints = np.asarray(LOWEST)
        high: Ints = np.asarray(HIGHEST)
        values: Ints | None = None
        for pair in group:
            query, key = _ordered(pair)
            shift = pair.compare.shift
            if form is Form.ROW:
                values, bound, at_least = key, query + shift, pair.compare.order is Order.AT_LEAST
            else:
                values, bound, at_least = query, key - shift, pair.compare.order is Order.AT_MOST
            if at_least:
                low = np.maximum(low, bound)
            else:
                high = np.minimum(high, bound)
        assert values is not None
        return self.join(Requests(rows, row_class, low, high), Keys(columns, column_class, count, values), form)

    def join(self, asking: Asking, keys: Keys, form: Form) -> Plan:
        """A join whose slots are the caller's: queries ask in row form, keys in column form."""
        places = self._query_place if form is Form.ROW else self._key_place
        index = KeyIndex(dataclasses.replace(keys, slots=self.place(form is Form.COLUMN, keys.slots)))
        return plans.Joined(*self.shape(form), Join(index, asking, places))

    def spread(self, plan: Plan, slots: Ints, first: Ints, kind: NDArray[np.int32]) -> Plan:
        """A plan in row form for the queries slots[first], for all slots: slots[i] sees as slots[first[kind[i]]]."""
        kinds = np.full(self.queries.length, first.size, np.int32)
        kinds[self.place(True, slots)] = kind
        return plans.Spread(plan, self.place(True, slots[first]), kinds)

    def _special(self, part: Term, joined: Conjunction, form: Form) -> Plan:
        from compilemask.intervals.specials import special_plan

        return special_plan(self, part, joined, form)


def _check_size(values: NDArray[Any], span: Span | None) -> None:
    """Bounds and shifts are added to coordinates, so these must be well below 64 bits."""
    if values.dtype != np.int64 or not values.size:
        return
    least, most = int(values.min()), int(values.max())
    if max(most, -least) > LARGEST:
        message = f"a coordinate here reaches {most if most > LARGEST else least}"
        hint = f"coordinates that are compared by order lie between -{LARGEST} and {LARGEST}"
        raise MaskFileError([Diagnostic(Severity.ERROR, "too-large", message, span, hint)])


def _moved(values: NDArray[Any], part: terms.Compare) -> NDArray[Any]:
    """What an equal key coordinate is: the query's plus the shift; `any` stays `any`."""
    if values.dtype == object:
        effort.spend(effort.AN_OBJECT * values.size, _span(part))
        return np.array([value if value is ANY else value + part.shift for value in values.tolist()], object)
    return numbers(values, _span(part)) + part.shift


def _span(part: terms.Compare) -> Span | None:
    return part.query.parts[0].span if isinstance(part.query, terms.Expressed) else None


def _every_side(tokens: Tokens) -> dict[Side, Tokens]:
    return dict.fromkeys(Side, tokens)


def _and(a: NDArray[np.bool_], b: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return a if b is None else a & b


def _column(expression: ir.Expression, tokens: Tokens) -> Vector:
    vector = evaluate(expression, _every_side(tokens))
    shape = tokens.slots.shape
    present = None if vector.present is None else np.broadcast_to(vector.present, shape)
    return Vector(np.broadcast_to(vector.values, shape), present)


def _window_end(end: terms.WindowEnd, tokens: Tokens) -> Vector:
    expression, bound, sign = end.expression, end.bound, end.sign
    coordinate, reach = _column(expression, tokens), _column(bound, tokens)
    present = coordinate.present if reach.present is None else _and(reach.present, coordinate.present)
    amount = numbers(reach.values, bound.span)
    live = amount if present is None else amount[present]
    if end.checked and live.size and int(live.min()) < 0:
        raise value_error(f"a side of the window is {int(live.min())}", bound.span, "a side of a window is 0 or more")
    ends = numbers(coordinate.values, expression.span) + sign * np.minimum(amount, UNBOUNDED)
    if reach.values.dtype == object:
        effort.spend(effort.AN_OBJECT * reach.values.size, bound.span)
        endless = np.array([value is ANY for value in reach.values.tolist()], np.bool_)
        ends = np.where(endless, sign * UNBOUNDED, ends)
    return Vector(ends, present)


def _ordered(pair: Pair) -> tuple[Ints, Ints]:
    """Query and key values as numbers that can be compared."""
    if pair.query.ndim == 2:
        parts = [(pair.query[:, i], pair.key[:, i]) for i in range(pair.query.shape[1])]
        query, key, _ = combine(parts)
        return query, key
    return numbers(pair.query, None), numbers(pair.key, None)


def _groups(joined: Conjunction, form: Form) -> list[list[Pair]]:
    """Ranges that one join answers: the same coordinate on the side that is searched."""
    groups: dict[object, list[Pair]] = {}
    for pair in joined.ranges:
        compare = pair.compare
        searched: object = compare.key if form is Form.ROW else compare.query
        if pair.query.ndim == 2:
            searched = (compare.query, compare.key)
        groups.setdefault(searched, []).append(pair)
    return list(groups.values())
