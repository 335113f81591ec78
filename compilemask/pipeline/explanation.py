"""Why a cell is visible or not."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask.language import meaning
from compilemask.language import program as ir
from compilemask.source import Span


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rule or limit that decides a cell; `rule` is None where no rule speaks of it."""

    visible: bool
    rule: ir.Rule | ir.Limit | None
    rule_number: int | None
    span: Span | None
    text: str


def explain(program: ir.Program, query: int, key: int, batch: int = 0, head: int = 0) -> Explanation:
    """What decides one cell, by the definition of the language."""
    variant = program.variant_of(batch, head)
    for slot, axis, what in ((query, variant.queries, "query"), (key, variant.keys, "key")):
        if axis.padding[slot]:
            return Explanation(False, None, None, None, f"{what} {slot:,} is padding: it sees and is seen by nothing")
    visible, rule = meaning.deciding_rule(program, query, key, batch, head)
    if rule is None:
        return Explanation(False, None, None, None, "no rule shows it")
    line = "" if rule.span is None else f" (line {rule.span.line})"
    if isinstance(rule, ir.Limit):
        return Explanation(
            False, rule, rule.number, rule.span, f"a rule shows it, but limit {rule.number}{line} cuts it"
        )
    word = "shows" if rule.shows else "hides"
    return Explanation(visible, rule, rule.number, rule.span, f"rule {rule.number}{line} {word} it")
