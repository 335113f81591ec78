"""Renaming a region everywhere it is meant, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from compilemask.language import syntax
from compilemask.language.names import UNDECLARABLE
from compilemask.source import Span
from compilemask_app.composing.text_edits import TextEdit, source_text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def name_problem(file: syntax.File, name: str, beside: syntax.Leaf | None = None) -> str | None:
    """Why a region can't be called so; None if it can.

    A region `beside` another one may be called as one of the other side, where queries and keys have layouts of their
    own.
    """
    if not _NAME.match(name):
        return "a name has letters, digits and _, and does not begin with a digit"
    if name in UNDECLARABLE:
        return f"`{name}` has a meaning of its own in the language"
    side = axis_of(file, beside) if beside else ""
    heard = [one for one in file.statements if not (side and isinstance(one, syntax.Layout) and one.axis != side)]
    taken = {node.name for node in walk(tuple(heard)) if isinstance(node, (syntax.Leaf, syntax.Group, syntax.Let))}
    return f"there is already something called `{name}`" if name in taken else None


def axis_of(file: syntax.File, leaf: syntax.Leaf) -> str:
    """The axis of the layout that a region stands in: `layout` (both), `queries` or `keys`."""
    layouts = [statement for statement in file.statements if isinstance(statement, syntax.Layout)]
    return next((one.axis for one in layouts if any(node is leaf for node in walk(one.items))), "layout")


def rename_region(file: syntax.File, old: str, new: str) -> list[TextEdit]:
    """All replacements that give a region another name."""
    nodes = list(walk(file.statements))
    parameter = any(isinstance(node, syntax.Parameter) and node.name == old for node in nodes)
    edits: set[TextEdit] = set()
    for node in nodes:
        if isinstance(node, (syntax.Leaf, syntax.Group)) and node.name == old:
            edits.add(_first_word(node.span, old, new))
        elif isinstance(node, syntax.RegionPath) and old in node.names:
            edits.update(_words(node.span, rf"\b{old}\b", new))
        elif isinstance(node, (syntax.Within, syntax.Align)) and _within(node) == old:
            edits.update(_words(node.span, rf"(?<=within)\s+{old}\b", f" {new}"))
        elif isinstance(node, (syntax.Same, syntax.By)) and _is_name(node.coordinate, old):
            edits.add(_whole(node.coordinate.span, new))
        elif isinstance(node, syntax.Attribute) and (_is_name(node.value, old) or node.name == old):
            edits.update(_words(node.span, rf"\b{old}\b", new))
        elif isinstance(node, syntax.Name) and node.name == old and not parameter:
            edits.add(_whole(node.span, new))
    return sorted(edits)


def parameter_name_problem(file: syntax.File, name: str) -> str | None:
    """Why a parameter can't be called so; None if it can. A region may have the same name."""
    if not _NAME.match(name):
        return "a name has letters, digits and _, and does not begin with a digit"
    if name in UNDECLARABLE:
        return f"`{name}` has a meaning of its own in the language"
    taken = {node.name for node in walk(file.statements) if isinstance(node, (syntax.Parameter, syntax.Let))}
    return f"there is already something called `{name}`" if name in taken else None


def rename_parameter(file: syntax.File, old: str, new: str) -> list[TextEdit]:
    """All replacements that give a parameter another name; a region of the same name keeps it."""
    nodes = list(walk(file.statements))
    region = any(isinstance(node, (syntax.Leaf, syntax.Group)) and node.name == old for node in nodes)
    places = [node.coordinate.span for node in nodes if isinstance(node, (syntax.Same, syntax.By))]
    places += [node.value.span for node in nodes if isinstance(node, syntax.Attribute)]
    edits: set[TextEdit] = set()
    for node in nodes:
        if isinstance(node, syntax.Parameter) and node.name == old:
            edits.add(_first_word(node.span, old, new))
        elif isinstance(node, syntax.Name) and node.name == old and not (region and node.span in places):
            edits.add(_whole(node.span, new))
    return sorted(edits)


def walk(value: object) -> Iterator[syntax.Node]:
    """All nodes of a tree, depth first."""
    if isinstance(value, tuple):
        for item in value:
            yield from walk(item)
    elif isinstance(value, syntax.Node):
        yield value
        for item in fields(value):
            if item.name != "span":
                yield from walk(getattr(value, item.name))


def _within(node: syntax.Within | syntax.Align) -> str | None:
    return node.region if isinstance(node, syntax.Within) else node.within


def _is_name(node: syntax.Expression, name: str) -> bool:
    return isinstance(node, syntax.Name) and node.name == name


def _whole(span: Span, text: str) -> TextEdit:
    return TextEdit((span.line - 1, span.column - 1), (span.end_line - 1, span.end_column - 1), text)


def _first_word(span: Span, old: str, new: str) -> TextEdit:
    row, column = span.line - 1, span.column - 1
    return TextEdit((row, column), (row, column + len(old)), new)


def _words(span: Span, pattern: str, new: str) -> list[TextEdit]:
    """Places of a pattern in the first line of a span."""
    text = source_text(span) if span.line == span.end_line else span.source.line(span.line)[span.column - 1 :]
    row, column = span.line - 1, span.column - 1
    return [
        TextEdit((row, column + found.start()), (row, column + found.end()), new)
        for found in re.finditer(pattern, text)
    ]
