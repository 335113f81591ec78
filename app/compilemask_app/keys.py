"""Names of keys for people."""

from __future__ import annotations

_KEY_NAMES = {
    "question_mark": "?",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "slash": "/",
    "asterisk": "*",
    "escape": "esc",
}


def readable_keys(keys: str) -> str:
    """`v,f5` as people write it."""
    return " ".join(_KEY_NAMES.get(key, key) for key in keys.split(",") if key != "ctrl+@")
