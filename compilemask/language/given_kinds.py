"""Errors that a caller made: a parameter that is given a string, `None` or a condition where its default is a number.

Such a value is legal by itself, so the error appears where the file uses it; there the caller's value is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compilemask.language import syntax
from compilemask.language.bind_file import Collected
from compilemask.language.bind_parameters import Given
from compilemask.language.printer_expressions import format_expression
from compilemask.language.values import ANY, ListValue, Value, describe, show
from compilemask.source import Diagnostic, Severity, Span

_ABOUT_KINDS = frozenset(
    [
        "evaluation",
        "how-is-a-number",
        "kinds-differ",
        "no-order",
        "not-a-condition",
        "not-a-list",
        "not-a-number",
        "size-not-a-number",
    ]
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST = 40


def naming_given(found: Sequence[Diagnostic], collected: Collected, given: Given) -> list[Diagnostic]:
    """The findings; an error about the kind of a value says which given parameter it comes from."""
    odd = {name: value for values in (given.shared, *given.samples) for name, value in values.items()}
    odd = {name: value for name, value in odd.items() if _is_odd(collected, name, value)}
    return [_named(one, collected, odd) for one in found] if odd else list(found)


def _default(collected: Collected, name: str) -> syntax.Expression | None:
    return collected.parameters[name].parameter.default


def _is_odd(collected: Collected, name: str, value: Value) -> bool:
    """A list of one entry per sample or head is as expected whatever the default is."""
    per_entry = collected.parameters[name].parameter.per is not None and isinstance(value, ListValue)
    return not per_entry and _differs(value, _default(collected, name))


def _differs(value: Value, default: syntax.Expression | None) -> bool:
    """Whether a value is of another kind than the default; without one a number or a list is what one expects."""
    match default:
        case syntax.Literal(_, known):
            return type(value) is not type(known)
        case syntax.AnyLiteral():
            return value is not ANY and type(value) is not int
        case syntax.ListOf():
            return not isinstance(value, ListValue)
    return not isinstance(value, ListValue) and type(value) is not int


def _named(one: Diagnostic, collected: Collected, odd: Mapping[str, Value]) -> Diagnostic:
    if one.severity is not Severity.ERROR or one.code not in _ABOUT_KINDS or one.span is None:
        return one
    name = next((word for word in _WORD.findall(_text(one.span)) if word in odd), None)
    if name is None:
        return one
    value, default = odd[name], _default(collected, name)
    shown = "None" if value is ANY else show(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
    said = f"`{name}` is given {shown}, {'no bound (`any`)' if value is ANY else describe(value)}"
    if default is not None:
        said = f"{said}; its default is {format_expression(default)}"
    keep = one.code == "evaluation" and one.hint  # the value may be right, and what is done with it wrong
    return replace(one, hint=f"{one.hint}; {said}" if keep else said)


def _text(span: Span) -> str:
    line = span.source.line(span.line)
    return line[span.column - 1 : span.end_column - 1] if span.end_line == span.line else line[span.column - 1 :]
