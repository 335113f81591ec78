"""How much memory a mask may take, said in words before anything large is made; work is counted by `effort`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.language import effort
from compilemask.source import Diagnostic, Severity, Span

MOST_RUNS = 1 << 25
MOST_REQUESTS = 3 << 22  # ranges of keys that a list or `random` gives to all queries
MOST_PLANNED = 1 << 25  # queries and keys that the plans of one mask hold at once
MOST_PAINTED = 3 << 23  # rows that the rules of one mask hold at once
HINT = "let tokens that see each other lie side by side: `order ... stored by` the coordinate that the rules compare"
FEWER = "say with one comparison, a table or `in` what many rules or parts of an `or` list one by one"


def _error(code: str, message: str, span: Span | None, hint: str) -> MaskFileError:
    return MaskFileError([Diagnostic(Severity.ERROR, code, message, span, hint)])


def too_many_runs(runs: int, span: Span | None = None) -> MaskFileError:
    """A mask, or a part of it, in more runs than are allowed."""
    message = f"this mask has some {runs:,} runs of visible keys, at most {MOST_RUNS:,} are allowed"
    return _error("too-many-runs", message, span, HINT)


def check_runs(counts: NDArray[np.integer], span: Span | None) -> None:
    """Raise where the counts add up to more runs than are allowed."""
    total = int(counts.sum(dtype=np.int64))
    if total > MOST_RUNS:
        raise too_many_runs(total, span)


def check_requests(requests: int, span: Span | None) -> None:
    """Raise where a list, or `random`, asks for more ranges of keys than can be looked up at once."""
    if requests > MOST_REQUESTS:
        message = f"this asks for {requests:,} ranges of keys for all queries, at most {MOST_REQUESTS:,} are allowed"
        raise _error("too-many-runs", message, span, "let it say less of every query, or of fewer queries")


def check_together(entries: int, masks: int) -> None:
    """Raise where the first masks of all samples and heads have more runs and rows in total than are allowed."""
    if entries > MOST_RUNS:
        message = f"{masks:,} different masks of samples and heads have {entries:,} rows and runs together"
        hint = "let fewer rules depend on `head` and on values per batch, or compile the batch in parts"
        raise _error("too-many-runs", f"{message}, at most {MOST_RUNS:,} are allowed", None, hint)


def check_cells(cells: int, steps: int, what: str, span: Span | None) -> None:
    """Raise where something of so many steps a pair would be evaluated for more pairs than are allowed."""
    most = effort.left() // steps
    if cells > most:
        message = f"{what} would be evaluated for {cells:,} pairs, at most {_rounded(most):,} are allowed here"
        hint = "compare a coordinate of the query with one of the key, so that it becomes a range"
        raise _error("per-cell", message, span, hint)


def _rounded(number: int) -> int:
    """Down to two digits and zeros: what is left of the work that a mask may make is no round number."""
    unit = int("1".ljust(len(str(number)) - 1, "0"))
    return number // unit * unit


def check_parts(planned: int) -> None:
    """Raise where the parts of all rules select more queries and keys in total than can be planned at once."""
    if planned > MOST_PLANNED:
        message = f"the parts of all rules select more than {MOST_PLANNED:,} queries and keys in total"
        raise _error("too-many-parts", message, None, FEWER)


def check_rules(rules: int, rows: int) -> None:
    """Raise where so many rules over so many tokens can't be kept at once."""
    if rules * rows > MOST_PAINTED:
        message = f"{rules:,} rules over {rows:,} tokens: at most {MOST_PAINTED // rows:,} rules are allowed there"
        raise _error("too-many-parts", message, None, FEWER)
