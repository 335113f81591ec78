"""Sizes of one mask for another: the parameters that both have, and lengths in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compilemask.language.parser import parse_tolerant
from compilemask.language.syntax import Group, Item, Layout
from compilemask.source import Source
from compilemask_app.composing.parameters import ParameterLine, parameters_of, written
from compilemask_app.composing.text_edits import applied

LENGTH = "length"
"""What library masks call the number of their tokens."""

MOST_LINES = 3
"""Lines that set sizes, which are named at most."""
_WORDS = {"true", "false", "any"}


def sizes_in(text: str) -> tuple[ParameterLine, ...]:
    """The parameters of a text that have defaults, which can be written over."""
    lines = parameters_of(parse_tolerant(Source("", text)).file).lines
    return tuple(line for line in lines if line.default is not None)


def set_by(text: str) -> str:
    """Which lines of a text set how many tokens there are: for one whose lengths no parameter changes."""
    layouts = [one for one in parse_tolerant(Source("", text)).file.statements if isinstance(one, Layout)]
    lines = dict.fromkeys(item.span.line for layout in layouts for item in _sized(layout.items))
    if not lines:
        return "a file that it includes sets the size"
    shown = [f"`{text.splitlines()[line - 1].split('#')[0].strip()}` (line {line})" for line in lines]
    words = ", ".join(shown[:MOST_LINES]) + (", ..." if len(shown) > MOST_LINES else "")
    return f"{words} set{'s' if len(shown) == 1 else ''} the size"


def _sized(items: tuple[Item, ...]) -> Iterator[Item]:
    """The lines of a layout that say how many: sizes, and the counts of groups."""
    for item in items:
        if not isinstance(item, Group) or item.repeat is not None:
            yield item
        if isinstance(item, Group):
            yield from _sized(item.items)


def with_sizes(text: str, values: dict[str, str]) -> str:
    """The text with other defaults."""
    edits = [written(line, values[line.name]) for line in sizes_in(text) if line.name in values]
    return applied(text, [edit for edit in edits if edit is not None])


def taken_over(mine: str, other: str, lengths: tuple[int, int]) -> dict[str, str]:
    """Values for the parameters of `other`, all of them: mine where both have one of a name with a value of a kind.

    A parameter `length` that this mask has under another name, or not at all, takes the length of this mask, where
    its queries and keys are as many.
    """
    known = {line.name: line.text for line in sizes_in(mine)}
    if LENGTH not in known and lengths[0] == lengths[1]:
        known[LENGTH] = str(lengths[0])
    return {
        line.name: known[line.name] if _kind(known.get(line.name, "")) == _kind(line.text) != "" else line.text
        for line in sizes_in(other)
    }


def _kind(text: str) -> str:
    """Lists and single values; nothing for what names other parameters."""
    if set(re.findall(r"[A-Za-z_]\w*", text)) - _WORDS:
        return ""
    return "list" if text.startswith(("[", "(")) else "single" if text else ""


def in_words(query_length: int, key_length: int) -> str:
    """`2,048 × 2,048`."""
    return f"{query_length:,} × {key_length:,}"
