"""A value that is typed for a place in the text: what completes it, and what the compiler says to it beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilemask.errors import MaskFileError
from compilemask.language.binder import bind
from compilemask.language.completion import CompletionKind, complete
from compilemask.language.parser import parse, parse_tolerant
from compilemask.source import Diagnostic, Severity, Source
from compilemask_app.composing.text_edits import TextEdit, applied, placed

_NAMES = (CompletionKind.PARAMETER, CompletionKind.DEFINITION)
_WORDS = (*_NAMES, CompletionKind.REGION, CompletionKind.FUNCTION)


@dataclass(frozen=True, slots=True)
class Entry:
    """`edits_for` says where in `text` what is typed goes, `value_in` which part of it is the value.

    `folder` and `parameters` are those of the document, as the compiler needs them.
    """

    text: str
    edits_for: Callable[[str], tuple[TextEdit, ...]]
    value_in: Callable[[str], str] = str.strip
    folder: Path | None = None
    parameters: tuple[tuple[str, Any], ...] = field(default=())

    def completed(self, typed: str) -> tuple[str, ...]:
        """Words for the end of what is typed: names of values at once, all else once a letter stands there."""
        edits = self.edits_for(typed)
        if not edits:
            return ()
        start = placed(edits[0], self.text.split("\n")).start
        lines = edits[0].text.split("\n")
        column = len(lines[-1]) + (start[1] if len(lines) == 1 else 0)
        wanted = _WORDS if word_at_end(typed) else _NAMES
        found = complete(applied(self.text, list(edits)), start[0] + len(lines), column + 1)
        return tuple(item.label for item in found if item.kind in wanted)

    def problem(self, typed: str) -> str | None:
        """What the compiler says against the text with this value that it does not say without; None if nothing."""
        wrong = _form_problem(self.value_in(typed))
        if wrong is not None:
            return wrong
        before = {finding.message for finding in self._errors(self.text)}
        new = [
            one for one in self._errors(applied(self.text, list(self.edits_for(typed)))) if one.message not in before
        ]
        if not new:
            return None
        return f"{new[0].message}: {new[0].hint}" if new[0].hint else new[0].message

    def _errors(self, text: str) -> list[Diagnostic]:
        try:
            bind(parse(Source("text", text)), dict(self.parameters), folder=self.folder)
        except MaskFileError as error:
            return [finding for finding in error.diagnostics if finding.severity is Severity.ERROR]
        return []


def word_at_end(typed: str) -> str:
    """The word, or the part of one, that what is typed ends with."""
    begin = len(typed)
    while begin and (typed[begin - 1].isalnum() or typed[begin - 1] == "_"):
        begin -= 1
    word = typed[begin:]
    return "" if word[:1].isdigit() else word


def _form_problem(value: str) -> str | None:
    """Why something is not one expression; None if it is."""
    if not value:
        return "a value: a number, a parameter, a list, or what is computed from them"
    found = parse_tolerant(Source("value", f"param value = {value}")).diagnostics
    if found:
        return found[0].message
    # in brackets nothing else can follow it: no second parameter, no order, no comment
    whole = parse_tolerant(Source("value", f"param value = ({value})")).diagnostics
    return "one value, and nothing behind it" if whole else None
