"""The different values of an array."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def distinct(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """The different values of one dimension, ascending.

    As `np.unique`, which loads numpy's masked arrays for this, 10 ms of the first compilation of a process.
    """
    ordered = np.sort(values)
    first = np.ones(ordered.size, np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
