"""What a token is called: `document[1].answer[2]+97` is the token 97 of that answer, counted from 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import UsageError
from compilemask.language.axis import Axis, CoordinateKind, follows

PADDING = "padding"  # no region is called so: the language has the word


def token_name(axis: Axis, slot: int) -> str:
    """The name of the token in a storage slot of the axis; `padding+2` is the third slot that holds none."""
    path = axis.path_of(slot)
    if not path:
        return f"{PADDING}+{np.count_nonzero(axis.padding[:slot]):,}"
    return f"{region_name(axis, slot)}+{path[-1][2]:,}"


def region_name(axis: Axis, slot: int) -> str:
    """The innermost region around a token, from the outside in; numbers where no parent has two are left out, and
    outer regions that occur once unless another region would be called the same."""
    path = axis.path_of(slot)
    if not path:
        return PADDING
    told = (*(part for part in path[:-1] if len(axis.runs.regions[part[0]].number) > 1), path[-1])
    is_one = _regions_called(axis.runs.paths, tuple(name for name, _, _ in told)) == 1
    return _joined(axis, told if is_one else path)


@lru_cache(maxsize=256)
def _regions_called(paths: tuple[tuple[str, ...], ...], names: tuple[str, ...]) -> int:
    """How many regions of the layout lie in this path: the last name, anywhere inside of the one before, and so on."""
    inner = names[-1]
    return len({path[: path.index(inner) + 1] for path in paths if inner in path and follows(path, names)})


def _joined(axis: Axis, path: tuple[tuple[str, int, int], ...]) -> str:
    tables = axis.runs.regions
    return ".".join(f"{name}[{number}]" if (tables[name].count > 1).any() else name for name, number, _ in path)


def fitted(name: str, room: int) -> str:
    """The name, or as much of its inner end as fits; empty if not even the innermost name does."""
    while len(name) > room and "." in name:
        name = name.split(".", 1)[1]
    return name if len(name) <= room else ""


def borders(axis: Axis) -> NDArray[np.int64]:
    """Where one region instance ends and another begins, in storage order."""
    return np.flatnonzero(np.diff(axis.run_of())).astype(np.int64) + 1


def slot_named(axis: Axis, text: str) -> int:
    """The slot of a token by its name, `token_name` read backwards; without `+offset` the region's first token.

    Raises:
        UsageError: no region is called so, several are, or it has no such token; the message says which there are.
    """
    found = _NAMED.fullmatch(text.strip())
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
    if found is None:
        raise UsageError(f"{text}: expected a number or a place such as {_example(axis)}")
    parts = [(name, number) for name, number in _REGION.findall(found["path"])]
    names = tuple(name for name, _ in parts)
    offset = _number(found["offset"] or "0")
    if parts == [(PADDING, "")]:
        return _padding_slot(axis, text, offset)
    for name in names:
        if name not in axis.runs.regions:
            raise UsageError(
                f"{text}: there is no region {name:.80}; there are {', '.join(axis.runs.regions) or 'none'}"
            )
    chosen = axis.in_path(names)
    for name, number in parts:
        if number:
            column = axis.column(CoordinateKind.NUMBER, name)
            chosen &= column.values == _number(number)
    whole = chosen & _in_whole_path(axis, names)  # `left.a` is also what `left.middle.a` may be called
    chosen = whole if whole.any() else chosen
    return _offset_in(axis, text, names[-1], np.flatnonzero(chosen), offset)


def _padding_slot(axis: Axis, text: str, offset: int) -> int:
    slots = np.flatnonzero(axis.padding)
    if not len(slots):
        raise UsageError(f"{text}: there is no padding; a place looks like {_example(axis)}")
    if offset >= len(slots):
        raise UsageError(f"{text}: there are {len(slots):,} slots of padding, +0 to +{len(slots) - 1:,}")
    return int(slots[offset])


def _number(digits: str) -> int:
    """The number, or one that no token has: Python reads a few thousand digits only."""
    digits = digits.replace(",", "")
    return int(digits) if len(digits) <= MOST_DIGITS else NO_TOKEN


def _in_whole_path(axis: Axis, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which tokens lie in a region whose path from the outside in is exactly this."""
    exactly = np.array([path[: len(names)] == names for path in axis.runs.paths] + [False])  # -1 is padding
    return exactly[axis.runs.leaf[axis.run_of()]]


def _offset_in(axis: Axis, text: str, region: str, slots: NDArray[np.int64], offset: int) -> int:
    """The slot with this place in the one instance of `region` that `slots` are in."""
    if not len(slots):
        raise UsageError(f"{text}: there is no such region; a place looks like {_example(axis)}")
    instances, first = np.unique(axis.instance(region)[slots], return_index=True)
    if len(instances) > 1:
        some = ", ".join(_instance_name(axis, region, int(slots[place])) for place in first[:MOST_NAMED])
        more = f" and {len(instances) - MOST_NAMED:,} more" if len(instances) > MOST_NAMED else ""
        raise UsageError(f"{text}: which one? There are {some}{more}")
    places = axis.column(CoordinateKind.AT, region).values[slots]
    at = np.flatnonzero(places == offset)
    if not len(at):
        raise UsageError(f"{text}: {region} has {len(slots):,} tokens there, +0 to +{int(places.max()):,}")
    return int(slots[at[0]])


def _instance_name(axis: Axis, region: str, slot: int) -> str:
    """A region around a token with all regions around it, those that occur once too."""
    path = axis.path_of(slot)
    return _joined(axis, path[: [name for name, _, _ in path].index(region) + 1])


def _example(axis: Axis) -> str:
    real = np.flatnonzero(~axis.padding)
    return token_name(axis, int(real[0])) if len(real) else "region[1]+2"


_REGION = re.compile(r"([A-Za-z_]\w*)(?:\[(\d+)\])?")
_NAMED = re.compile(r"(?P<path>[A-Za-z_]\w*(?:\[\d+\])?(?:[. ][A-Za-z_]\w*(?:\[\d+\])?)*)(?:\+(?P<offset>\d[\d,]*))?")

MOST_NAMED = 6
MOST_SHOWN = 80  # characters of a name that is refused
MOST_DIGITS = 18
NO_TOKEN = 10**MOST_DIGITS


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
