"""A value that is typed for a place in the text: what completes it, and what the compiler says to it beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilemask.errors import MaskFileError
from compilemask.language import syntax
from compilemask.language.binder import bind
from compilemask.language.completion import CompletionKind, complete
from compilemask.language.parser import parse, parse_tolerant
from compilemask.source import Diagnostic, Severity, Source
from compilemask_app.composing.text_edits import TextEdit, applied, inserting_below, placed

NEW_VALUE = 64
"""What a parameter that is added for a name begins with."""
_UNKNOWN = re.compile(r"`(\w+)` is not known")
_NAMES = (CompletionKind.PARAMETER, CompletionKind.DEFINITION)
_WORDS = (*_NAMES, CompletionKind.REGION, CompletionKind.FUNCTION)


@dataclass(frozen=True, slots=True)
class Entry:
    """`edits_for` says where in `text` what is typed goes, `value_in` which part of it is the value.

    `folder` and `parameters` are those of the document, as the compiler needs them; `relation`: one is typed, no value.
    `offers`: whoever writes the answer writes a parameter with it where `missing` names one.
    """

    text: str
    edits_for: Callable[[str], tuple[TextEdit, ...]]
    value_in: Callable[[str], str] = str.strip
    folder: Path | None = None
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    relation: bool = False
    offers: bool = True

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
        value = self.value_in(typed)
        wrong = _relation_problem(value) if self.relation else _form_problem(value)
        if wrong is not None:
            return wrong
        new = self._new_errors(self.edits_for(typed))
        if not new:
            return None
        return f"{new[0].message}: {new[0].hint}" if new[0].hint else new[0].message

    def missing(self, typed: str) -> str | None:
        """The unknown name in what is typed, where a parameter of this name is all that it needs."""
        if not self.offers:
            return None
        edits = self.edits_for(typed)
        unknown = [_UNKNOWN.match(one.message) for one in self._new_errors(edits) if one.code == "unknown-name"]
        for found in unknown[:1]:
            if found and not self._new_errors((*edits, new_parameter(self.text, found[1]))):
                return found[1]
        return None

    def with_offer(self, wrong: str, typed: str) -> tuple[str, bool]:
        """What is wrong, with what can be done about it where a parameter is missing; whether it is."""
        name = self.missing(typed)
        return (wrong, False) if name is None else (f"{wrong}\nenter again adds  param {name} = {NEW_VALUE}", True)

    def written(self, typed: str) -> tuple[TextEdit, ...]:
        """The edits for an answer that was taken, with the parameter that it needs."""
        name = self.missing(typed)
        return self.edits_for(typed) if name is None else (*self.edits_for(typed), new_parameter(self.text, name))

    def _new_errors(self, edits: tuple[TextEdit, ...]) -> list[Diagnostic]:
        """What the compiler says against the text with the edits that it does not say without."""
        before = {finding.message for finding in self._errors(self.text)}
        return [one for one in self._errors(applied(self.text, list(edits))) if one.message not in before]

    def _errors(self, text: str) -> list[Diagnostic]:
        try:
            bind(parse(Source("text", text)), dict(self.parameters), folder=self.folder)
        except MaskFileError as error:
            return [finding for finding in error.diagnostics if finding.severity is Severity.ERROR]
        return []


def new_parameter(text: str, name: str) -> TextEdit:
    """A line that declares a parameter: below the others, else above the layout."""
    statements = parse_tolerant(Source("text", text)).file.statements
    line = f"param {name} = {NEW_VALUE}"
    declared = [one for one in statements if isinstance(one, syntax.Parameters)]
    if declared:
        return inserting_below(declared[-1].span.end_line - 1, line)
    layouts = [one.span.line - 1 for one in statements if isinstance(one, syntax.Layout)]
    place = (min(layouts, default=0), 0)
    return TextEdit(place, place, f"{line}\n\n")


def word_at_end(typed: str) -> str:
    """The word, or the part of one, that what is typed ends with."""
    begin = len(typed)
    while begin and (typed[begin - 1].isalnum() or typed[begin - 1] == "_"):
        begin -= 1
    word = typed[begin:]
    return "" if word[:1].isdigit() else word


def _relation_problem(value: str) -> str | None:
    """Why something is not one relation; None if it is."""
    if not value:
        return "a relation, for instance causal"
    parsed = parse_tolerant(Source("relation", f"rules\n    everything sees everything : {value}"))
    if parsed.diagnostics:
        return parsed.diagnostics[0].message
    rules = [rule for block in parsed.file.statements if isinstance(block, syntax.Rules) for rule in block.rules]
    return None if len(rules) == 1 and len(parsed.file.statements) == 1 else "one relation, and nothing behind it"


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
