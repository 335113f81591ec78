"""What the grammar allows and a file may not say: names that mean something else, statements given twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compilemask.language import syntax
from compilemask.language.lexing import Scan
from compilemask.language.names import BARE_RELATIONS, BUILT_IN_COORDINATES, CALLED_WORDS, UNDECLARABLE, another
from compilemask.source import Diagnostic, Span

MAX_NESTING = 8


def check_file(statements: tuple[syntax.Statement, ...], scanned: Scan) -> None:
    """Report reserved names, repeated statements and too deep layouts of one file."""
    for statement in statements:
        for name, line in _declared(statement):
            if name in UNDECLARABLE:
                span = _word(line, name)
                scanned.report("reserved-name", f"`{name}` can't be used as a name: {_role(name)}", span, another(name))
        if isinstance(statement, syntax.Let) and statement.formals and statement.name in CALLED_WORDS:
            message = f"`{statement.name}(...)` can't be defined: the language has a relation or function of that name"
            span = _word(statement.span, statement.name)
            scanned.report("reserved-name", message, span, another(statement.name))
        if isinstance(statement, syntax.Layout):
            _check_nesting(statement.items, 1, scanned)
    _check_repeats(statements, scanned)


def without_uses(scanned: Scan) -> None:
    """Forget the errors of lines that use a word which can't be a name: its declaration has been refused already."""
    refused = {_at(d.span) for d in scanned.diagnostics if d.code == "reserved-name" and d.span is not None}
    if refused:
        scanned.diagnostics[:] = [d for d in scanned.diagnostics if d.code != "syntax" or not _about(d, refused)]


def _at(span: Span) -> str:
    return span.source.line(span.line)[span.column - 1 : span.end_column - 1]


def _about(diagnostic: Diagnostic, names: set[str]) -> bool:
    """Whether the word that makes no sense, or the one before it, is one of these names."""
    span = diagnostic.span
    if span is None:
        return False
    before = re.search(r"(\w+)\s*$", span.source.line(span.line)[: span.column - 1])
    return _at(span) in names or (before is not None and before.group(1) in names)


def _declared(statement: syntax.Statement) -> Iterator[tuple[str, Span]]:
    if isinstance(statement, syntax.Parameters):
        for parameter in statement.parameters:
            yield parameter.name, parameter.span
    elif isinstance(statement, syntax.Let):
        for name in (statement.name, *statement.formals):
            yield name, statement.span
    elif isinstance(statement, syntax.Layout):
        yield from _regions(statement.items)


def _regions(items: tuple[syntax.Item, ...]) -> Iterator[tuple[str, Span]]:
    for item in items:
        if isinstance(item, syntax.Leaf):
            yield item.name, item.span
        elif isinstance(item, syntax.Group):
            yield item.name, item.span
            yield from _regions(item.items)


def _word(span: Span, name: str) -> Span:
    """Where the name stands in the line that declares it."""
    found = re.compile(rf"\b{name}\b").search(span.source.line(span.line), span.column - 1)
    if found is None:
        return span
    return Span(span.source, span.line, found.start() + 1, span.line, found.end() + 1)


def _role(name: str) -> str:
    if name in BUILT_IN_COORDINATES:
        return "it is a coordinate or number that the language knows"
    if name in BARE_RELATIONS:
        return "it is a relation"
    return "it is a word of the language"


def _check_nesting(items: tuple[syntax.Item, ...], depth: int, scanned: Scan) -> None:
    for item in items:
        if isinstance(item, syntax.Group):
            if depth >= MAX_NESTING:
                message = f"regions are nested more than {MAX_NESTING} deep"
                scanned.report("too-deep", message, item.span, "leave out a level that holds one region only")
                return
            _check_nesting(item.items, depth + 1, scanned)


def _check_repeats(statements: tuple[syntax.Statement, ...], scanned: Scan) -> None:
    seen: dict[str, syntax.Statement] = {}
    for statement in statements:
        key = once(statement)
        if key is None:
            continue
        if key in seen:
            where = f"line {seen[key].span.line}"
            scanned.report(
                "given-twice", f"`{key}` is given twice: first in {where}", statement.span, "keep one of them"
            )
        else:
            seen[key] = statement


def once(statement: syntax.Statement) -> str | None:
    """What a statement settles for the whole mask, so that a second one would replace it; None if it may repeat."""
    match statement:
        case syntax.Title():
            return "title"
        case syntax.Heads():
            return "heads"
        case syntax.Layout(axis=axis):
            return axis
        case syntax.Align():
            return "align"
        case syntax.Position(axis=axis):
            return f"position {axis}" if axis else "position"
        case syntax.QueriesFrom():
            return "queries are"
        case syntax.Order(selector=None):
            return "order best"
        case _:
            return None
