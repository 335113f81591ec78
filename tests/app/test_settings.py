"""The settings file: typed, forgiving, kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compilemask_app import setting_checks, settings
from compilemask_app.actions import ACTIONS, KEY_PLACES
from compilemask_app.settings import Settings

from compilemask.kernel.checks import LARGEST_HEAD_DIM
from compilemask.measure import compile_targets

CHOICES = {"theme": ("compilemask-dark", "nord"), "palette": ("", "dusk"), "look": ("auto", "text")}


def loaded(folder: Path, **body: Any) -> tuple[Settings, tuple[str, ...]]:
    """What a file of these settings comes to."""
    path = folder / "settings.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return settings.load(path, CHOICES)


def test_settings_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    chosen = Settings(theme="nord", targets=("sm_90",), recent=("/a.mask",), keys=(("cells", "y"),))
    settings.store(chosen, path)
    assert settings.load(path, CHOICES) == (chosen, ())


def test_the_defaults_are_settings_that_can_be_used(tmp_path: Path) -> None:
    settings.store(Settings(), tmp_path / "settings.json")
    assert settings.load(tmp_path / "settings.json", CHOICES) == (Settings(), ())


def test_the_defaults_stand_where_there_is_no_file(tmp_path: Path) -> None:
    assert settings.load(tmp_path / "none.json", CHOICES) == (Settings(), ())


@pytest.mark.parametrize("text", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text)
    found, (complaint,) = settings.load(path, CHOICES)
    assert found == Settings()
    assert complaint.startswith("not used: ")
    assert "\n" not in complaint


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("theme", "nrod", "expected compilemask-dark or nord"),
        ("theme", 3, "expected compilemask-dark or nord"),
        ("palette", ["dusk"], "expected dusk"),
        ("look", None, "expected auto or text"),
        ("targets", [], "expected a list of sm_80, sm_90, sm_100, sm_103 or sm_120"),
        ("targets", "sm_90", "expected a list of"),
        ("targets", ["sm_90", "h100"], "expected a list of"),
        ("targets", [90], "expected a list of"),
        ("heads", 0, "expected a number from 1 to 1,024"),
        ("heads", True, "expected a number"),
        ("heads", "16", "expected a number"),
        ("heads", 1e99, "expected a number"),
        ("head_dim", 257, "expected a number from 1 to 256"),
        ("dtype", "fp8", "expected bfloat16, float16 or float32"),
        ("recent", {"a": 1}, "expected a list of paths"),
        ("keys", ["v"], "expected names of actions with their keys"),
        ("keys", {"validat": "v"}, "'validat': no action has this name"),
        ("keys", {"validate": 5}, "'validate': expected keys"),
        ("keys", {"validate": ""}, "'validate': expected keys"),
        ("keys", {"validate": "v,ctlr+v"}, "'validate': no key is called 'ctlr+v'"),
        ("keys", {"validate": "c"}, "'validate': c is the key of 'compile'"),
        ("keys", {"validate": "?"}, "'validate': question_mark is the key of 'help'"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_and_spoils_no_other(
    tmp_path: Path, name: str, value: Any, words: str
) -> None:
    others = {"heads": 3, "theme": "nord"}
    found, (complaint,) = loaded(tmp_path, **{**others, name: value})
    assert complaint.startswith(f"{name}: ")
    assert words in complaint
    assert "\n" not in complaint
    assert len(complaint) < 200
    for other in others:
        expected = getattr(Settings(), other) if other == name else others[other]
        assert getattr(found, other) == expected
    assert getattr(found, name) == getattr(Settings(), name)


def test_one_wrong_key_leaves_the_others(tmp_path: Path) -> None:
    found, complaints = loaded(tmp_path, keys={"cells": "y", "nothing": "z", "validate": "c", "compile": "f6"})
    assert found.keys == (("cells", "y"), ("validate", "c"), ("compile", "f6"))
    assert len(complaints) == 1


def test_what_may_be_set_is_what_the_jobs_take() -> None:
    assert setting_checks.TARGETS == compile_targets.TARGETS
    assert setting_checks.DTYPES == compile_targets.DTYPES
    assert setting_checks.LARGEST_HEAD_DIM == LARGEST_HEAD_DIM


def test_the_keys_that_are_there_do_not_clash_among_themselves() -> None:
    assert KEY_PLACES
    assert setting_checks.keys({action.id: action.keys for action in ACTIONS}) == (
        tuple((action.id, action.keys) for action in ACTIONS),
        [],
    )


def test_recent_files_are_few_and_the_newest_first() -> None:
    found = Settings()
    for number in [*range(20), 15]:
        found = found.opened(Path(f"/m/{number}.mask"))
    assert found.recent[:2] == ("/m/15.mask", "/m/19.mask")
    assert len(found.recent) == len(set(found.recent)) == settings.MOST_RECENT
