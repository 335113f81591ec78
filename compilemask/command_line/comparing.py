"""`compilemask compare`: whether two masks are equal, cell by cell, and where they first differ."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compilemask.command_line.exit_codes import ExitCode
from compilemask.command_line.explaining import explanation_json, explanation_lines
from compilemask.command_line.importing import additive
from compilemask.command_line.masks import no_such_entry, parameter_json, parameters_shown
from compilemask.command_line.screen import say, say_json, unicode_shown
from compilemask.command_line.settings import parameters_of
from compilemask.command_line.streams import remark
from compilemask.command_line.views import shortened
from compilemask.errors import MaskFileError, UsageError
from compilemask.imports import EXPECTED, Form, Masks, hidden_value, masks_of, read_array
from compilemask.imports.arrays import Array
from compilemask.language.findings import counted
from compilemask.language.parameter_table import ShownParameter
from compilemask.language.values import show
from compilemask.measure.comparing import (
    Comparison,
    DifferingCell,
    Side,
    array_side,
    compare,
    compiled_side,
    equal_orders,
)
from compilemask.measure.naming import token_name
from compilemask.pipeline import CompiledMask
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline.memory import keep_freed_memory
from compilemask.source import Diagnostic

ORDERS = "the token orders differ: compared in the order in which the caller holds the tokens, as attention sees them"

MOST_SIZES = 12  # parameters named where lengths differ


@dataclass(frozen=True, slots=True)
class _Given:
    """One of the two: a compiled mask with its parameters, or an array, which has neither."""

    letter: str
    side: Side
    compiled: CompiledMask | None
    parameters: tuple[ShownParameter, ...]

    @property
    def name(self) -> str:
        return self.side.name


def run(arguments: Namespace) -> ExitCode:
    """Print the answer; exit 0 for equal masks, 1 for others."""
    names = (arguments.a, arguments.b)
    if names[0] == names[1]:
        names = (f"{arguments.a} (A)", f"{arguments.b} (B)")
    common = parameters_of(arguments)
    if common and all(_is_array(file) for file in (arguments.a, arguments.b)):
        raise UsageError("arrays have no parameters: expected no --set and no --set-file")
    a, b = _both(arguments, names, common)
    if _lengths(a) != _lengths(b):
        return _say_lengths(a, b, arguments.json)
    for what, axis in (("batch", 0), ("head", 1)):
        for one in (a, b):
            number, count = getattr(arguments, what), one.side.variant.shape[axis]
            if number is not None and 1 < count <= number:
                raise no_such_entry(what, number, one.name, count)
    found = compare(a.side, b.side, arguments.batch, arguments.head)
    if arguments.json:
        say_json(_json(a, b, found))
    else:
        _say(a, b, found, _scope(a, b, arguments.batch, arguments.head))
    return ExitCode.GOOD if found.equal else ExitCode.NO


def _both(arguments: Namespace, names: tuple[str, str], common: dict[str, Any]) -> tuple[_Given, _Given]:
    """The two sides. A mask comes first: it says which axes an array has."""
    found: dict[str, _Given] = {}
    sides = zip("ab", (arguments.a, arguments.b), names, strict=True)
    for letter, file, name in sorted(sides, key=lambda side: _is_array(side[1])):
        if _is_array(file):
            other = next((one.compiled for one in found.values() if one.compiled is not None), None)
            found[letter] = _given_array(arguments, letter, file, name, other)
        else:
            found[letter] = _given_mask(arguments, letter, file, name, common)
    return found["a"], found["b"]


def _own_parameters(arguments: Namespace, letter: str) -> dict[str, Any]:
    return parameters_of(
        Namespace(set=getattr(arguments, f"set_{letter}"), set_file=getattr(arguments, f"set_file_{letter}"))
    )


def _given_array(arguments: Namespace, letter: str, file: str, name: str, other: CompiledMask | None) -> _Given:
    if _own_parameters(arguments, letter):
        raise UsageError(f"{file}: an array has no parameters: expected no --set-{letter}")
    return _Given(letter, array_side(_masks(Path(file), other), name), None, ())


def _given_mask(arguments: Namespace, letter: str, file: str, name: str, common: dict[str, Any]) -> _Given:
    arguments.mask = file  # whose findings are printed if it is invalid
    values = {**common, **_own_parameters(arguments, letter)}
    keep_freed_memory()
    try:
        compiled = compile_mask(file, params=values)  # without its warnings, which `check` prints
    except MaskFileError as error:
        several = not (_is_array(arguments.a) or _is_array(arguments.b))
        raise MaskFileError([_with_sides(one, several and bool(common)) for one in error.diagnostics]) from None
    return _Given(letter, compiled_side(compiled, name), compiled, parameters_shown(file, values, compiled))


def _with_sides(one: Diagnostic, common: bool) -> Diagnostic:
    """A parameter that one of two masks lacks: which options set it for the other alone."""
    if one.code != "unknown-parameter" or not common:
        return one
    hint = "--set is for both masks; a parameter of one of them is set by --set-a or --set-b"
    return replace(one, hint=f"{one.hint}; {hint}" if one.hint else hint)


def _is_array(file: str) -> bool:
    return file.lower().endswith(".npy")


def _masks(path: Path, other: CompiledMask | None) -> Masks:
    array = read_array(path)
    if array.ndim == 3:
        array = _with_both_axes(path, array, other)
    if array.ndim not in (2, 4):
        found = f"{array.dtype} {list(array.shape)}"
        raise UsageError(
            f"{path} holds {found}; expected {EXPECTED[Form.DENSE]}; `compilemask import` reads other forms"
        )
    try:
        masks = masks_of(array, Form.DENSE)
        hidden = hidden_value(array)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    if hidden is not None:
        remark(additive(path, hidden))
    return masks


def _with_both_axes(path: Path, array: Array, other: CompiledMask | None) -> Array:
    """[batch, heads, queries, keys] of an array whose first axis the other mask tells: its heads, or its samples."""
    count = len(array)
    heads, samples = (1, 1) if other is None else (other.heads, other.batch)
    if count == 1 or (count == heads and samples == 1):
        return array[None]
    if count == samples and heads == 1:
        return array[:, None]
    has = "" if other is None else f"; {other.name} has {counted(heads, 'head')} and {counted(samples, 'sample')}"
    raise UsageError(
        f"{path} holds {array.dtype} {list(array.shape)}, whose first axis may be heads or samples{has}: "
        "save `x[None]` for heads, `x[:, None]` for samples"
    )


def _lengths(given: _Given) -> tuple[int, int]:
    return given.side.query_length, given.side.key_length


# ---------------------------------------------------------------- for people


def _say(a: _Given, b: _Given, found: Comparison, scope: str) -> None:
    if found.first is None:
        say(f"equal: {a.name} and {b.name} show the same cells ({_size(a)}{scope})")
    else:
        say(f"different: {found.differing:,} of {found.cells:,} cells differ ({_size(a)}{scope})")
        say(f"  {found.only_first:,} visible in {a.name} only, {found.only_second:,} in {b.name} only")
        _say_cell(a, b, found.first)
    if _orders_differ(a, b):
        say(ORDERS)


def _say_cell(a: _Given, b: _Given, cell: DifferingCell) -> None:
    where = f"query {cell.query:,}, key {cell.key:,}"
    several = max(a.side.variant.size, b.side.variant.size) > 1
    say(f"first at {where}" + (f" of batch entry {cell.batch}, head {cell.head}" if several else ""))
    for one, visible in ((a, cell.in_first), (b, not cell.in_first)):
        say(f"{one.name}: {_place(one, cell)}")
        if one.compiled is None:
            say(f"  {'visible' if visible else 'not visible'}: the array says so")
            continue
        for line in explanation_lines(one.compiled.explain(cell.query, cell.key, cell.batch, cell.head)):
            say(f"  {line}")


def _place(one: _Given, cell: DifferingCell) -> str:
    regions = _regions(one, cell)
    return f"query {regions[0]}, key {regions[1]}" if regions else "an array, which has no regions"


def _regions(one: _Given, cell: DifferingCell) -> tuple[str, str] | None:
    if one.compiled is None:
        return None
    variant = one.compiled.program.variant_of(cell.batch, cell.head)
    return token_name(variant.queries, cell.query), token_name(variant.keys, cell.key)


def _size(one: _Given) -> str:
    times = "×" if unicode_shown() else "x"
    return f"{one.side.query_length:,} queries {times} {one.side.key_length:,} keys"


def _scope(a: _Given, b: _Given, batch: int | None, head: int | None) -> str:
    """`, all 2 heads`: what was compared of batch entries and heads, where the masks tell any apart."""
    words = ""
    for axis, one, several, number in ((0, "batch entry", "batch entries", batch), (1, "head", "heads", head)):
        count = max(given.side.variant.shape[axis] for given in (a, b))
        if count > 1:
            words += f", all {count:,} {several}" if number is None else f", {one} {number:,} of {count:,}"
    return words


def _orders_differ(a: _Given, b: _Given) -> bool:
    if a.compiled is None or b.compiled is None:
        return False
    return not equal_orders(a.compiled.order, b.compiled.order)


def _say_lengths(a: _Given, b: _Given, as_json: bool) -> ExitCode:
    """Lengths differ, so no cell is compared: which sizes there are to set."""
    if as_json:
        say_json(_json(a, b, None))
        return ExitCode.NO
    say("different: the lengths differ, so no cell was compared; give both the same sizes")
    for one in (a, b):
        say(f"{one.name}: {_size(one)}")
        known = [item for item in one.parameters if item.value is not None]
        sizes = ", ".join(f"{item.name}={shortened(show(item.value))}" for item in known[:MOST_SIZES])
        if known:
            say(f"  --set-{one.letter} changes {sizes}" + (", ..." if len(known) > MOST_SIZES else ""))
    return ExitCode.NO


# ---------------------------------------------------------------- for programs


def _json(a: _Given, b: _Given, found: Comparison | None) -> dict[str, Any]:
    """The object of `compare --json`; without a comparison the lengths differ."""
    return {
        "equal": found is not None and found.equal,
        "lengths_differ": found is None,
        "token_orders_differ": _orders_differ(a, b),
        "a": _side_json(a),
        "b": _side_json(b),
        "cells": None if found is None else found.cells,
        "differing": None if found is None else found.differing,
        "only_a": None if found is None else found.only_first,
        "only_b": None if found is None else found.only_second,
        "first": None if found is None or found.first is None else _cell_json(a, b, found.first),
    }


def _side_json(one: _Given) -> dict[str, Any]:
    queries, keys = _lengths(one)
    batch, heads = one.side.variant.shape
    sizes = {"query_length": queries, "key_length": keys, "batch": batch, "heads": heads}
    return {"name": one.name, **sizes, "parameters": [parameter_json(item) for item in one.parameters]}


def _cell_json(a: _Given, b: _Given, cell: DifferingCell) -> dict[str, Any]:
    place = {"batch": cell.batch, "head": cell.head, "query": cell.query, "key": cell.key}
    return {**place, "a": _why(a, cell, cell.in_first), "b": _why(b, cell, not cell.in_first)}


def _why(one: _Given, cell: DifferingCell, visible: bool) -> dict[str, Any]:
    """As `explain --json` says it; of an array only whether it shows the cell."""
    if one.compiled is None:
        return {"visible": visible}
    regions = _regions(one, cell) or ("", "")
    found = one.compiled.explain(cell.query, cell.key, cell.batch, cell.head)
    return {"query_region": regions[0], "key_region": regions[1], **explanation_json(found)}
