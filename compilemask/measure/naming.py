"""What a token is called: `document[1].answer[2]+97` is the token 97 of that answer, counted from 0."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from compilemask.language.axis import Axis


def token_name(axis: Axis, slot: int) -> str:
    """The name of the token in a storage slot of the axis."""
    path = axis.path_of(slot)
    if not path:
        return "padding"
    return f"{region_name(axis, slot)}+{path[-1][2]:,}"


def region_name(axis: Axis, slot: int) -> str:
    """The innermost region around a token, from the outside in; numbers are left out where no parent has two."""
    path = axis.path_of(slot)
    if not path:
        return "padding"
    several = {name for name, _, _ in path if (axis.runs.regions[name].count > 1).any()}
    return ".".join(f"{name}[{number}]" if name in several else name for name, number, _ in path)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring tokens [start, end) of one innermost region instance."""

    name: str
    start: int
    end: int


def stretches(axis: Axis, bounds: list[int]) -> list[Stretch]:
    """The stretches that begin in each of the bins `bounds[i]:bounds[i + 1]`, at most the first one of each bin."""
    run = axis.run_of()
    changes = np.flatnonzero(np.diff(run)) + 1
    starts = np.concatenate(([0], changes)).astype(np.int64)
    ends = np.append(starts[1:], axis.length)
    found = []
    for low, high in pairwise(bounds):
        place = int(np.searchsorted(starts, low))
        if place < len(starts) and starts[place] < high:
            found.append(Stretch(region_name(axis, int(starts[place])), int(starts[place]), int(ends[place])))
    return found
