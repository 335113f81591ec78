"""From terms to plans: conjunctions become joins by equal classes and one range."""

from __future__ import annotations

import dataclasses
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from compilemask.intervals import plan as plans
from compilemask.intervals import terms
from compilemask.intervals.codes import check_kinds, combine
from compilemask.intervals.conjunction import Conjunction, Pair, ordered
from compilemask.intervals.coordinates import check_size, coordinate, every_side, moved, span_of
from compilemask.intervals.join import Join
from compilemask.intervals.key_index import KeyIndex
from compilemask.intervals.limits import check_parts
from compilemask.intervals.order import UNMOVED, TokenOrder, inverse
from compilemask.intervals.plan import Plan
from compilemask.intervals.requests import Asking, Keys, Requests
from compilemask.intervals.selection import selected
from compilemask.intervals.terms import Order, Term
from compilemask.intervals.vector import Tokens
from compilemask.intervals.vectors import evaluate, holds
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.distinct import distinct

Ints = NDArray[np.int64]
BRANCHES = 64
PLANNED_STEPS = 16  # for every query and key that a part selects
LOWEST, HIGHEST = np.int64(-(2**62)), np.int64(2**62)


class Form(Enum):
    """ROW: intervals of keys for every query; COLUMN: intervals of queries for every key."""

    ROW = "row"
    COLUMN = "column"


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
                    kept = np.broadcast_to(holds(condition, every_side(tokens)), tokens.slots.shape)
                case terms.Present(of_query=of_query, expression=expression):
                    tokens = self._tokens(of_query, queries if of_query else keys)
                    present = evaluate(expression, every_side(tokens)).present
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
        query = coordinate(part.query, Tokens(self.queries, joined.queries))
        key = coordinate(part.key, Tokens(self.keys, joined.keys))
        live = [v.values if v.present is None else v.values[v.present] for v in (query, key)]
        check_kinds(live[0], live[1], span_of(part))
        if part.order is not Order.EQUAL or part.shift:
            for coord, values in ((part.query, live[0]), (part.key, live[1])):
                if isinstance(coord, terms.Expressed):
                    check_size(values, coord.parts[0].span)
        values = moved(query.values, part) if part.order is Order.EQUAL and part.shift else query.values
        pair = Pair(part, values, key.values)
        (joined.equal if part.order is Order.EQUAL else joined.ranges).append(pair)
        if query.present is not None:
            joined.keep(True, query.present)
        if key.present is not None:
            joined.keep(False, key.present)

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
            query, key = ordered(pair)
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
