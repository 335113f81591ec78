"""The parameters of a mask as a person meets them: value, kind, what the file says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from compilemask.language import syntax
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_file import Collected, Declared, collect
from compilemask.language.bind_parameters import Given, ParameterBinder, given_values, names_in
from compilemask.language.bind_scope import Scope
from compilemask.language.findings import Findings, RejectError
from compilemask.language.parser import parse_once
from compilemask.language.printer_expressions import format_expression
from compilemask.language.values import Grid, ListValue, Value
from compilemask.source import Source


@dataclass(frozen=True, slots=True)
class Requirement:
    """A `require` of the file that names a parameter; `text` is what it says when it fails."""

    condition: str
    text: str | None


@dataclass(frozen=True, slots=True)
class ShownParameter:
    """One parameter. `value` is the one in use, with every entry where it is per batch or head; None: it follows from
    values per batch, and every sample has its own.

    `default` is the text behind `=`, `file` that behind `from`; None where there is none. `comment` stands behind the
    declaration or right above it, without `#`; empty where none does.
    """

    name: str
    value: Value | None
    per: str | None
    default: str | None
    file: str | None
    comment: str
    requirements: tuple[Requirement, ...]


def parameter_table(
    source: Source, folder: Path | None, params: Mapping[str, object] | None = None, samples: int = 1
) -> tuple[ShownParameter, ...]:
    """The parameters of a valid mask, those of its includes too, in the order of the text.

    `samples` is how many the mask has with these values; a parameter that follows from one that differs between
    samples has no value of its own. Raises MaskFileError where the text can't be read.
    """
    findings = Findings()
    collected = collect(parse_once(source), folder, findings)
    given = given_values(collected, params, None, findings)
    whole, first = _bound(collected, given, None), _bound(collected, given, 0)
    differing = _differing(collected, given) if samples > 1 else set()
    shown = []
    for name, declared in collected.parameters.items():
        value = None if name in differing else (whole if declared.parameter.per else first).get(name)
        shown.append(_shown(collected, declared, value))
    return tuple(shown)


def _bound(collected: Collected, given: Given, sample: int | None) -> dict[str, Value]:
    """The values in one sample, or as a whole (None); those that can't be told are left out."""
    scope = Scope(Findings(), expression)
    scope.batch = sample or 0
    binder = ParameterBinder(scope, collected, given, sample)
    for name in collected.parameters:
        with suppress(RejectError, EvaluationError):
            binder.bind(name)
    return dict(scope.parameters)


def _differing(collected: Collected, given: Given) -> set[str]:
    """The parameters that follow from values per batch, so that every sample has its own."""
    users: dict[str, list[str]] = {}
    for name, declared in collected.parameters.items():
        for used in () if name in given.shared else names_in(declared.parameter.default):
            users.setdefault(used, []).append(name)
    left = [name for name, declared in collected.parameters.items() if declared.parameter.per == "batch"]
    found: set[str] = set()
    while left:
        new = set(users.get(left.pop(), ())) - found
        found |= new
        left += new
    return found


def _shown(collected: Collected, declared: Declared, value: Value | None) -> ShownParameter:
    parameter = declared.parameter
    default = None if parameter.default is None else format_expression(parameter.default)
    required = tuple(_requirements(collected.requires, parameter.name))
    return ShownParameter(parameter.name, value, parameter.per, default, parameter.file, _comment(parameter), required)


def _requirements(requires: Sequence[syntax.Require], name: str) -> Iterator[Requirement]:
    for one in requires:
        if name in names_in(one.condition):
            yield Requirement(format_expression(one.condition), one.text)


def _comment(parameter: syntax.Parameter) -> str:
    """Behind the declaration, else the lines right above it, unless they begin the file: those are about all of it."""
    source = parameter.span.source
    comments = parse_once(source).comments
    for line in range(parameter.span.line, parameter.span.end_line + 1):
        if line in comments:
            return _plain(comments[line])
    first = parameter.span.line
    while first - 1 in comments and source.line(first - 1).lstrip().startswith("#"):
        first -= 1
    above = range(first, parameter.span.line) if first > 1 else ()
    return " ".join(_plain(comments[line]) for line in above)


def _plain(comment: str) -> str:
    return comment.lstrip("#").strip()


def kind_of(value: Value | None) -> str:
    """What a value is, in a word or two: `number`, `list of 3`."""
    match value:
        case None:
            return "one per sample"
        case bool():
            return "true or false"
        case int():
            return "number"
        case str():
            return "text"
        case ListValue():
            return f"list of {len(value):,}"
        case Grid():
            return "grid"
    return "no bound"
