"""What the `let` lines of a file give a cell of the matrix: the relations that they name, and those by a coordinate."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from compilemask.language import syntax
from compilemask.language.vocabulary import Kind, words
from compilemask_app.composing.relations import Suggestion
from compilemask_app.composing.renaming import walk
from compilemask_app.composing.text_edits import source_text

_RELATIONS = frozenset(word.name for word in words(Kind.RELATION))
_COORDINATES = frozenset(word.name for word in words(Kind.COORDINATE))


class Sort(Enum):
    """What a `let` can be used as."""

    RELATION = "relation"
    COORDINATE = "coordinate"
    OTHER = "other"


def own_suggestions(file: syntax.File) -> tuple[Suggestion, ...]:
    """What can be made of the definitions of a file, in its order; numbers and conditions make nothing."""
    regions = {node.name for node in walk(file.statements) if isinstance(node, (syntax.Leaf, syntax.Group))}
    sorts = dict.fromkeys(regions, Sort.COORDINATE)
    found: list[Suggestion] = []
    for let in file.statements:
        if isinstance(let, syntax.Let):
            sorts[let.name] = _sort(let, sorts)
            found += _made_of(file, let, sorts[let.name])
    return tuple(found)


def _made_of(file: syntax.File, let: syntax.Let, sort: Sort) -> Iterator[Suggestion]:
    value = f" = {' '.join(source_text(let.value.span).split())}" if let.value is not None else ", by region"
    for written in _uses(file, let):
        line = f"line {let.span.line}: {written}{value}"
        if sort is Sort.RELATION:
            yield Suggestion(written, line, own=True)
        elif sort is Sort.COORDINATE:
            there = f"the query's own {let.name}, line {let.span.line}"
            yield Suggestion(f"same {written}", line, own=True)
            yield Suggestion(f"causal by {written}", f"up to {there}", own=True)
            yield Suggestion(f"before by {written}", f"below {there}", own=True)


def _uses(file: syntax.File, let: syntax.Let) -> tuple[str, ...]:
    """How a definition is written where it is used: its name, or the calls that the rules have of it already."""
    if not let.formals:
        return (let.name,)
    rules = [statement for statement in file.statements if isinstance(statement, syntax.Rules)]
    calls = [node for node in walk(tuple(rules)) if isinstance(node, syntax.Call) and node.name == let.name]
    return tuple(dict.fromkeys(source_text(call.span) for call in calls)) or (
        f"{let.name}({', '.join('1' for _ in let.formals)})",
    )


def _sort(let: syntax.Let, sorts: dict[str, Sort]) -> Sort:
    """By the words in a definition: the binder says more, but needs every size."""
    values = (let.value,) if let.value is not None else tuple(case.value for case in let.cases)
    nodes = list(walk(values))
    known = {name: sort for name, sort in sorts.items() if name not in let.formals}
    if any(_relates(node, known) for node in nodes):
        return Sort.RELATION
    if any(_is_condition(value) for value in values):
        return Sort.OTHER
    return Sort.COORDINATE if let.cases or any(_places(node, known) for node in nodes) else Sort.OTHER


def _relates(node: syntax.Node, known: dict[str, Sort]) -> bool:
    """Whether only a relation can hold this node."""
    match node:
        case syntax.Same() | syntax.By() | syntax.Within():
            return True
        case syntax.Name(name=name) | syntax.Call(name=name):
            return known.get(name) is Sort.RELATION or (name not in known and name in _RELATIONS)
        case syntax.Attribute(value=syntax.Name(name=side)):
            return side in ("q", "k")
    return False


def _places(node: syntax.Node, known: dict[str, Sort]) -> bool:
    """Whether this node differs from token to token."""
    match node:
        case syntax.Name(name=name) | syntax.Call(name=name):
            return known.get(name) is Sort.COORDINATE or (name not in known and name in _COORDINATES)
        case syntax.Attribute(name=name):
            return name in ("at", "number")
    return False


def _is_condition(value: syntax.Expression) -> bool:
    match value:
        case syntax.Compare() | syntax.Unary(operator="not") | syntax.Binary(operator="and" | "or"):
            return True
        case syntax.Literal(value=bool()):
            return True
    return False
