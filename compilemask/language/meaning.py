"""What a mask means, one cell at a time: the slow, obvious definition that everything else is checked against."""

from __future__ import annotations

import numpy as np

from compilemask.errors import MaskFileError
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.meaning_relations import holds
from compilemask.language.meaning_values import Cell, Token, selects
from compilemask.language.program import Program, Variant
from compilemask.source import Diagnostic, Severity


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


def selects_cell(rule: ir.Rule, cell: Cell) -> bool:
    """Whether a rule speaks of the query and of the key, whatever its relation says."""
    return selects(rule.who, Token(cell.queries, cell.q)) and selects(rule.whom, Token(cell.keys, cell.k))


def _matches(rule: ir.Rule, cell: Cell) -> bool:
    return selects_cell(rule, cell) and holds(rule.how, cell)
