"""A file's statements with its includes in place, sorted by what they say; each is checked for being given twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from compilemask.errors import MaskFileError
from compilemask.language import files, syntax
from compilemask.language.findings import Findings, RejectError, reject
from compilemask.language.parser import parse_once
from compilemask.language.values import ListValue, Value
from compilemask.source import Source

DEEPEST_INCLUDE = 8
MOST_INCLUDES = 64
MOST_INCLUDED = 2**20  # characters in all included files
MOST_ENTRIES = 2**25  # entries in all data files


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter, and the folder that its data file lies in."""

    parameter: syntax.Parameter
    folder: Path | None


@dataclass(slots=True)
class Collected:
    """All statements of a mask."""

    source: Source
    root: Path | None
    title: syntax.Title | None = None
    parameters: dict[str, Declared] = field(default_factory=dict)
    lets: dict[str, syntax.Let] = field(default_factory=dict)
    requires: list[syntax.Require] = field(default_factory=list)
    heads: syntax.Heads | None = None
    layouts: dict[str, syntax.Layout] = field(default_factory=dict)
    queries_from: syntax.QueriesFrom | None = None
    align: syntax.Align | None = None
    positions: dict[str, syntax.Position] = field(default_factory=dict)
    rules: list[syntax.Rules] = field(default_factory=list)
    orders: list[syntax.Order] = field(default_factory=list)
    included: int = 0
    characters: int = 0
    tables: dict[Path, Value] = field(default_factory=dict)
    entries: int = 0
    broken: set[str] = field(default_factory=set)

    def table(self, declared: Declared) -> Value:
        """The value in a parameter's data file, read once."""
        parameter = declared.parameter
        assert parameter.file is not None
        path = files.locate(declared.folder, parameter.file, self.root, parameter.span)
        if path not in self.tables:
            value = files.data(path, parameter.file, parameter.span)
            self.entries += value.total if isinstance(value, ListValue) else 0
            if self.entries > MOST_ENTRIES:
                message = f"the data files have more than {MOST_ENTRIES:,} entries together"
                raise reject("file-too-large", message, parameter.span)
            self.tables[path] = value
        return self.tables[path]


def collect(file: syntax.File, folder: Path | None, findings: Findings) -> Collected:
    """Sort the statements of a file and of what it includes."""
    collected = Collected(file.source, folder)
    _add_file(collected, file, folder, (), findings)
    return collected


def _add_file(
    collected: Collected, file: syntax.File, folder: Path | None, stack: tuple[Path, ...], findings: Findings
) -> None:
    for statement in file.statements:
        with findings.catching():
            if isinstance(statement, syntax.Include):
                _include(collected, statement, folder, stack, findings)
            else:
                _add(collected, statement, folder, file.source)


def _include(
    collected: Collected, node: syntax.Include, folder: Path | None, stack: tuple[Path, ...], findings: Findings
) -> None:
    path = files.locate(folder, node.path, collected.root, node.span)
    if path in stack:
        raise reject("include-circle", f'"{node.path}" includes itself', node.span)
    collected.included += 1
    if len(stack) >= DEEPEST_INCLUDE:
        raise reject("include-depth", f"includes are nested more than {DEEPEST_INCLUDE} deep", node.span)
    if collected.included > MOST_INCLUDES:
        raise reject("include-count", f"more than {MOST_INCLUDES} files are included", node.span)
    try:
        source = files.mask_text(path, node.path, node.span)
        collected.characters += len(source.text)
        if collected.characters > MOST_INCLUDED:
            message = f"the included files have more than {MOST_INCLUDED:,} characters together"
            raise reject("file-too-large", message, node.span, "keep long tables in .json or .npy files")
        file = parse_once(source)
    except MaskFileError as error:
        for diagnostic in error.diagnostics:
            findings.add(diagnostic)
        raise RejectError(None) from None
    _add_file(collected, file, path.parent, (*stack, path), findings)


def _add(collected: Collected, statement: syntax.Statement, folder: Path | None, source: Source) -> None:
    match statement:
        case syntax.Title():
            collected.title = statement if source is collected.source or collected.title is None else collected.title
        case syntax.Parameters(_, parameters):
            for parameter in parameters:
                _add_parameter(collected, parameter, folder)
        case syntax.Require():
            collected.requires.append(statement)
        case syntax.Heads():
            _once(collected.heads, statement, "heads")
            collected.heads = statement
        case syntax.Layout():
            _once(collected.layouts.get(statement.axis), statement, statement.axis)
            collected.layouts[statement.axis] = statement
        case syntax.QueriesFrom():
            _once(collected.queries_from, statement, "queries are")
            collected.queries_from = statement
        case syntax.Align():
            _once(collected.align, statement, "align")
            collected.align = statement
        case _:
            _add_rest(collected, statement)


def _add_rest(collected: Collected, statement: syntax.Statement) -> None:
    match statement:
        case syntax.Position(_, axis):
            for name in (axis,) if axis else ("queries", "keys"):
                _once(collected.positions.get(name), statement, f"position {name}")
                collected.positions[name] = statement
        case syntax.Let():
            if statement.name in collected.parameters:
                raise reject("defined-twice", f"`{statement.name}` is a parameter already", statement.span)
            before = collected.lets.get(statement.name)
            if before is not None:
                raise reject(
                    "defined-twice",
                    f"`{statement.name}` is defined twice, first in line {before.span.line}",
                    statement.span,
                )
            collected.lets[statement.name] = statement
        case syntax.Rules():
            collected.rules.append(statement)
        case syntax.Order():
            collected.orders.append(statement)


def _add_parameter(collected: Collected, parameter: syntax.Parameter, folder: Path | None) -> None:
    before = collected.parameters.get(parameter.name)
    if before is not None and before.parameter.span.source is parameter.span.source:
        line = before.parameter.span.line
        raise reject("defined-twice", f"`{parameter.name}` is defined twice, first in line {line}", parameter.span)
    if parameter.name in collected.lets:
        raise reject("defined-twice", f"`{parameter.name}` is defined by a `let` already", parameter.span)
    collected.parameters[parameter.name] = Declared(parameter, folder)


def _once(before: syntax.Statement | None, statement: syntax.Statement, what: str) -> None:
    if before is not None:
        where = f"line {before.span.line} of {before.span.source.name}"
        raise reject("given-twice", f"`{what}` is given twice: first in {where}", statement.span, "keep one of them")
