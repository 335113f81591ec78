"""How much a mask file may ask for, said in words before anything large is made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.source import Diagnostic, Severity, Span

MOST_RUNS = 1 << 25
MOST_CELLS = 1 << 32
MOST_PLANNED = 1 << 26
PARTS_AT_ANY_LENGTH = 64
HINT = "let tokens that see each other lie side by side: `order ... stored by` the coordinate that the rules compare"


def too_many_runs(runs: int, span: Span | None = None) -> MaskFileError:
    """A mask, or a part of it, in more runs than are allowed."""
    message = f"this mask has some {runs:,} runs of visible keys, at most {MOST_RUNS:,} are allowed"
    return MaskFileError([Diagnostic(Severity.ERROR, "too-many-runs", message, span, HINT)])


def check_runs(counts: NDArray[np.integer], span: Span | None) -> None:
    """Raise where the counts add up to more runs than are allowed."""
    total = int(counts.sum(dtype=np.int64))
    if total > MOST_RUNS:
        raise too_many_runs(total, span)


def check_cells(cells: int, what: str, span: Span | None) -> None:
    """Raise where something would be evaluated for more pairs than are allowed."""
    if cells > MOST_CELLS:
        message = f"{what} would be evaluated for {cells:,} pairs, at most {MOST_CELLS:,} are allowed"
        hint = "compare a coordinate of the query with one of the key, so that it becomes a range"
        raise MaskFileError([Diagnostic(Severity.ERROR, "per-cell", message, span, hint)])


def check_parts(planned: int, tokens: int) -> None:
    """Raise where the parts of all rules select more queries and keys in total than can be planned at once."""
    most = max(MOST_PLANNED, PARTS_AT_ANY_LENGTH * tokens)
    if planned > most:
        message = f"the parts of all rules select more than {most:,} queries and keys in total"
        hint = "say with one comparison, a table or `in` what many rules or parts of an `or` list one by one"
        raise MaskFileError([Diagnostic(Severity.ERROR, "too-many-parts", message, None, hint)])
