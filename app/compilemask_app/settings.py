"""Typed settings of the workbench, kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from compilemask.files import write_in_one_step

MOST_RECENT = 12


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
    except (ValueError, TypeError, AttributeError) as error:
        return Settings(), f"settings not used: {path}: {error}"


def store(settings: Settings, path: Path) -> None:
    """Write the settings; a machine that forbids it keeps them for this session only."""
    body = asdict(settings)
    body["keys"] = dict(settings.keys)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_in_one_step(path, json.dumps(body, indent=2) + "\n")
    except OSError:
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
