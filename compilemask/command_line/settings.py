"""Parameters from the command line: `--set name=value` and `--set-file params.json`."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from pathlib import Path
from typing import Any

from compilemask.errors import MaskFileError, UsageError
from compilemask.language import syntax
from compilemask.source import Source
from compilemask.text_files import not_json, read_text

MAX_FILE = 16 * 1024 * 1024
MAX_ENTRIES = 16 * 1024 * 1024
MAX_PARTS = 1024 * 1024  # lists and strings of a file
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parameters_of(arguments: Namespace) -> dict[str, Any]:
    """All parameters of a command line, files first, so that `--set` wins; `null` and `any` are None (no bound).

    They are read once: a pipe has no second time.

    Raises:
        UsageError: a file or a setting that can't be read.
    """
    if "parameters" not in arguments:
        arguments.parameters = _read(arguments)
    values: dict[str, Any] = arguments.parameters
    return values


def _read(arguments: Namespace) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for path in arguments.set_file:
        values.update(_from_file(Path(path)))
    for setting in arguments.set:
        name, equals, text = setting.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()) or not text.strip():
            raise UsageError(f"--set {setting!r:.80}: expected name=value, for instance --set length=4096")
        values[name.strip()] = value_of(name.strip(), text.strip())
    return values


def value_of(name: str, text: str) -> Any:
    """A value in JSON or in the words of the mask language: `9`, `[9, 7]`, `[1024] * 6`, `true`, `any`, `"word"`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return _constant(_parsed(text))
    except _Unquoted as word:
        quoted = f"'{name}=\"{word!s:.80}\"'"
        needs = "a word needs quotes that the shell leaves alone, as in --set"
        raise UsageError(f"--set {name}={text:.80}: {needs} {quoted}") from None
    except (MaskFileError, _NotConstant, RecursionError):
        raise UsageError(
            f'--set {name}={text:.80}: expected a value such as 9, true, any, "word", [9, 7] or [1024] * 6'
        ) from None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path, MAX_FILE, pipe=True)
        if text.count("[") + text.count('"') // 2 > MAX_PARTS:
            raise UsageError(f"{path}: holds more than {MAX_PARTS:,} lists and strings")
        if not text.strip():
            raise UsageError(f"{path}: it is empty")
        values = json.loads(text)
    except UsageError as error:
        raise UsageError(f"--set-file {error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--set-file {path}: not JSON: {not_json(error)}") from None
    if not isinstance(values, dict):
        raise UsageError(f'--set-file {path}: expected an object such as {{"length": 4096}}')
    return values


class _NotConstant(Exception):
    """The text is an expression, but not a value."""


class _Unquoted(Exception):
    """A bare word stands where a value is expected."""


def _parsed(text: str) -> syntax.Expression:
    from compilemask.language.parser import parse

    if "\n" in text or "#" in text:
        raise _NotConstant
    # Layout and rules are there because a file needs both to be a mask.
    file = parse(Source("--set", f"param value = {text}\nlayout\n    token : 1\nrules\n    token sees token : all\n"))
    first = file.statements[0]
    if not isinstance(first, syntax.Parameters) or len(first.parameters) != 1 or first.parameters[0].default is None:
        raise _NotConstant
    return first.parameters[0].default


def _constant(node: syntax.Expression) -> Any:
    match node:
        case syntax.Literal(value=value):
            return value
        case syntax.AnyLiteral():
            return None
        case syntax.ListOf(items=items) | syntax.TupleOf(items=items):
            return [_constant(item) for item in items]
        case syntax.Unary(operator="-", operand=operand):
            return -_number(_constant(operand))
        case syntax.Binary(operator=operator, left=left, right=right):
            return _combined(operator, _constant(left), _constant(right))
        case syntax.Name(name=name):
            raise _Unquoted(name)
    raise _NotConstant


def _number(value: Any) -> int:
    if type(value) is not int:
        raise _NotConstant
    return value


def _size(entries: list[Any], known: dict[int, int]) -> int:
    """Entries of a list and of all lists in it; one that stands there many times is counted through once."""
    found = known.get(id(entries))
    if found is None:
        inner = (_size(entry, known) for entry in entries if isinstance(entry, list))
        found = known[id(entries)] = len(entries) + sum(inner)
    return found


def _combined(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, list) or isinstance(right, list):
        if operator == "+" and isinstance(left, list) and isinstance(right, list):
            return left + right
        if operator != "*":
            raise _NotConstant
        entries, times = (left, right) if isinstance(left, list) else (right, left)
        if _size(entries, {}) * max(_number(times), 0) > MAX_ENTRIES:
            raise UsageError(f"a list of more than {MAX_ENTRIES:,} entries, those of lists in it included")
        return entries * _number(times)
    a, b = _number(left), _number(right)
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//" if b != 0:
            return a // b
        case "%" if b != 0:
            return a % b
    raise _NotConstant
