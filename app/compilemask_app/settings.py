"""Typed settings of the workbench, kept as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from compilemask.files import write_in_one_step
from compilemask_app import setting_checks as checks

MOST_RECENT = 12
LONGEST_SHOWN = 40


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


def load(path: Path, choices: Mapping[str, Collection[str]]) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a file and a line on everything in it that can't be used, for which the defaults stand.

    `choices` has the names that theme, palette and look may have, those to show first.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, ValueError, RecursionError) as error:  # unreadable, no UTF-8, no JSON
        return Settings(), (f"not used: {error}",)
    if not isinstance(body, dict):
        return Settings(), ("not used: expected a JSON object",)
    found: dict[str, Any] = {}
    complaints: list[str] = []
    for item in fields(Settings):
        if item.name in body:
            value = body[item.name]
            try:
                found[item.name] = _checked(item.name, value, choices, complaints)
            except checks.Unusable as error:
                complaints.append(f"{item.name}: {_short(value)}: {error}")
    return Settings(**found), tuple(complaints)


def _checked(name: str, value: Any, choices: Mapping[str, Collection[str]], complaints: list[str]) -> Any:
    """The value as the settings have it. Raises Unusable; adds what is wrong with a part of it to the complaints."""
    if name in choices:
        return checks.name(value, choices[name])
    if name == "keys":
        usable, wrong = checks.keys(value)
        complaints += wrong
        return usable
    check: dict[str, Callable[[Any], Any]] = {
        "targets": checks.targets,
        "heads": partial(checks.number, largest=checks.MOST_HEADS),
        "head_dim": partial(checks.number, largest=checks.LARGEST_HEAD_DIM),
        "dtype": partial(checks.name, choices=checks.DTYPES),
        "recent": checks.paths,
    }
    return check[name](value)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


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
