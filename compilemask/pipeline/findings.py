"""What the compiled intervals say about the file: notes and warnings that need no more than them."""

from __future__ import annotations

import numpy as np

from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form
from compilemask.language.program import Program, Variant
from compilemask.source import Diagnostic, Severity


def findings(program: Program, kept: tuple[Lowered, ...]) -> tuple[Diagnostic, ...]:
    """Notes and warnings about the compiled mask, once each."""
    found: list[Diagnostic] = []
    for variant, lowered in zip(program.variants, kept, strict=True):
        found += _per_cell(lowered)
        found += _empty_rows(variant, lowered)
        found += _unseen_keys(variant, lowered)
    return tuple(dict.fromkeys(found))


def _per_cell(lowered: Lowered) -> list[Diagnostic]:
    message = "this condition is evaluated pair by pair: slow for long sequences"
    hint = "a comparison of one coordinate of the query with one of the key becomes a range"
    return [Diagnostic(Severity.WARNING, "per-cell", message, one.span, hint) for one in lowered.per_cell]


def _note(variant: Variant, code: str, message: str) -> Diagnostic:
    return Diagnostic(Severity.NOTE, code, message, None)


def _seen(lowered: Lowered, rows: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which queries (`rows`) see something, or which keys are seen."""
    intervals = lowered.intervals
    if rows == (lowered.form is Form.ROW):
        return intervals.offsets[1:] > intervals.offsets[:-1]
    change = np.bincount(intervals.starts, minlength=intervals.columns + 1)
    change = change - np.bincount(intervals.ends, minlength=intervals.columns + 1)
    return np.cumsum(change)[: intervals.columns] > 0


def _empty_rows(variant: Variant, lowered: Lowered) -> list[Diagnostic]:
    blind = np.flatnonzero(~_seen(lowered, True) & ~variant.queries.padding)
    if not blind.size:
        return []
    who = "1 query sees" if blind.size == 1 else f"{blind.size:,} queries see"
    message = f"{who} nothing, the first is query {int(blind[0]):,}: its output is 0"
    return [_note(variant, "empty-rows", message)]


def _unseen_keys(variant: Variant, lowered: Lowered) -> list[Diagnostic]:
    unseen = np.flatnonzero(~_seen(lowered, False) & ~variant.keys.padding)
    if not unseen.size:
        return []
    what = "1 key is" if unseen.size == 1 else f"{unseen.size:,} keys are"
    return [_note(variant, "unseen-keys", f"{what} seen by no query, the first is key {int(unseen[0]):,}")]
