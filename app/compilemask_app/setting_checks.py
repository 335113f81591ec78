"""What a settings file may say. A value that can't be used leaves the others as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from compilemask_app.actions import ACTIONS, KEY_PLACES, Action

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_103", "sm_120")
DTYPES = ("bfloat16", "float16", "float32")
LARGEST_HEAD_DIM = 256
MOST_HEADS = 1024
MOST_LISTED = 6
MODIFIERS = ("ctrl", "shift", "alt", "super", "meta", "hyper")


class Unusable(ValueError):
    """A value that can't be used; the text says what was expected."""


def name(value: Any, choices: Collection[str]) -> str:
    """One of a few names, those to show first."""
    if not isinstance(value, str) or value not in choices:
        raise Unusable(f"expected {listed(choices)}")
    return value


def number(value: Any, largest: int) -> int:
    """A count from 1."""
    if type(value) is not int or not 1 <= value <= largest:
        raise Unusable(f"expected a number from 1 to {largest:,}")
    return value


def targets(value: Any) -> tuple[str, ...]:
    """Targets to compile for."""
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one in TARGETS for one in value):
        raise Unusable(f'expected a list of {listed(TARGETS)}, as in ["sm_90"]')
    return tuple(dict.fromkeys(value))


def paths(value: Any) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Unusable("expected a list of paths")
    return tuple(value)


def keys(value: Any) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The keys that can be used, each with the name of its action, and what is wrong with the others."""
    if not isinstance(value, dict):
        raise Unusable('expected names of actions with their keys, as in {"validate": "v,f5"}')
    named = {action.id: action for action in ACTIONS}
    usable: dict[str, str] = {}
    complaints = []
    for action, given in value.items():
        wrong = f"no action has this name; {_HELP}" if action not in named else _wrong_keys(given)
        if wrong is None:
            usable[action] = given
        else:
            complaints.append(f"keys: {action!r}: {wrong}")
    for action, other, key in _clashes(usable):
        if usable.pop(action.id, None) is not None:
            complaints.append(f"keys: {action.id!r}: {key} is the key of {other.id!r}")
    return tuple(usable.items()), complaints


_HELP = "the help lists them last"


def _wrong_keys(given: Any) -> str | None:
    if not isinstance(given, str) or not given.strip(", "):
        return 'expected keys, as in "v,f5"'
    unknown = [key for key in given.split(",") if not _is_key(key.strip())]
    return f"no key is called {unknown[0].strip()!r}" if unknown else None


def _is_key(key: str) -> bool:
    from textual.keys import Keys

    rest = key
    while (modifier := rest.partition("+")[0]) in MODIFIERS and rest != modifier:
        rest = rest.partition("+")[2]
    known = {one.value for one in Keys} | {one for action in ACTIONS for one in action.keys.split(",")}
    return len(rest) == 1 or rest in known or key in known or _is_character(rest)


def _is_character(word: str) -> bool:
    """Whether it is a character by the name that the framework gives it, as `question_mark`."""
    import unicodedata

    try:
        return len(unicodedata.lookup(word.replace("_", " ").upper())) == 1
    except KeyError:
        return False


def _clashes(usable: Mapping[str, str]) -> list[tuple[Action, Action, str]]:
    """(an action with new keys, another one that is there too, the key of both)."""
    found = []
    for action in ACTIONS:
        if action.id not in usable:
            continue
        for other in ACTIONS:
            if other is not action and any({action.scope, other.scope} <= set(place) for place in KEY_PLACES):
                both = _keys_of(action, usable) & _keys_of(other, usable)
                found += [(action, other, key) for key in sorted(both)[:1]]
    return found


def _keys_of(action: Action, usable: Mapping[str, str]) -> set[str]:
    from textual.keys import _character_to_key

    given = [key.strip() for key in usable.get(action.id, action.keys).split(",")]
    return {_character_to_key(key) if len(key) == 1 else key for key in given}


def listed(choices: Collection[str]) -> str:
    """`a, b or c`, or the first few of many."""
    names = [choice for choice in choices if choice]
    if len(names) > MOST_LISTED:
        return f"{', '.join(names[:MOST_LISTED])} or {len(names) - MOST_LISTED} more"
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
