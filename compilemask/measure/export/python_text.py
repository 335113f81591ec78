"""Values as Python source: whatever a title or a file name holds, it stays a value."""

from __future__ import annotations

import keyword
from typing import Any


def literal(value: Any) -> str:
    """The Python literal of a text, number, truth value, None, or a list of those (a repeated entry as `[x] * n`).

    Arrays and numbers of numpy become plain ones. Raises TypeError for anything else.
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        items = list(value)
        if len(items) > 3 and all(item == items[0] for item in items):
            return f"[{literal(items[0])}] * {len(items)}"
        return f"[{', '.join(map(literal, items))}]"
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    raise TypeError(f"no Python literal for {type(value).__name__}")


def _text(value: str) -> str:
    """In double quotes where nothing in the text needs care."""
    written = repr(value)
    return f'"{written[1:-1]}"' if not set(value) & set("'\"") else written


def is_keyword_argument(name: str, taken: frozenset[str]) -> bool:
    """Whether `f(name=...)` says what it seems to: a name that Python allows, and none of the function's own."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in taken
