"""Splitting a region into two lines and repeating it: several ways to write it, of which the language takes one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compilemask.language import syntax
from compilemask_app.composing.parameters import parameters_of
from compilemask_app.composing.region_matrix import RegionEntry
from compilemask_app.composing.renaming import axis_of, walk
from compilemask_app.composing.text_edits import TextEdit, replacing, source_text

_SIMPLE = re.compile(r"\w+(\[\w+\])?\Z")
_NUMBER = re.compile(r"[\d_]+\Z")


def can_split(region: RegionEntry) -> bool:
    """Whether the line of the region says nothing but its size."""
    return region.leaf.stored_by is None


def split_region(
    file: syntax.File, region: RegionEntry, first: str, size: str, second: str
) -> tuple[tuple[TextEdit, ...], ...]:
    """Ways to write the region as two lines that add up, with every rule that names it selecting both.

    As a group that keeps the name, for a size that is a number and for a list with an entry per instance; and as two
    regions beside each other, where the name is taken by a parameter. Not every way has a meaning.
    """
    span = region.leaf.span
    whole = source_text(region.leaf.size.span)
    same, deeper = "\n" + " " * (span.column - 1), "\n" + " " * (span.column + 3)
    rest = _rest(whole, size)
    each = f"{_closed(whole)}[{region.name}] - {_closed(size)}"
    number = f"{region.name}{deeper}{first} : {size}{deeper}{second} : {rest}"
    listed = f"{region.name} repeat len({whole}){deeper}{first} : {size}{deeper}{second} : {each}"
    beside = [replacing(span, f"{first} : {size}{same}{second} : {rest}")]
    for path in _named(file, region):
        around = "".join(f"{name}." for name in path.names[:-1])
        beside.append(replacing(path.span, f"{around}{first}, {around}{second}"))
    return (replacing(span, number),), (replacing(span, listed),), tuple(beside)


def _named(file: syntax.File, region: RegionEntry) -> Iterator[syntax.RegionPath]:
    """Where the region is selected; not where rules select one of the other side that has its name."""
    side = axis_of(file, region.leaf)
    elsewhere = {
        id(node)
        for rule in walk(file.statements)
        if isinstance(rule, syntax.Rule) and side != "layout"
        for node in walk(rule.whom if side == "queries" else rule.who)
    }
    for node in walk(file.statements):
        if isinstance(node, syntax.RegionPath) and node.names[-1] == region.name and id(node) not in elsewhere:
            yield node


def repeat_region(region: RegionEntry, count: str) -> tuple[tuple[TextEdit, ...], ...]:
    """Ways to have the region so many times, one instance after another."""
    span = region.leaf.size.span
    whole = source_text(span)
    again = f"{_closed(whole)} * {_closed(count)}"
    return (replacing(span, f"[{whole}] * {_closed(count)}"),), (replacing(span, again),)


def first_size(file: syntax.File, region: RegionEntry) -> str:
    """Half of the size, where it is a number or a parameter that is one."""
    whole = source_text(region.leaf.size.span)
    if _NUMBER.match(whole):
        return str(int(whole) // 2)
    of_name = {line.name: line.default for line in parameters_of(file).lines}
    default = of_name.get(whole)
    return f"{whole} // 2" if isinstance(default, syntax.Literal) and type(default.value) is int else "1"


def _rest(whole: str, part: str) -> str:
    if _NUMBER.match(whole) and _NUMBER.match(part):
        return str(int(whole) - int(part))
    return f"{_closed(whole)} - {_closed(part)}"


def _closed(text: str) -> str:
    return text if _SIMPLE.match(text) else f"({text})"
