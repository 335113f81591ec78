"""Why a cell is visible or not."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask.errors import UsageError
from compilemask.language import meaning
from compilemask.language import program as ir
from compilemask.language.meaning_reasons import text_of, why_not
from compilemask.language.meaning_values import Cell
from compilemask.source import Span


@dataclass(frozen=True, slots=True)
class Considered:
    """A rule that selects the query and the key and does not show the cell, or the limit that cuts it, and why."""

    rule: ir.Rule | ir.Limit
    why: str

    @property
    def text(self) -> str:
        """The rule as the file says it."""
        return text_of(self.rule.span)

    @property
    def place(self) -> str:
        """`line 8`, or the rule's number where it has no line."""
        return f"line {self.rule.span.line}" if self.rule.span is not None else f"rule {self.rule.number}"

    def sentence(self) -> str:
        """`line 8: noisy sees clean : before by block — query's block 2 is not after key's block 4`."""
        return f"{self.place}: {self.text} — {self.why}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rule or limit that decides a cell; `rule` is None where no rule shows or hides it.

    `considered` holds, for a hidden cell, the rules that select its query and key and do not show it.
    """

    visible: bool
    rule: ir.Rule | ir.Limit | None
    rule_number: int | None
    span: Span | None
    text: str
    considered: tuple[Considered, ...] = ()

    def __str__(self) -> str:
        return f"{'visible' if self.visible else 'hidden'}: {self.sentence()}"

    def sentence(self) -> str:
        """All of it in one line, for a place that shows the rules beside it: `line 8: query's block 2 is not ...`."""
        if isinstance(self.rule, ir.Limit):
            return f"{self.text}: {self.considered[0].why}"
        reasons = "; ".join(f"{one.place}: {one.why}" for one in self.considered)
        if self.rule is None and reasons:
            return reasons
        return f"{self.text}; {reasons}" if reasons else self.text

    def line(self) -> int | None:
        """The line to look at: of what decides, else of the first rule that was considered."""
        spans = [self.span, *(one.rule.span for one in self.considered)]
        return next((span.line for span in spans if span is not None), None)


def explain(program: ir.Program, query: int, key: int, batch: int = 0, head: int = 0) -> Explanation:
    """What decides one cell, by the definition of the language. Raises UsageError for a cell outside of the mask."""
    variant = program.variant_of(batch, head)
    for slot, axis, what in ((query, variant.queries, "query"), (key, variant.keys, "key")):
        if not 0 <= slot < axis.length:
            numbers = f"numbered 0 to {axis.length - 1:,}" if axis.length else "so there is no cell to explain"
            raise UsageError(f"{what} {slot:,} is outside of the mask, which has {axis.length:,}, {numbers}")
        if axis.padding[slot]:
            return Explanation(False, None, None, None, f"{what} {slot:,} is padding: it sees and is seen by nothing")
    visible, rule = meaning.deciding_rule(program, query, key, batch, head)
    cell = Cell(variant.queries, variant.keys, query, key)
    if rule is None:
        considered = _considered(variant, cell, 0)
        text = "no rule shows it" if considered else "no rule selects this query and this key"
        return Explanation(False, None, None, None, text, considered)
    line = "" if rule.span is None else f" (line {rule.span.line})"
    if isinstance(rule, ir.Limit):
        text = f"a rule shows it, but limit {rule.number}{line} cuts it"
        return Explanation(False, rule, rule.number, rule.span, text, (Considered(rule, why_not(rule.how, cell)),))
    text = f"rule {rule.number}{line} {'shows' if rule.shows else 'hides'} it"
    considered = () if visible else _considered(variant, cell, rule.number)
    return Explanation(visible, rule, rule.number, rule.span, text, considered)


def _considered(variant: ir.Variant, cell: Cell, after: int) -> tuple[Considered, ...]:
    """The rules below number `after` that would show the cell if their relation held."""
    return tuple(
        Considered(rule, why_not(rule.how, cell))
        for rule in variant.rules.rules
        if isinstance(rule, ir.Rule) and rule.shows and rule.number > after and meaning.selects_cell(rule, cell)
    )
