"""The jobs of a worker."""

from __future__ import annotations

from enum import Enum


class Job(Enum):
    """What a worker can do with a mask."""

    VALIDATE = "validate"
    COMPILE = "compile"
    TIME = "time"
