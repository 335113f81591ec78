"""Colours of the words of a line, as a look at the line alone can tell, and marks under what is wrong in it."""

from __future__ import annotations

import re

from rich.text import Text

from compilemask.source import Diagnostic, Severity
from compilemask_app.themes import SyntaxStyles

_WORD = re.compile(
    r"""(?P<comment>\#.*$)
    |(?P<string>"[^"\n]*"?)
    |(?P<number>\b\d[\d_]*\b)
    |(?P<keyword>^(?:title|include|param|require|heads|layout|queries|keys|align|position|let|rules|order)\b
        |\b(?:sees|cannot\ see|limit|within|by|where|and|or|not|except|same|if|else|in|per|from|stored|repeat
        |when|everything|padding|first|last|of|are|any|true|false)\b)
    |(?P<relation>\b(?:all|none|causal|before|self|window|disc|box|path|rectangles|intervals|random|grid)\b)
    |(?P<operator>[-+*%:=<>!/]+)""",
    re.VERBOSE,
)


def highlight(line: Text, styles: SyntaxStyles) -> None:
    """Colour the words of a line."""
    for match in _WORD.finditer(line.plain):
        if match.lastgroup is not None:
            line.stylize(getattr(styles, match.lastgroup), match.start(), match.end())


def underline(line: Text, diagnostic: Diagnostic, styles: SyntaxStyles) -> None:
    """Mark the part of a line that a finding is about."""
    span = diagnostic.span
    if span is None:
        return
    begin = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line.plain)
    serious = diagnostic.severity is Severity.ERROR
    line.stylize(styles.error if serious else styles.warning, begin, max(begin + 1, end))
