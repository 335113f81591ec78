"""How much work a mask may make, whatever its text says: counted, not timed, so every machine refuses the same files.

One step is a value computed among many others in an array, about a nanosecond; what costs more counts for more.
Binding and compiling a mask share one account; outside of an account nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from compilemask.errors import MaskFileError
from compilemask.source import Diagnostic, Severity, Span

MOST_STEPS = 1 << 33
A_PART = 1 << 14  # binding one part of an expression
A_PLAN = 1 << 17  # planning one part of a rule, however few tokens it is about
A_NODE = 1 << 10  # evaluating one part of an expression, however few values it has
A_CURVE = 1 << 4  # one place on a space-filling curve
A_DIVISION = 1 << 2  # one value of `//` or `%`, besides the step that every value takes
AN_OBJECT = 1 << 6  # a value that is no number, in an array
ONE_BY_ONE = 1 << 10  # a value that is computed by itself
AN_ENTRY = 1 << 7  # an entry of a list that is made or searched
HINT = "use fewer tokens, rules, samples or heads, and comparisons of one coordinate of the query with one of the key"


@dataclass(slots=True)
class Account:
    """What has been spent so far."""

    steps: int = 0


_ACCOUNT: ContextVar[Account | None] = ContextVar("effort of the mask at hand", default=None)


@contextmanager
def limited() -> Iterator[None]:
    """Count the work inside; inside of an account that is already open, count on there."""
    if _ACCOUNT.get() is not None:
        yield
        return
    token = _ACCOUNT.set(Account())
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


def spend(steps: int, span: Span | None = None) -> None:
    """Count steps. Raises MaskFileError where they are more than the mask may make."""
    account = _ACCOUNT.get()
    if account is None:
        return
    account.steps += steps
    if account.steps > MOST_STEPS:
        message = f"this mask takes more than {MOST_STEPS:,} steps to compile; here they are used up"
        raise MaskFileError([Diagnostic(Severity.ERROR, "too-much-work", message, span, HINT)])


def left() -> int:
    """How many steps may still be spent."""
    account = _ACCOUNT.get()
    return MOST_STEPS if account is None else max(0, MOST_STEPS - account.steps)
