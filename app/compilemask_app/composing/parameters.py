"""The numbers in the parameters of a file, and what a step up or down makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compilemask.language import syntax
from compilemask_app.composing.renaming import walk
from compilemask_app.composing.text_edits import TextEdit, replacing, source_text

FINENESS = 16
"""A step is about this part of the value."""

LARGEST = 1 << 24


@dataclass(frozen=True, slots=True)
class Number:
    """One integer or truth value that stands in a parameter's default."""

    parameter: int
    literal: syntax.Literal

    @property
    def value(self) -> int | bool:
        """Its value."""
        assert not isinstance(self.literal.value, str)
        return self.literal.value


@dataclass(frozen=True, slots=True)
class ParameterLine:
    """A parameter as shown: its name and its default as written (empty if it has none)."""

    name: str
    text: str
    default: syntax.Expression | None


@dataclass(frozen=True, slots=True)
class ParameterList:
    """All parameters of a file, and all numbers in them in reading order."""

    lines: tuple[ParameterLine, ...]
    numbers: tuple[Number, ...]


def parameters_of(file: syntax.File) -> ParameterList:
    """The parameters that a file declares itself (not those of its includes)."""
    declared = [
        parameter
        for statement in file.statements
        if isinstance(statement, syntax.Parameters)
        for parameter in statement.parameters
    ]
    lines = tuple(ParameterLine(item.name, _shown(item), item.default) for item in declared)
    numbers = tuple(number for place, item in enumerate(declared) for number in _numbers(place, item))
    return ParameterList(lines, numbers)


def _shown(parameter: syntax.Parameter) -> str:
    if parameter.default is not None:
        return source_text(parameter.default.span)
    return f'from "{parameter.file}"' if parameter.file else "no value"


def _numbers(place: int, parameter: syntax.Parameter) -> Iterator[Number]:
    for node in walk((parameter.default,) if parameter.default is not None else ()):
        if isinstance(node, syntax.Literal) and isinstance(node.value, int):
            yield Number(place, node)


def stepped(number: Number, direction: int) -> TextEdit:
    """A step up (1) or down (-1): about a sixteenth, in powers of two; a truth value turns round."""
    value = number.value
    if isinstance(value, bool):
        return replacing(number.literal.span, "false" if value else "true")
    step = 1
    while step * 2 * FINENESS <= value + (0 if direction > 0 else -1):
        step *= 2
    floor = value // step * step
    moved = value + direction * step if value == floor else floor + max(0, direction) * step
    return replacing(number.literal.span, str(min(LARGEST, max(0, moved))))


def set_to(number: Number, value: int) -> TextEdit:
    """Another value."""
    return replacing(number.literal.span, str(min(LARGEST, max(0, value))))


def scaled(number: Number, direction: int) -> TextEdit:
    """Twice (1) or half (-1)."""
    value = number.value
    if isinstance(value, bool):
        return stepped(number, direction)
    return replacing(number.literal.span, str(min(LARGEST, value * 2) if direction > 0 else value // 2))


def written(line: ParameterLine, text: str) -> TextEdit | None:
    """Another default, typed; None for a parameter without one."""
    return None if line.default is None else replacing(line.default.span, text)
