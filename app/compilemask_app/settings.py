"""Typed settings of the workbench, kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from compilemask.files import write_in_one_step

MOST_RECENT = 12
MOST_LISTED = 6


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose. `keys` maps an action's id to its keys, comma separated."""

    theme: str = "compilemask-dark"
    palette: str = ""
    look: str = "auto"
    targets: tuple[str, ...] = ("sm_80", "sm_90", "sm_100")
    heads: int = 16
    head_dim: int = 128
    dtype: str = "bfloat16"
    recent: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()

    def opened(self, path: Path) -> Settings:
        """With this file as the most recent."""
        name = str(path)
        return replace(self, recent=(name, *(old for old in self.recent if old != name))[:MOST_RECENT])


def load(path: Path) -> tuple[Settings, str | None]:
    """The settings of a file and, where it can't be used, one line saying why (the defaults then stand)."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(), None
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), f"settings not read: {path}: {error}"
    try:
        return _settings(json.loads(text)), None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return Settings(), f"settings not used: {path}: {error}"


def with_known(settings: Settings, choices: Mapping[str, Collection[str]]) -> tuple[Settings, str | None]:
    """The settings with the default for each value that is none of its choices and, if there are any, a line on them.

    `choices` maps a field to the values that it may have, those to show first.
    """
    unknown = [name for name, known in choices.items() if getattr(settings, name) not in known]
    if not unknown:
        return settings, None
    defaults = Settings()
    said = [f"{name} {getattr(settings, name)!r}: expected {_listed(choices[name])}" for name in unknown]
    known = {name: getattr(defaults, name) for name in unknown}
    return replace(settings, **known), f"settings not known, defaults used: {'; '.join(said)}"


def _listed(choices: Collection[str]) -> str:
    names = [name for name in choices if name]
    return ", ".join(names[:MOST_LISTED]) + (f" or {len(names) - MOST_LISTED} more" * (len(names) > MOST_LISTED))


def store(settings: Settings, path: Path, names: Collection[str] | None = None) -> None:
    """Write the settings, or only those of these names; what else the file holds stays, as does one that isn't JSON.

    A machine that forbids it keeps them for this session only.
    """
    new = {**asdict(settings), "keys": dict(settings.keys)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        body = json.loads(path.read_text(encoding="utf-8")) if names is not None and path.exists() else {}
        if isinstance(body, dict):
            body.update((name, value) for name, value in new.items() if names is None or name in names)
            write_in_one_step(path, json.dumps(body, indent=2) + "\n")
    except (OSError, ValueError, RecursionError):
        return


def _settings(body: Any) -> Settings:
    if not isinstance(body, dict):
        raise ValueError("expected a JSON object")
    defaults = Settings()
    known: dict[str, Any] = {}
    for item in fields(Settings):
        if item.name not in body:
            continue
        value = body[item.name]
        if item.name == "keys":
            known["keys"] = tuple((str(name), str(keys)) for name, keys in dict(value).items())
        elif isinstance(getattr(defaults, item.name), tuple):
            known[item.name] = tuple(str(entry) for entry in value)
        elif type(value) is not type(getattr(defaults, item.name)):
            raise ValueError(f"{item.name}: expected {type(getattr(defaults, item.name)).__name__}, found {value!r}")
        else:
            known[item.name] = value
    return Settings(**known)
