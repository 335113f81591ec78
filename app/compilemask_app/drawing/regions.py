"""Which region each stretch of an axis belongs to, for rulers and for the cell line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.language.axis import Axis


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Stretch i holds the tokens `starts[i]:starts[i + 1]`; its name is made when it is drawn."""

    length: int
    starts: NDArray[np.int64]  # [stretches], ascending from 0
    name: Callable[[int], str]

    def at(self, token: int) -> int:
        """The stretch of a token."""
        return int(np.searchsorted(self.starts, token, side="right")) - 1

    def place(self, token: int) -> str:
        """`answer[2]+97`, the token's region and its offset in it."""
        if not len(self.starts):
            return str(token)
        stretch = self.at(token)
        name = self.name(stretch)
        return f"{name}+{token - int(self.starts[stretch]):,}" if name else f"{token:,}"


def regions_of(axis: Axis) -> Regions:
    """The stretches of a bound axis, in storage order."""
    run = axis.run_of()
    starts = np.flatnonzero(np.concatenate(([True], run[1:] != run[:-1]))) if len(run) else np.zeros(0, np.int64)
    tables = axis.runs.regions

    def name(stretch: int) -> str:
        here = int(run[starts[stretch]])
        leaf = int(axis.runs.leaf[here])
        if leaf < 0:
            return "padding"
        region = axis.runs.paths[leaf][-1]
        table = tables[region]
        instance = int(table.run_instance[here])
        several = len(table.number) > 1 and instance >= 0
        if not several:
            return region
        if int(table.count[instance]) > 1:
            return f"{region}[{int(table.number[instance])}]"
        return f"{region}[{instance}]"

    return Regions(axis.length, starts.astype(np.int64), name)


def unnamed(length: int) -> Regions:
    """An axis about which only its length is known."""
    return Regions(length, np.zeros(1 if length else 0, dtype=np.int64), lambda _: "")
