"""Rules, limits and orders of one head."""

from __future__ import annotations

from compilemask.language import columns, syntax
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.bind_coordinates import BOTH_AXES, RuleTokens, by_of
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_file import Collected
from compilemask.language.bind_names import selector_paths
from compilemask.language.bind_positions import sort_keys
from compilemask.language.bind_relations import Place, relation
from compilemask.language.bind_scope import AxisNames, Context, Mode, Scope, evaluating
from compilemask.language.bind_selectors import selector
from compilemask.language.checker_rules import check_rule
from compilemask.language.findings import RejectError, reject
from compilemask.language.program import Side

_PAIR = Context(Mode.PAIR)


def bind_rules(scope: Scope, collected: Collected) -> ir.RuleList:
    """All rules that run for the head and sample of the scope, in their order."""
    bound: list[ir.Rule | ir.Limit] = []
    number = 0
    scope.fixed_by_limit = any(
        isinstance(rule, syntax.Limit) and isinstance(rule.how, syntax.Same | syntax.Within)
        for block in collected.rules
        for rule in block.rules
    )
    for block in collected.rules:
        first = number + 1
        number += len(block.rules)
        with scope.findings.catching():
            if not _applies(scope, block):
                _skim(scope, block, first)
                continue
            for place, rule in enumerate(block.rules):
                scope.nodes = 0
                scope.statement = rule.span
                with scope.findings.catching():
                    bound.append(_rule(scope, rule, first + place))
    return ir.RuleList(tuple(bound))


def _skim(scope: Scope, block: syntax.Rules, first: int) -> None:
    """Report unknown names in rules that do not run with these values."""
    if id(block) in scope.skimmed:
        return
    scope.skimmed.add(id(block))
    for place, rule in enumerate(block.rules):
        with scope.findings.catching(), scope.names_only():
            _bound(scope, rule, first + place)


def _applies(scope: Scope, block: syntax.Rules) -> bool:
    if block.when is None:
        return True
    bound = expression(scope, block.when, Context(Mode.VALUE))
    if isinstance(bound, ir.Constant) and type(bound.value) is bool:
        return bound.value
    raise reject("not-a-condition", "`when` needs a condition over parameters, `head` and `batch`", block.when.span)


def _rule(scope: Scope, rule: syntax.Rule | syntax.Limit, number: int) -> ir.Rule | ir.Limit:
    bound = _bound(scope, rule, number)
    key = (id(scope.axes["queries"]), id(scope.axes["keys"]), bound)
    if key not in scope.checked:
        check_rule(scope, bound)
        scope.checked.add(key)
    return bound


def _bound(scope: Scope, rule: syntax.Rule | syntax.Limit, number: int) -> ir.Rule | ir.Limit:
    if isinstance(rule, syntax.Limit):
        return ir.Limit(rule.span, number, relation(scope, rule.how, Place(_PAIR, RuleTokens())))
    parts: list[ir.Selector | None] = []
    for node, axis in ((rule.who, "queries"), (rule.whom, "keys")):
        parts.append(None)
        with scope.findings.catching():
            parts[-1] = selector(scope, node, Context(Mode.TOKEN, Side.THIS, (axis,)))
    who, whom = parts
    tokens = RuleTokens(
        leaves_of(who, scope.axis_names["queries"]) if who is not None else None,
        leaves_of(whom, scope.axis_names["keys"]) if whom is not None else None,
    )
    how = relation(scope, rule.how, Place(_PAIR, tokens))
    if who is None or whom is None:
        raise RejectError(None)
    return ir.Rule(rule.span, number, rule.shows, who, whom, how)


def leaves_of(chosen: ir.Selector, names: AxisNames) -> frozenset[int] | None:
    """The leaf regions that a selector can reach, as places in the axis' paths; None: all."""
    match chosen:
        case ir.RegionTokens(_, path) | ir.NumberedTokens(_, path) | ir.RangeTokens(_, path):
            return frozenset(names.leaves(path))
        case ir.EndTokens(of=of) | ir.WhereTokens(of=of):
            return leaves_of(of, names)
        case ir.UnionTokens(_, parts):
            found = [leaves_of(part, names) for part in parts]
            known = [leaves for leaves in found if leaves is not None]
            return frozenset().union(*known) if len(known) == len(found) else None
    return None


# ---------------------------------------------------------------- order


def bind_orders(scope: Scope, collected: Collected) -> tuple[ir.Order, ...]:
    """The token orders that the file asks for."""
    orders: list[ir.Order] = []
    for statement in collected.orders:
        with scope.findings.catching():
            orders.append(_order(scope, statement))
    return tuple(orders)


def _order(scope: Scope, statement: syntax.Order) -> ir.Order:
    if statement.selector is None or statement.coordinate is None:
        return ir.Order(statement.span, None, None)
    names = scope.axis_names
    axes = tuple(
        axis
        for axis in BOTH_AXES
        if not _paths(statement.selector) or any(names[axis].has(p) for p in _paths(statement.selector))
    )
    chosen = selector(scope, statement.selector, Context(Mode.TOKEN, Side.THIS, axes or BOTH_AXES))
    context = Context(Mode.PAIR)
    by = by_of(scope, statement.coordinate, context, statement.span, axes)
    for axis in {id(scope.axes[name]): scope.axes[name] for name in axes}.values():
        _check_order(chosen, by, axis, statement)
    return ir.Order(statement.span, chosen, by)


def _paths(node: syntax.Selector) -> list[tuple[str, ...]]:
    return [path.names for path in selector_paths(node)]


def _check_order(chosen: ir.Selector, by: ir.By, axis: Axis, statement: syntax.Order) -> None:
    assert statement.coordinate is not None
    with evaluating(statement.span, axis):
        slots = columns.selected(chosen, axis).nonzero()[0]
    sort_keys(tuple(part.expression for part in by.parts), axis, slots, statement.coordinate.span)
