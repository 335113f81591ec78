"""How long jobs tell where they are, and how they are stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with (steps done, steps in all, what is being done now). It raises `Stopped` to stop the job."""


class Stopped(Exception):
    """Raised by a progress callback when the person who started the job wants it to end."""


def silent(done: int, total: int, text: str) -> None:
    """A progress callback that shows nothing."""
