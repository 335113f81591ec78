"""Checks of what Python callers give: each refusal says what, what was expected and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from operator import index
from pathlib import Path
from typing import Any

from compilemask.errors import UsageError
from compilemask.language.values import INT64_MAX, INT64_MIN, told


def checked_text(text: object) -> str:
    """The text of a mask. Raises UsageError for anything else."""
    if isinstance(text, str):
        return text
    raise UsageError(f"text must be the text of a mask as a str, but is {_kind(text)}; compile takes paths and names.")


def checked_path(what: str, path: object) -> Path:
    """A path from a str or a path. Raises UsageError for anything else."""
    if isinstance(path, str | os.PathLike):
        found = os.fspath(path)
        if isinstance(found, str):
            return Path(found)
    raise UsageError(f"{what} must be a path, but is {_kind(path)}.")


def checked_parameters(given: object) -> dict[str, Any]:
    """Parameters by name; None: none. Raises UsageError unless it is a mapping."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    raise UsageError(
        f"params must map names to values, as in {{'length': 4096}}, but is {_kind(given)}{_inside('params')}"
    )


def checked_samples(given: object) -> tuple[Any, ...] | None:
    """Parameters of each batch entry. Raises UsageError unless it is a list of mappings, or something like it."""
    if given is None:
        return None
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return tuple(given)
    raise UsageError(
        f"samples must be a list with the parameters of every batch entry, as in [{{'length': 9}}, {{'length': 7}}], "
        f"but is {_kind(given)}{_inside('samples')}"
    )


def _inside(name: str) -> str:
    return f"; a parameter that is called {name} goes into params: params={{'{name}': ...}}."


def not_a_mask(given: object) -> UsageError:
    """The error for something else than a mask to compile."""
    hint = " It is compiled already." if type(given).__name__ == "CompiledMask" else ""
    return UsageError(
        f"mask must be a path, the name of a library mask or a Mask of compilemask.language.builder, "
        f"but is {_kind(given)}.{hint} compile_text takes a text."
    )


def integer(what: str, given: object) -> int:
    """A whole number of 64 bits. Raises UsageError for anything else."""
    try:
        if not isinstance(given, bool):
            number = index(given)  # type: ignore[arg-type]
            if INT64_MIN <= number <= INT64_MAX:
                return number
    except TypeError:
        pass
    raise UsageError(f"{what} must be a whole number, but is {_kind(given)}.")


def _kind(given: object) -> str:
    """What something is, in a few words: `5 (int)`, `None`, `an ndarray`."""
    if given is None:
        return "None"
    name = type(given).__name__
    if isinstance(given, int) and not isinstance(given, bool):
        return f"the number {told(given)} ({name})" if abs(given) > INT64_MAX else f"{given} ({name})"
    if isinstance(given, str | bytes | bool | float):
        return f"{given!r:.60} ({name})"
    return f"a {name}"
