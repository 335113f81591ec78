"""What the compiled intervals say about the file: notes and warnings that need no more than them."""

from __future__ import annotations

import numpy as np

from compilemask.intervals.lowering import Effect, Lowered
from compilemask.intervals.solve import Form
from compilemask.language.program import Program, Variant
from compilemask.pipeline.best_order import Candidate
from compilemask.source import Diagnostic, Severity
from compilemask.tiles import TileMap

RUNS_UNFRIENDLY = 64

_EFFECTS: dict[Effect, tuple[str, str, str]] = {
    Effect.NEVER: (
        "rule-never-matches",
        "this rule never matches: no query it selects and no key it selects satisfy it (limits counted in)",
        "look at the relation and at the limits, or take the rule out",
    ),
    Effect.HIDDEN: (
        "rule-hidden",
        "this rule changes nothing: a later `cannot see` hides all that it shows",
        "rules run from top to bottom and a later one wins; move it down or narrow the later one",
    ),
    Effect.SHOWN: (
        "rule-hidden",
        "this rule changes nothing: a later rule shows again all that it hides",
        "rules run from top to bottom and a later one wins; move it down, or make it a `limit`",
    ),
    Effect.NOTHING_TO_HIDE: (
        "rule-hides-nothing",
        "this rule changes nothing: no earlier rule shows what it hides",
        "rules run from top to bottom; move it below the rule that shows these cells",
    ),
}


def findings(program: Program, kept: tuple[Lowered, ...]) -> tuple[Diagnostic, ...]:
    """Warnings and notes about the compiled mask, once each."""
    found = _rules(kept)
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


def _rules(kept: tuple[Lowered, ...]) -> list[Diagnostic]:
    """A rule is reported if it is idle in every variant that has it."""
    effects: dict[int, set[Effect]] = {}
    spans = {}
    for lowered in kept:
        for rule, effect in lowered.effects:
            key = rule.number
            effects.setdefault(key, set()).add(effect)
            spans[key] = rule.span
    found = []
    for key, seen in effects.items():
        seen.discard(Effect.UNUSED)
        if len(seen) == 1 and (effect := next(iter(seen))) in _EFFECTS:
            code, message, hint = _EFFECTS[effect]
            found.append(Diagnostic(Severity.WARNING, code, message, spans[key], hint))
    return found


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
