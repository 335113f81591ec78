"""Which region each stretch of an axis belongs to, for rulers and for the cell line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from compilemask.language.axis import Axis


NAMES_COMPARED = 1000
"""So many names of two axes are compared; they are made from few regions."""


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Stretch i holds the tokens `starts[i]:starts[i + 1]`; its name is made when it is drawn.

    `outer` is the same axis cut by the regions around these, None at the outermost.
    """

    length: int
    starts: NDArray[np.int64]  # [stretches], ascending from 0
    name: Callable[[int], str]
    outer: Regions | None = None

    def at(self, token: int) -> int:
        """The stretch of a token."""
        return bisect_right(self.starts, token) - 1

    def place(self, token: int) -> str:
        """`document[1] answer[2]+97`: the token's regions from the outside in, and its offset in the innermost."""
        if not len(self.starts):
            return f"{token:,}"
        stretch = self.at(token)
        name = self.name(stretch)
        around = self.outer.place(token).partition("+")[0] + " " if self.outer else ""
        if not name:
            return f"{token:,}"
        return f"{around if around.strip() != name else ''}{name}+{token - int(self.starts[stretch]):,}"

    def fitting(self, first: int, last: int, most: int) -> Regions:
        """The finest cut with at most `most` stretches between two tokens, or the outermost."""
        if self.outer is None or self.at(max(first, last - 1)) - self.at(first) < most:
            return self
        return self.outer.fitting(first, last, most)


def regions_of(axis: Axis) -> Regions:
    """The stretches of a bound axis, in storage order."""
    run = axis.run_of()
    depth = max((len(path) for path in axis.runs.paths), default=1)
    regions: Regions | None = None
    for level in range(1, depth + 1):
        regions = _at_level(axis, run, level, regions)
    assert regions is not None
    return regions


def _at_level(axis: Axis, run: NDArray[np.int64], level: int, outer: Regions | None) -> Regions:
    """Cut by the regions `level` names deep; leaves that are not so deep stand for themselves."""
    import numpy as np

    leaves = axis.runs.leaf
    paths = axis.runs.paths
    names = [paths[int(leaf)][:level][-1] if leaf >= 0 else "" for leaf in leaves]
    tables = axis.runs.regions
    instance = np.array(
        [int(tables[name].run_instance[place]) if name else -1 for place, name in enumerate(names)], dtype=np.int64
    )
    identity = {name: place for place, name in enumerate(dict.fromkeys(names))}
    label = np.array([identity[name] for name in names], dtype=np.int64) * (len(names) + 1) + instance
    of_token = label[run] if len(label) else run
    starts = np.flatnonzero(np.concatenate(([True], of_token[1:] != of_token[:-1]))) if len(run) else np.zeros(0)
    starts = starts.astype(np.int64)

    def name_of(stretch: int) -> str:
        place = int(run[starts[stretch]])
        if not names[place]:
            return "padding"
        table, number = tables[names[place]], int(instance[place])
        if len(table.number) <= 1 or number < 0:
            return names[place]
        return f"{names[place]}[{int(table.number[number]) if int(table.count[number]) > 1 or outer else number}]"

    return Regions(axis.length, starts, name_of, outer)


def in_slots(regions: Regions, order: NDArray[np.int32] | None) -> Regions:
    """The regions of the kernel's slots, of which slot i holds token `order[i]`.

    That is the finest cut that the order leaves in place; one that mixes the outermost regions leaves none.
    """
    if order is None or not len(regions.starts):
        return regions
    import numpy as np

    ends = np.append(regions.starts[1:], regions.length)
    least, most = np.minimum.reduceat(order, regions.starts), np.maximum.reduceat(order, regions.starts)
    if bool(((least >= regions.starts) & (most < ends)).all()):
        return regions if regions.outer is None else replace(regions, outer=in_slots(regions.outer, order))
    return unnamed(regions.length) if regions.outer is None else in_slots(regions.outer, order)


def shared(left: Regions, right: Regions) -> Regions:
    """The regions of two axes where these are the same, names too; else one without names."""
    import numpy as np

    same = left.length == right.length and np.array_equal(left.starts, right.starts)
    step = max(1, len(left.starts) // NAMES_COMPARED)
    if same and all(left.name(stretch) == right.name(stretch) for stretch in range(0, len(left.starts), step)):
        return left
    return unnamed(left.length)


def unnamed(length: int) -> Regions:
    """An axis about which only its length is known."""
    import numpy as np

    return Regions(length, np.zeros(1 if length else 0, dtype=np.int64), lambda _: "")
