"""What a token is called: `document[1].answer[2]+97` is the token 97 of that answer, counted from 0."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from compilemask.language.axis import Axis


def token_name(axis: Axis, slot: int) -> str:
    """The name of the token in a storage slot of the axis."""
    path = axis.path_of(slot)
    if not path:
        return "padding"
    return f"{region_name(axis, slot)}+{path[-1][2]:,}"


def region_name(axis: Axis, slot: int) -> str:
    """The innermost region around a token, from the outside in; outer regions that occur once and numbers
    where no parent has two are left out."""
    path = axis.path_of(slot)
    if not path:
        return "padding"
    tables = axis.runs.regions
    told = [part for part in path[:-1] if len(tables[part[0]].number) > 1] + [path[-1]]
    return ".".join(f"{name}[{number}]" if (tables[name].count > 1).any() else name for name, number, _ in told)


def fitted(name: str, room: int) -> str:
    """The name, or as much of its inner end as fits; empty if not even the innermost name does."""
    while len(name) > room and "." in name:
        name = name.split(".", 1)[1]
    return name if len(name) <= room else ""


def borders(axis: Axis) -> NDArray[np.int64]:
    """Where one region instance ends and another begins, in storage order."""
    return np.flatnonzero(np.diff(axis.run_of())).astype(np.int64) + 1


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring tokens [start, end) of one innermost region instance."""

    name: str
    start: int
    end: int


def stretches(axis: Axis, bounds: list[int]) -> list[Stretch]:
    """The stretches that begin in each of the bins `bounds[i]:bounds[i + 1]`, at most the first one of each bin."""
    starts = np.concatenate(([0], borders(axis))).astype(np.int64)
    ends = np.append(starts[1:], axis.length)
    found = []
    for low, high in pairwise(bounds):
        place = int(np.searchsorted(starts, low))
        if place < len(starts) and starts[place] < high:
            found.append(Stretch(region_name(axis, int(starts[place])), int(starts[place]), int(ends[place])))
    return found


def outermost(found: list[Stretch]) -> list[Stretch]:
    """The same with neighbours of one outermost region joined, and named after it."""
    joined: list[Stretch] = []
    for stretch in found:
        name = stretch.name.split(".", 1)[0]
        if joined and joined[-1].name == name:
            joined[-1] = Stretch(name, joined[-1].start, stretch.end)
        else:
            joined.append(Stretch(name, stretch.start, stretch.end))
    return joined
