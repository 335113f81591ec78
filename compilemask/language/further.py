"""Wrong names beside errors of form: what is read of a broken file is checked as far as it can be judged by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from compilemask.errors import MaskFileError
from compilemask.language.binder import bind
from compilemask.language.parser import parse_tolerant
from compilemask.language.printer import source_lines
from compilemask.source import Diagnostic, Source

_WORD = re.compile(r"[A-Za-z_]\w*")
_JUDGED = frozenset(
    {
        "argument-count",
        "missing-argument",
        "no-attribute",
        "unknown-argument",
        "unknown-function",
        "unknown-name",
        "unknown-region",
        "unknown-word",
        "whose-coordinate",
    }
)


def with_further_errors(
    found: Sequence[Diagnostic],
    source: Source,
    params: Mapping[str, object] | None = None,
    samples: Sequence[Mapping[str, object]] | None = None,
    folder: Path | None = None,
) -> tuple[Diagnostic, ...]:
    """The errors of form, and those of names in the lines that could be read; in file order.

    A name that occurs in a line that could not be read is not judged: that line may declare it.
    """
    file = parse_tolerant(source).file
    read = source_lines(file)
    unread = [row for number, row in enumerate(source.text.split("\n"), start=1) if number not in read]
    unsure = {word for row in unread for word in _WORD.findall(row)}
    try:
        bind(file, params, samples, folder)
    except MaskFileError as error:
        more = [d for d in error.diagnostics if d.code in _JUDGED and not _about(d) & unsure]
        return tuple(sorted((*found, *more), key=_place))
    return tuple(found)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    return (diagnostic.span.line, diagnostic.span.column) if diagnostic.span else (0, 0)


def _about(diagnostic: Diagnostic) -> set[str]:
    """The words that a message quotes."""
    return {word for quoted in re.findall(r"`([^`]*)`", diagnostic.message) for word in _WORD.findall(quoted)}
