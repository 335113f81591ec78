"""One sample of the batch: its parameters, its axes, and the rules of every head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from compilemask.language import checker, columns, syntax
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_file import Collected
from compilemask.language.bind_layout import LayoutBinder, axis_names
from compilemask.language.bind_parameters import (
    MOST_HEADS,
    Given,
    ParameterBinder,
    check_requirements,
    common_length,
)
from compilemask.language.bind_positions import aligned, positioned, stored
from compilemask.language.bind_rules import bind_orders, bind_rules
from compilemask.language.bind_scope import Context, Mode, Scope, evaluating
from compilemask.language.bind_selectors import selector
from compilemask.language.findings import Findings, RejectError, reject
from compilemask.language.program import Side
from compilemask.language.values import ListValue, Value, describe
from compilemask.source import Span


@dataclass(frozen=True, slots=True)
class BoundSample:
    """`head_variant[h]` is the place of head h's mask in `variants`; `used_batch`: something asks for the number."""

    variants: tuple[ir.Variant, ...]
    head_variant: tuple[int, ...]
    used_batch: bool
    layout_span: Span | None

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """The queries and the keys; one object where the file has one layout."""
        return self.variants[0].queries, self.variants[0].keys


def heads_of(collected: Collected, given: Given, raw: Mapping[str, Value], findings: Findings, batch: int) -> int:
    """The number of heads: `heads n`, or the common length of the values per head."""
    lengths: dict[str, int] = {}
    for name, declared in collected.parameters.items():
        if declared.parameter.per == "head":
            own = {
                f" of sample {number}": sample[name] for number, sample in enumerate(given.samples) if name in sample
            }
            for where, value in {**({"": raw[name]} if name in raw else {}), **own}.items():
                lengths[f"`{name}`{where}"] = _per_head(declared.parameter, value)
    common = common_length(lengths, "head", "per head", MOST_HEADS)
    if collected.heads is None:
        return common
    counts = {_heads(collected, given, number, findings) for number in range(batch)}
    if len(counts) > 1:
        raise reject("heads-differ", "`heads` differs between the samples", collected.heads.span)
    count = counts.pop()
    if common > 1 and common != count:
        name = next(name for name, length in lengths.items() if length != 1)
        raise reject(
            "lengths-differ", f"`heads` is {count}, and {name} has {common} entries per head", collected.heads.span
        )
    return count


def _per_head(parameter: syntax.Parameter, value: Value) -> int:
    """The number of entries of a value per head."""
    if isinstance(value, ListValue) and len(value):
        return len(value)
    raise reject(
        "per-value",
        f"`{parameter.name}` is declared per head and is {describe(value)}",
        parameter.span,
        "give a list with one entry per head",
    )


def _heads(collected: Collected, given: Given, number: int, findings: Findings) -> int:
    assert collected.heads is not None
    scope = _scope(collected, given, number, findings)
    span = collected.heads.count.span
    bound = expression(scope, collected.heads.count, Context(Mode.VALUE))
    if not isinstance(bound, ir.Constant) or type(bound.value) is not int:
        raise reject("not-a-number", "`heads` needs a number", span)
    if not 1 <= bound.value <= MOST_HEADS:
        raise reject("head-count", f"`heads` is {bound.value}, expected 1 to {MOST_HEADS}", span)
    return bound.value


def _scope(collected: Collected, given: Given, number: int, findings: Findings) -> Scope:
    scope = Scope(findings, expression)
    scope.select = selector
    scope.batch = number
    scope.per_head = frozenset(
        name for name, declared in collected.parameters.items() if declared.parameter.per == "head"
    )
    scope.lets = collected.lets
    scope.broken |= collected.broken
    scope.let_order = {name: place for place, name in enumerate(collected.lets)}
    ParameterBinder(scope, collected, given, number).bind_all()
    return scope


def bind_sample(
    collected: Collected, given: Given, number: int, batch: int, heads: int, findings: Findings
) -> BoundSample | None:
    """Bind one sample, or report why it cannot be."""
    scope = _scope(collected, given, number, findings)
    where = f" (sample {number})" if batch > 1 else ""
    check_requirements(scope, collected.requires, where)
    with findings.catching():
        _bind_axes(scope, collected)
        return _bind_heads(scope, collected, heads)
    return None


# ---------------------------------------------------------------- axes


def _bind_axes(scope: Scope, collected: Collected) -> None:
    layouts = collected.layouts
    checker.check_layouts(collected)
    if "layout" in layouts:
        _one_layout(scope, collected, layouts["layout"])
    else:
        _two_layouts(scope, collected)


def _one_layout(scope: Scope, collected: Collected, layout: syntax.Layout) -> None:
    names = axis_names("layout", layout.items)
    scope.axis_names = {"queries": names, "keys": names}
    checker.check_roles(scope, collected)
    axis = Axis("layout", LayoutBinder(scope, layout).runs())
    axis = stored(scope, axis, layout)
    scope.axes = {"queries": axis, "keys": axis}
    statement = collected.positions.get("keys")
    if statement is not None:
        axis = positioned(scope, axis, statement, "keys")
        scope.axes = {"queries": axis, "keys": axis}
        scope.aligned = True
    if collected.queries_from is not None:
        scope.axes["queries"] = _picked(scope, axis, collected.queries_from)


def _picked(scope: Scope, axis: Axis, statement: syntax.QueriesFrom) -> Axis:
    bound = selector(scope, statement.selector, Context(Mode.TOKEN, Side.THIS, ("keys",)))
    with evaluating(statement.span, axis):
        chosen = columns.selected(bound, axis)
    return axis.picking(np.flatnonzero(chosen), "queries")


def _two_layouts(scope: Scope, collected: Collected) -> None:
    layouts = collected.layouts
    scope.two_axes = True
    scope.axis_names = {name: axis_names(name, layouts[name].items) for name in ("queries", "keys")}
    checker.check_roles(scope, collected)
    built: dict[str, Axis] = {}
    for name in ("queries", "keys"):
        with scope.findings.catching():
            axis = Axis(name, LayoutBinder(scope, layouts[name]).runs())
            built[name] = stored(scope, axis, layouts[name])
    if len(built) < 2:
        raise RejectError(None)
    scope.axes = built
    for name, statement in collected.positions.items():
        scope.axes[name] = positioned(scope, scope.axes[name], statement, name)
        scope.aligned = True
    if collected.align is not None:
        scope.axes["queries"] = aligned(scope, scope.axes["queries"], scope.axes["keys"], collected.align)
        scope.aligned = True


# ---------------------------------------------------------------- heads


def _bind_heads(scope: Scope, collected: Collected, heads: int) -> BoundSample:
    per_head = {name: scope.parameters[name] for name in scope.per_head if name in scope.parameters}
    variants: list[ir.Variant] = []
    known: dict[ir.RuleList, int] = {}
    places: list[int] = []
    orders = bind_orders(scope, collected)
    scope.used_head = False
    for head in range(heads):
        if head == 1 and not scope.used_head:
            places += [0] * (heads - 1)
            break
        scope.head = head
        for name, value in per_head.items():
            assert isinstance(value, ListValue)
            scope.parameters[name] = value[head if len(value) > 1 else 0]
        rules = bind_rules(scope, collected)
        if rules not in known:
            known[rules] = len(variants)
            variants.append(ir.Variant(scope.axes["queries"], scope.axes["keys"], rules, orders))
        places.append(known[rules])
    layout = next(iter(collected.layouts.values()), None)
    return BoundSample(tuple(variants), tuple(places), scope.used_batch, layout.span if layout else None)
