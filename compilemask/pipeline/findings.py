"""What the compiled intervals say about the file: notes and warnings that need no more than them."""

from __future__ import annotations

import numpy as np

from compilemask.intervals.lowering import Lowered
from compilemask.intervals.painting import Effect, RuleEffect
from compilemask.intervals.solve import Form
from compilemask.language.program import Program, Rule, Variant
from compilemask.pipeline.absent import absent_value
from compilemask.pipeline.best_order import Candidate
from compilemask.source import Diagnostic, Severity
from compilemask.tiles import TileMap

RUNS_UNFRIENDLY = 64
VARIANTS_ASKED = 16  # a rule that never matches in more of them is reported without the reason

TAKEN_HINT = "take it out, the mask stays as it is; or move it down to make it count: a later rule wins"

# what of the rule, what one later rule does with it, what several do
_TAKEN: dict[Effect, tuple[str, str, str]] = {
    Effect.HIDDEN: ("all that it shows", "hides", "hide"),
    Effect.SHOWN: ("all that it hides", "shows", "show"),
    Effect.REPAINTED: ("every cell of this one", "decides about", "decide about"),
}
_IDLE: dict[Effect, tuple[str, str, str]] = {
    Effect.NEVER: (
        "rule-never-matches",
        "this rule never matches: no query it selects and no key it selects satisfy it (limits counted in)",
        "look at the relation and at the limits, or take the rule out",
    ),
    Effect.NOTHING_TO_HIDE: (
        "rule-hides-nothing",
        "this rule changes nothing: no earlier rule shows what it hides",
        "rules run from top to bottom; move it below the rule that shows these cells",
    ),
}


def findings(program: Program, kept: tuple[Lowered, ...]) -> tuple[Diagnostic, ...]:
    """Warnings and notes about the compiled mask, once each."""
    found = _rules(program.variants, kept)
    for lowered in kept:
        found += _per_cell(lowered)
    for variant, lowered in zip(program.variants, kept, strict=True):
        found += _empty_rows(variant, lowered)
        found += _unseen_keys(variant, lowered)
    return tuple(dict.fromkeys(found))


def is_fragmented(lowered: Lowered) -> bool:
    """Whether the mask has so many runs a row (or a column, where it is kept in columns) that its tiles matter."""
    return lowered.intervals.runs > RUNS_UNFRIENDLY * max(1, lowered.intervals.rows)


def fragments(lowered: Lowered, tiles: TileMap, better: Candidate | None) -> Diagnostic | None:
    """A warning where a fragmented mask has no full tile; `better` is an order that would visit fewer tiles."""
    if tiles.full or not tiles.partial:
        return None
    line = "row" if lowered.form is Form.ROW else "column"
    message = (
        f"not tile-friendly: {lowered.intervals.runs / lowered.intervals.rows:,.0f} runs a {line} on average, and none "
        f"of the {tiles.visited:,} visited {tiles.block_m} x {tiles.block_n} tiles is full"
    )
    hint = "let tokens that see each other lie side by side: `order ... stored by` a coordinate that they share"
    if better is not None:
        hint = f"in the order {better.name} it would visit {better.visited:,} tiles: `order best` chooses it"
    return Diagnostic(Severity.WARNING, "not-tile-friendly", message, None, hint)


def _rules(variants: tuple[Variant, ...], kept: tuple[Lowered, ...]) -> list[Diagnostic]:
    """A rule is reported if it is idle in every variant that has it."""
    effects: dict[int, list[tuple[RuleEffect, Variant]]] = {}
    for variant, lowered in zip(variants, kept, strict=True):
        for one in lowered.effects:
            if one.effect is not Effect.UNUSED:
                effects.setdefault(one.rule.number, []).append((one, variant))
    idle = [found for found in effects.values() if all(one.effect is not Effect.USED for one, _ in found)]
    return [_idle([one for one, _ in found], [variant for _, variant in found]) for found in idle]


def _idle(found: list[RuleEffect], variants: list[Variant]) -> Diagnostic:
    """The warning for a rule that changes nothing in any variant, for whatever reasons."""
    kinds = {one.effect for one in found}
    effect = found[0].effect if len(kinds) == 1 else Effect.REPAINTED
    if effect in _IDLE:
        code, message, hint = _IDLE[effect]
        if effect is Effect.NEVER:
            hint = _absent(found, variants) or hint
        return Diagnostic(Severity.WARNING, code, message, found[0].rule.span, hint)
    what, does, do = _TAKEN[effect]
    by = found[0].by
    one_rule = by is not None and all(one.by is not None and one.by.number == by.number for one in found)
    who = f"the rule {_place(by, found[0].rule)} {does}" if by is not None and one_rule else f"later rules {do}"
    message = f"this rule changes nothing with these sizes: {who} {what}"
    return Diagnostic(Severity.WARNING, "rule-hidden", message, found[0].rule.span, TAKEN_HINT)


def _absent(found: list[RuleEffect], variants: list[Variant]) -> str | None:
    """The absent value that keeps a rule from matching, where it is the same one in every variant."""
    if len(found) > VARIANTS_ASKED:
        return None
    reasons = {absent_value(one.rule, variant) for one, variant in zip(found, variants, strict=True)}
    return reasons.pop() if len(reasons) == 1 else None


def _place(rule: Rule, seen_from: Rule) -> str:
    """`in line 9`, with the file where it is another one."""
    if rule.span is None:
        return "below it"
    here = seen_from.span is not None and seen_from.span.source.name == rule.span.source.name
    return f"in line {rule.span.line}" + ("" if here else f" of {rule.span.source.name}")


def _per_cell(lowered: Lowered) -> list[Diagnostic]:
    message = "this condition is evaluated pair by pair: slow for long sequences"
    hint = "a comparison of one coordinate of the query with one of the key becomes a range"
    return [Diagnostic(Severity.WARNING, "per-cell", message, one.span, hint) for one in lowered.per_cell]


def _empty_rows(variant: Variant, lowered: Lowered) -> list[Diagnostic]:
    blind = np.flatnonzero(~lowered.seeing_queries() & ~variant.queries.padding)
    if not blind.size:
        return []
    who = "1 query sees" if blind.size == 1 else f"{blind.size:,} queries see"
    message = f"{who} nothing, the first is query {int(blind[0]):,}: the output there is 0"
    return [Diagnostic(Severity.NOTE, "empty-rows", message)]


def _unseen_keys(variant: Variant, lowered: Lowered) -> list[Diagnostic]:
    unseen = np.flatnonzero(~lowered.seen_keys() & ~variant.keys.padding)
    if not unseen.size:
        return []
    what = "1 key is" if unseen.size == 1 else f"{unseen.size:,} keys are"
    return [Diagnostic(Severity.NOTE, "unseen-keys", f"{what} seen by no query, the first is key {int(unseen[0]):,}")]
