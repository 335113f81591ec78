"""Values of many tokens at once, and the tokens they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.language.axis import Axis
from compilemask.language.program import Side
from compilemask.source import Diagnostic, Severity, Span

Bools = NDArray[np.bool_]


class Tokens(NamedTuple):
    """Some tokens of an axis; `slots` may have any shape."""

    axis: Axis
    slots: NDArray[np.int64]


class Vector(NamedTuple):
    """Values (int64, bool or objects) and where they are present; None: everywhere. Both broadcast."""

    values: NDArray[Any]
    present: Bools | None


Scope = Mapping[Side, Tokens]


def both(a: Bools | None, b: Bools | None) -> Bools | None:
    """Conjunction where None is true."""
    if a is None:
        return b
    return a if b is None else a & b


def value_error(message: str, span: Span | None, hint: str | None = None) -> MaskFileError:
    """An expression that has no value for some token."""
    return MaskFileError([Diagnostic(Severity.ERROR, "evaluation", message, span, hint)])


def anywhere(*masks: Bools | None) -> bool:
    """Whether all masks hold together somewhere; None holds everywhere."""
    joined: Bools | None = None
    for mask in masks:
        joined = both(joined, mask)
    return joined is None or bool(joined.any())
