"""Checks of a whole file: statements that do not go together, names that nobody uses, masks that nobody meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.bind_file import Collected
from compilemask.language.bind_parameters import names_in
from compilemask.language.bind_scope import Scope
from compilemask.language.findings import Findings, reject
from compilemask.source import Diagnostic, Severity


def check_names(collected: Collected, findings: Findings) -> None:
    """Warn of parameters and `let`s that nothing uses; refuse a file without rules or with rules that only hide."""
    used = set(_used_names(collected))
    for name, declared in collected.parameters.items():
        if name not in used:
            findings.warn("unused-parameter", f"the parameter `{name}` is never used", declared.parameter.span)
    for name, let in collected.lets.items():
        if name not in used:
            findings.warn("unused-let", f"`{name}` is never used", let.span)
    _check_let_order(collected, findings)
    _check_shows(collected, findings)


def _check_let_order(collected: Collected, findings: Findings) -> None:
    """Report every `let` that uses itself or one below it."""
    order = {name: place for place, name in enumerate(collected.lets)}
    for name, let in collected.lets.items():
        words = {*names_in((let.value, let.cases)), *_attributes((let.value, let.cases))} - set(let.formals)
        for other in sorted(words & set(order), key=order.__getitem__):
            if order[other] < order[name]:
                continue
            what = "itself" if other == name else f"`{other}`, which stands below it"
            collected.broken.add(name)
            findings.add(
                Diagnostic(
                    Severity.ERROR,
                    "let-order",
                    f"`{name}` uses {what}",
                    let.span,
                    "a `let` may use only names above it",
                )
            )


def _used_names(collected: Collected) -> Iterator[str]:
    for declared in collected.parameters.values():
        yield from names_in(declared.parameter.default)
    statements: list[syntax.Statement | None] = [
        *collected.requires,
        collected.heads,
        *collected.layouts.values(),
        collected.queries_from,
        *collected.positions.values(),
        *collected.rules,
        *collected.orders,
        *collected.lets.values(),
    ]
    for statement in statements:
        yield from names_in(statement)
        yield from _attributes(statement)


def _attributes(node: object) -> Iterator[str]:
    """The words behind dots, and behind `within`."""
    if isinstance(node, tuple):
        for item in node:
            yield from _attributes(item)
    elif isinstance(node, syntax.Node):
        if isinstance(node, syntax.Attribute):
            yield node.name
        for name in node.__dataclass_fields__:
            value = getattr(node, name)
            if isinstance(value, syntax.Node | tuple):
                yield from _attributes(value)


def _check_shows(collected: Collected, findings: Findings) -> None:
    rules = [rule for block in collected.rules for rule in block.rules]
    if not rules:
        findings.warn(
            "no-rules",
            "there are no rules: nothing is visible",
            None,
            "add `rules` with lines such as `a sees b : causal`",
        )
    elif not any(isinstance(rule, syntax.Rule) and rule.shows for rule in rules):
        findings.warn(
            "only-limits",
            "no rule shows anything: a `limit` and `cannot see` only hide",
            rules[0].span,
            "add a rule with `sees`",
        )


def check_layouts(collected: Collected) -> None:
    """Refuse a file without axes, or with statements that need other axes than it has."""
    layouts = collected.layouts
    if not layouts:
        raise reject(
            "layout-missing",
            "there is no layout: nothing says which tokens there are",
            None,
            "add `layout`, or `queries` and `keys`",
        )
    if "layout" in layouts and len(layouts) > 1:
        other = next(layout for name, layout in layouts.items() if name != "layout")
        raise reject(
            "layout-twice",
            f"both `layout` and `{other.axis}` are given",
            other.span,
            "`layout` is for both axes; use it alone",
        )
    if "layout" not in layouts and len(layouts) == 1:
        (name,) = layouts
        missing = "keys" if name == "queries" else "queries"
        raise reject(
            f"{missing}-missing",
            f"`{name}` is given, `{missing}` is not",
            layouts[name].span,
            "or use `layout` for both",
        )
    if "layout" in layouts:
        _check_one_layout(collected)
    elif collected.queries_from is not None:
        raise reject(
            "queries-twice",
            "`queries are` chooses from a `layout`, and the queries have their own",
            collected.queries_from.span,
        )
    _check_positions(collected)


def _check_one_layout(collected: Collected) -> None:
    if collected.align is not None:
        raise reject(
            "align-one-axis",
            "`align` relates two axes, and there is one layout for both",
            collected.align.span,
            "leave it out; for queries that are some of the keys write `queries are ...`",
        )
    queries, keys = (collected.positions.get(name) for name in ("queries", "keys"))
    if (queries or keys) and queries is not keys:
        statement = queries or keys
        assert statement is not None
        raise reject("position-one-axis", "there is one layout for both axes", statement.span, "write `position = ...`")


def _check_positions(collected: Collected) -> None:
    align = collected.align
    if align is None:
        return
    if "queries" in collected.positions:
        raise reject(
            "align-and-position",
            "`align` and `position queries` both say where queries stand",
            align.span,
            "keep one of them; `position keys` goes with `align`",
        )


def check_roles(scope: Scope, collected: Collected) -> None:
    """Refuse names that stand for two things: a region and a `let`, or a region and padding."""
    regions = scope.regions()
    for name, let in collected.lets.items():
        if name in regions:
            raise reject("name-twice", f"`{name}` is a region and a `let`", let.span, "rename one of them")


def check_program(collected: Collected, variants: Sequence[ir.Variant], findings: Findings) -> None:
    """Warn of whole-mask findings that need no intervals."""
    findings.warn_selections()
    for block in collected.rules:
        if (
            block.when is not None
            and "head" in names_in(block.when)
            and not any(_runs(block, variant) for variant in variants)
        ):
            findings.warn("never-applies", "this `when` is false for every head and sample", block.when.span)


def _runs(block: syntax.Rules, variant: ir.Variant) -> bool:
    spans = [rule.span for rule in block.rules]
    return any(any(rule.span is span for span in spans) for rule in variant.rules.rules)
