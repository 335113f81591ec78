"""From the arguments of a verb to a compiled mask."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from compilemask import library
from compilemask.command_line.screen import rendered
from compilemask.command_line.settings import parameters_of
from compilemask.command_line.streams import remark
from compilemask.errors import UsageError
from compilemask.language.axis import Axis
from compilemask.language.parameter_table import ShownParameter, kind_of, parameter_table
from compilemask.language.values import ListValue, plain, show
from compilemask.measure.naming import slot_named
from compilemask.pipeline import CompiledMask
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline.memory import keep_freed_memory

MOST_ENTRIES_SHOWN = 4096  # longer lists are told by their first entries


def compiled_of(arguments: Namespace) -> CompiledMask:
    """Compile MASK with its `--set` parameters; warnings and notes go to stderr.

    Raises:
        MaskFileError, UsageError: as the stages do.
    """
    keep_freed_memory()
    compiled = compile_mask(arguments.mask, params=parameters_of(arguments))
    if compiled.diagnostics:
        remark(rendered(compiled.diagnostics, arguments.mask))
    return compiled


def parameters_shown(mask: str, parameters: dict[str, Any], compiled: CompiledMask) -> tuple[ShownParameter, ...]:
    """What the file of a mask says of its parameters, with the values that `compiled` has."""
    return parameter_table(compiled.program.source, library.locate(mask).parent, parameters, compiled.batch)


def parameter_json(parameter: ShownParameter) -> dict[str, Any]:
    """A parameter in the JSON of `show` and `list`."""
    value = parameter.value
    long = isinstance(value, ListValue) and value.total > MOST_ENTRIES_SHOWN
    return {
        "name": parameter.name,
        "value": None if long else plain(value),
        "shown": None if value is None else show(value),
        "kind": kind_of(value),
        "per": parameter.per,
        "default": parameter.default,
        "from": parameter.file,
        "comment": parameter.comment,
        "requires": [{"condition": one.condition, "text": one.text} for one in parameter.requirements],
    }


def check_head(compiled: CompiledMask, batch: int, head: int) -> None:
    """Refuse a batch entry or head that the mask does not have; a mask with one of them serves every number.

    Raises:
        UsageError: the number is too large.
    """
    for what, number, count in (("batch", batch, compiled.batch), ("head", head, compiled.heads)):
        if count > 1 and number >= count:
            raise no_such_entry(what, number, compiled.name, count)


def no_such_entry(what: str, number: int, name: str, count: int) -> UsageError:
    """The error for a `--batch` or `--head` that a mask does not have."""
    return UsageError(f"--{what} {number}: {name} has {count}, numbered 0 to {count - 1}")


def slot_of(compiled: CompiledMask, axis: Axis, what: str, place: int | str) -> int:
    """The slot that `--query` or `--key` (`what`) means: a number, or a name as `explain` prints it.

    Raises:
        UsageError: there is no such token.
    """
    if isinstance(place, str):
        try:
            return slot_named(axis, place)
        except UsageError as error:
            raise UsageError(f"--{what} {error}") from None
    if place >= axis.length:
        numbers = f"has {axis.length:,}, numbered 0 to {axis.length - 1}" if axis.length else "has none"
        raise UsageError(f"--{what} {place}: {compiled.name} {numbers}")
    return place
