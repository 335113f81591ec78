"""What a mask means, one cell at a time: the slow, obvious definition that everything else is checked against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np

from compilemask.errors import MaskFileError
from compilemask.language import arithmetic
from compilemask.language import program as ir
from compilemask.language.arithmetic import AbsentValueError, EvaluationError
from compilemask.language.axis import Axis, CoordinateKind
from compilemask.language.program import Program, Side, Variant
from compilemask.language.values import ANY, ListValue, Value
from compilemask.source import Diagnostic, Severity

_WORD = 2**64 - 1


def visible(program: Program, q: int, k: int, batch: int = 0, head: int = 0) -> bool:
    """Whether query slot q sees key slot k. Raises MaskFileError where a rule has no value for the two tokens."""
    return deciding_rule(program, q, k, batch, head)[0]


def deciding_rule(
    program: Program, q: int, k: int, batch: int = 0, head: int = 0
) -> tuple[bool, ir.Rule | ir.Limit | None]:
    """Whether q sees k, and what decided: the first limit that fails, else the last matching rule; None: no rule."""
    variant = program.variant_of(batch, head)
    try:
        return _decide(variant, q, k)
    except EvaluationError as error:
        raise MaskFileError([Diagnostic(Severity.ERROR, "evaluation", error.message, None, error.hint)]) from None


def dense(program: Program, batch: int = 0, head: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """The whole mask of one sample and head, bool [queries, keys], cell by cell."""
    variant = program.variant_of(batch, head)
    return np.array(
        [[_decide(variant, q, k)[0] for k in range(variant.keys.length)] for q in range(variant.queries.length)],
        dtype=np.bool_,
    ).reshape(variant.queries.length, variant.keys.length)


def _decide(variant: Variant, q: int, k: int) -> tuple[bool, ir.Rule | ir.Limit | None]:
    if variant.queries.padding[q] or variant.keys.padding[k]:
        return False, None
    cell = Cell(variant.queries, variant.keys, q, k)
    decider: ir.Rule | None = None
    for rule in variant.rules.rules:
        if isinstance(rule, ir.Rule) and _matches(rule, cell):
            decider = rule
    if decider is None or not decider.shows:
        return False, decider
    for limit in variant.rules.rules:
        if isinstance(limit, ir.Limit) and not holds(limit.how, cell):
            return False, limit
    return True, decider


def _matches(rule: ir.Rule, cell: Cell) -> bool:
    query, key = Token(cell.queries, cell.q), Token(cell.keys, cell.k)
    return selects(rule.who, query) and selects(rule.whom, key) and holds(rule.how, cell)


@dataclass(frozen=True, slots=True)
class Token:
    """One token of one axis."""

    axis: Axis
    slot: int

    def coordinate(self, kind: CoordinateKind, region: str | None) -> int | None:
        """A coordinate of the token, None where it has none."""
        if region is not None and region != "everything" and region not in self.axis.runs.regions:
            return None
        return self.axis.value(kind, region, self.slot)


@dataclass(frozen=True, slots=True)
class Cell:
    """One query and one key."""

    queries: Axis
    keys: Axis
    q: int
    k: int

    def token(self, side: Side) -> Token:
        """The query or the key."""
        return Token(self.queries, self.q) if side is Side.QUERY else Token(self.keys, self.k)


Place = Token | Cell


def _token(place: Place, side: Side) -> Token:
    return place if isinstance(place, Token) else place.token(side)


# ---------------------------------------------------------------- selectors


def selects(selector: ir.Selector, token: Token) -> bool:
    """Whether a selector holds a token."""
    if token.axis.padding[token.slot]:
        return False
    match selector:
        case ir.AllTokens():
            return True
        case ir.RegionTokens(_, path):
            return _in_path(token, path)
        case ir.NumberedTokens(_, path, index):
            return _in_path(token, path) and _number(token, path[-1]) == evaluate(index, token)
        case ir.RangeTokens(_, path, start, stop):
            return _in_path(token, path) and _in_range(token, path[-1], start, stop)
        case ir.EndTokens():
            return selects(selector.of, token) and _at_end(selector, token)
        case ir.WhereTokens(_, of, condition):
            return selects(of, token) and true(condition, token)
        case ir.UnionTokens(_, parts):
            return any(selects(part, token) for part in parts)
    raise AssertionError(selector)


def _in_path(token: Token, path: tuple[str, ...]) -> bool:
    names = [name for name, _, _ in token.axis.path_of(token.slot)]
    rest = iter(names)
    return all(name in rest for name in path)


def _number(token: Token, region: str) -> int | None:
    return token.coordinate(CoordinateKind.NUMBER, region)


def _in_range(token: Token, region: str, start: ir.Expression | None, stop: ir.Expression | None) -> bool:
    number = _number(token, region)
    first = 0 if start is None else evaluate(start, token)
    last = ANY if stop is None else evaluate(stop, token)
    if number is None or first is None or last is None:
        return False
    return arithmetic.less(number, last) and not arithmetic.less(number, first)


def _at_end(selector: ir.EndTokens, token: Token) -> bool:
    count = evaluate(selector.count, token)
    at, size = (token.coordinate(kind, selector.region) for kind in (CoordinateKind.AT, CoordinateKind.SIZE))
    if count is None or at is None or size is None:
        return False
    wanted = arithmetic.number(count, f"the count of `{selector.end.value}`")
    if wanted < 0:
        raise EvaluationError(f"`{selector.end.value} {wanted}`: the count is negative", slot=token.slot)
    return at < wanted if selector.end is ir.End.FIRST else at >= size - wanted


# ---------------------------------------------------------------- expressions


def true(condition: ir.Expression, place: Place) -> bool:
    """Whether a condition holds; absent is false."""
    value = evaluate(condition, place)
    return False if value is None else arithmetic.condition(value, "this")


def evaluate(expression: ir.Expression, place: Place) -> Value | None:
    """The value of an expression for one token, or for a query and a key; None: absent."""
    try:
        return _evaluate(expression, place)
    except AbsentValueError:
        return None


def _evaluate(expression: ir.Expression, place: Place) -> Value | None:
    match expression:
        case ir.Constant(_, value):
            return value
        case ir.Coordinate(_, side, kind, region):
            return _token(place, side).coordinate(kind, region)
        case ir.Cases(_, side, cases):
            token = _token(place, side)
            held = [case for case in cases if selects(case.selector, token)]
            return evaluate(held[-1].value, place) if held else None
        case ir.RunningTotal(_, side, operand):
            return _running_total(operand, _token(place, side))
        case ir.Conditional(_, condition, yes, no):
            return evaluate(yes if true(condition, place) else no, place)
        case ir.AllOf(_, parts):
            return all(true(part, place) for part in parts)
        case ir.AnyOf(_, parts):
            return any(true(part, place) for part in parts)
        case ir.Negation(_, operand):
            return not true(operand, place)
        case ir.Comparison():
            return _compare(expression, place)
    return _apply(expression, place)


def _apply(expression: ir.Expression, place: Place) -> Value | None:
    """Expressions that are absent as soon as a part of them is."""
    values: list[Value] = []
    for part in _operands(expression):
        value = evaluate(part, place)
        if value is None:
            return None
        values.append(value)
    match expression:
        case ir.Arithmetic(_, operator, _, _):
            return arithmetic.arithmetic(operator, values[0], values[1])
        case ir.Negative():
            return arithmetic.checked(-arithmetic.number(values[0], "what `-` negates"))
        case ir.Lookup():
            return arithmetic.lookup(values[0], values[1], from_end=False)
        case ir.Slice(_, _, start, stop):
            ends = iter(values[1:])
            first = None if start is None else next(ends)
            last = None if stop is None else next(ends)
            return arithmetic.slice_of(values[0], first, last, from_end=False)
        case ir.Call(_, function, _):
            return arithmetic.call(function, values)
    return ListValue(values)


def _operands(expression: ir.Expression) -> tuple[ir.Expression, ...]:
    match expression:
        case ir.Arithmetic(_, _, left, right):
            return left, right
        case ir.Negative(_, operand):
            return (operand,)
        case ir.Lookup(_, values, index):
            return values, index
        case ir.Slice(_, values, start, stop):
            return tuple(part for part in (values, start, stop) if part is not None)
        case ir.Call(_, _, arguments):
            return arguments
        case ir.Listing(_, parts):
            return parts
    raise AssertionError(expression)


def _compare(comparison: ir.Comparison, place: Place) -> bool:
    left, right = evaluate(comparison.left, place), evaluate(comparison.right, place)
    if left is None or right is None:
        return False
    if comparison.enclosing is not None and isinstance(place, Cell) and not _common(comparison.enclosing, place):
        return False
    return arithmetic.compare(comparison.operator, left, right)


def _common(enclosing: ir.Enclosing, cell: Cell) -> bool:
    for name in enclosing.names:
        a = int(cell.queries.enclosing(enclosing.query_region, name)[cell.q])
        b = int(cell.keys.enclosing(enclosing.key_region, name)[cell.k])
        if a >= 0 and b >= 0 and a != b:
            return False
    return True


def _running_total(operand: ir.Expression, token: Token) -> Value | None:
    if evaluate(operand, token) is None:
        return None
    axis = token.axis
    place = token.slot if axis.written is None else int(axis.written[token.slot])
    total = 0
    for slot in range(axis.length):
        if (slot if axis.written is None else int(axis.written[slot])) <= place and not axis.padding[slot]:
            value = evaluate(operand, Token(axis, slot))
            total += int(value) if isinstance(value, int) else 0
    return total


# ---------------------------------------------------------------- relations


def holds(relation: ir.Relation, cell: Cell) -> bool:
    """Whether a relation holds for a query and a key."""
    match relation:
        case ir.AllPairs():
            return True
        case ir.NoPairs():
            return False
        case ir.Both(_, parts):
            return all(holds(part, cell) for part in parts)
        case ir.Either(_, parts):
            return any(holds(part, cell) for part in parts)
        case ir.Complement(_, inner):
            return not holds(inner, cell)
        case ir.Condition(_, expression):
            return true(expression, cell)
    return _COMPARED[type(relation)](relation, cell)


def _pairs(by: ir.By, cell: Cell) -> list[tuple[Value, Value]] | None:
    """The query's and the key's value of every part; None where one is absent or parents differ."""
    pairs: list[tuple[Value, Value]] = []
    for part in by.parts:
        q = evaluate(part.expression, cell.token(Side.QUERY))
        k = evaluate(part.expression, cell.token(Side.KEY))
        if q is None or k is None or (part.enclosing is not None and not _common(part.enclosing, cell)):
            return None
        pairs.append((q, k))
    return pairs


def _numbers(by: ir.By, cell: Cell) -> list[tuple[int, int]] | None:
    pairs = _pairs(by, cell)
    if pairs is None:
        return None
    return [(arithmetic.number(q, "a coordinate"), arithmetic.number(k, "a coordinate")) for q, k in pairs]


def _same(relation: ir.Same, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and all(arithmetic.equal(q, k) for q, k in pairs)


def _causal(relation: ir.Causal, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and not _query_first(pairs)


def _before(relation: ir.Before, cell: Cell) -> bool:
    pairs = _pairs(relation.by, cell)
    return pairs is not None and _query_first([(k, q) for q, k in pairs])


def _query_first(pairs: list[tuple[Value, Value]]) -> bool:
    """Whether the first values are lexicographically smaller than the second ones."""
    for first, second in pairs:
        if not arithmetic.equal(first, second):
            return arithmetic.less(first, second)
    return False


def _window(relation: ir.Window, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    behind, ahead = evaluate(relation.behind, cell), evaluate(relation.ahead, cell)
    if pairs is None or behind is None or ahead is None:
        return False
    for side, value in (("behind", behind), ("ahead", ahead)):
        if value is not ANY and arithmetic.number(value, f"`{side}`") < 0:
            raise EvaluationError(f"`{side}` is {value}: a window counts keys beside the query's own", slot=cell.q)
    distance = pairs[0][0] - pairs[0][1]
    return not arithmetic.less(behind, distance) and not arithmetic.less(ahead, -distance)


def _disc(relation: ir.Disc, cell: Cell) -> bool:
    pairs, radius = _numbers(relation.by, cell), evaluate(relation.radius, cell)
    if pairs is None or radius is None:
        return False
    reach = arithmetic.number(radius, "the radius")
    if reach < 0:
        raise EvaluationError(f"the radius is {reach}", slot=cell.q)
    squared = sum((q - k) ** 2 for q, k in pairs)
    return isqrt(squared) < reach or (relation.inclusive and squared == reach * reach)


def _box(relation: ir.Box, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    for side, part, (q, k) in zip(relation.sides, relation.by.parts, pairs, strict=True):
        if side.size is not None and not _in_side(side, q, k, extent(part, cell.token(Side.KEY))):
            return False
        if (q - k) % side.dilation:
            return False
    return True


def extent(part: ir.Part, key: Token) -> int:
    """The largest value of a box's coordinate among the tokens that share the key's region, plus 1."""
    axis = key.axis
    group = axis.innermost() if part.extent_region is None else axis.siblings(part.extent_region)
    slots = np.flatnonzero((group == group[key.slot]) & ~axis.padding)
    values = [evaluate(part.expression, Token(axis, int(slot))) for slot in slots]
    return 1 + max(value for value in values if type(value) is int)


def _in_side(side: ir.BoxSide, q: int, k: int, extent: int) -> bool:
    residue = q % side.dilation
    positions = -((residue - extent) // side.dilation)
    own, j, size = q // side.dilation, k // side.dilation, side.size or 0
    middle = side.stride - 1 if side.causal else side.stride // 2
    p = min(own // side.stride * side.stride + middle, positions - 1)
    if side.causal:
        return p - size < j <= own
    behind = size // 2 if side.lean is not ir.Lean.AHEAD else size - 1 - size // 2
    ahead = size - 1 - behind
    if side.edge is ir.Edge.CUT:
        return p - behind <= j <= p + ahead
    start = min(max(p - behind, 0), max(positions - size, 0))
    return start <= j < start + size


def _path(relation: ir.Path, cell: Cell) -> bool:
    pairs, parents = _numbers(relation.by, cell), evaluate(relation.parents, cell)
    if pairs is None or parents is None:
        return False
    node, wanted = pairs[0]
    up = arithmetic.numbers(parents, "the parents")
    for _ in range(len(up) + 1):
        if node == wanted:
            return True
        if not 0 <= node < len(up):
            raise EvaluationError(f"node {node} has no entry among {len(up)} parents", slot=cell.q)
        node = up[node]
        if node == -1:
            return False
    raise EvaluationError("the parents run in a circle", slot=cell.q)


def _rectangles(relation: ir.Rectangles, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    q, k = pairs[0]
    return any(
        q0 <= q < q1 and k0 <= k < k1 and low <= k - q <= high for q0, q1, k0, k1, low, high in relation.rows.tolist()
    )


def _intervals(relation: ir.IntervalLists, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None or not 0 <= pairs[0][0] < len(relation.offsets) - 1:
        return False
    q, k = pairs[0]
    return any(
        int(relation.starts[i]) <= k < int(relation.ends[i])
        for i in range(int(relation.offsets[q]), int(relation.offsets[q + 1]))
    )


def _random(relation: ir.RandomKeys, cell: Cell) -> bool:
    pairs = _numbers(relation.by, cell)
    if pairs is None:
        return False
    q, k = pairs[0]
    tokens = [Token(cell.keys, slot) for slot in range(cell.keys.length) if not cell.keys.padding[slot]]
    found = {evaluate(relation.by.parts[0].expression, token) for token in tokens}
    values = sorted(value for value in found if type(value) is int)
    drawn = sorted(values, key=lambda value: (draw(relation.seed, q, value), value))
    return k in drawn[: relation.count]


def draw(seed: int, q: int, value: int) -> int:
    """The draw of key value `value` for query value `q`, unsigned 64 bit."""
    return splitmix64(splitmix64(splitmix64(seed) ^ (q & _WORD)) ^ (value & _WORD))


def splitmix64(z: int) -> int:
    """One step of splitmix64 (Steele, Lea, Flood 2014)."""
    z = (z + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


_COMPARED: dict[type, Callable[..., bool]] = {
    ir.Same: _same,
    ir.Causal: _causal,
    ir.Before: _before,
    ir.Window: _window,
    ir.Disc: _disc,
    ir.Box: _box,
    ir.Path: _path,
    ir.Rectangles: _rectangles,
    ir.IntervalLists: _intervals,
    ir.RandomKeys: _random,
}
