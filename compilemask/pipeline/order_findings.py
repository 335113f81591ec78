"""What the token order does to the tiles, in words."""

from __future__ import annotations

from compilemask.intervals.lowering import Lowered
from compilemask.intervals.order import TokenOrder
from compilemask.language.program import Program
from compilemask.pipeline.best_order import BLOCK, RASTER, Candidate, best, visited_by_all, visited_in
from compilemask.source import Diagnostic, Severity

RUNS_COMPARED = 1 << 18  # counting tiles twice would be felt in larger masks


def order_findings(
    program: Program, kept: tuple[Lowered, ...], order: TokenOrder, tried: tuple[Candidate, ...]
) -> tuple[Diagnostic, ...]:
    """A note on what `order best` chose; a warning where an order makes more tiles than the text's own."""
    if tried:
        return (_chosen(program, tried),)
    if not order.moves or any(one.order.moves for one in kept):
        return ()  # kept in the kernel's order: as written the mask has far too many runs
    if sum(one.intervals.runs for one in kept) > RUNS_COMPARED:
        return ()
    before = sum(visited_in(one, TokenOrder(), BLOCK, BLOCK) for one in kept)
    after = visited_by_all(program.variants, kept, order)
    if after is None or after <= before:
        return ()
    message = f"this order makes the kernel visit {after:,} tiles where {before:,} would do as written"
    hint = "take it out, or let `order best` choose"
    return (Diagnostic(Severity.WARNING, "order-hurts", message, program.variants[0].orders[0].span, hint),)


def _chosen(program: Program, tried: tuple[Candidate, ...]) -> Diagnostic:
    chosen = best(tried)
    others = ", ".join(f"{one.name} {_count(one)}" for one in tried if one is not chosen)
    verb = "nothing visits fewer tiles than the order" if chosen.name == RASTER else "`order best` keeps"
    message = f"{verb} {chosen.name}: {_count(chosen)} tiles" + (f"; {others}" if others else "")
    return Diagnostic(Severity.NOTE, "order-best", message, program.variants[0].orders[-1].span)


def _count(one: Candidate) -> str:
    return "not counted, too many pieces" if one.visited is None else f"{one.visited:,}"
