"""A workbench on fake masks, with files in a folder of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from compilemask_app.application import Workbench
from compilemask_app.document import Document
from compilemask_app.jobs.compile_job import Compile
from compilemask_app.services import Services
from textual.widgets import Input, TextArea

from tests.app.fakes import compile_fake

TEXT = """\
title "Fake"
param length = 300

layout
    token : length

rules
    token sees token : causal
"""

MakeApp = Callable[..., Workbench]


@pytest.fixture(autouse=True)
def _still_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """No blinking, so that a picture of the screen is the same every time."""
    monkeypatch.setattr(TextArea, "cursor_blink", False, raising=False)
    monkeypatch.setattr(Input, "cursor_blink", False, raising=False)


@pytest.fixture
def services(tmp_path: Path) -> Callable[..., Services]:
    """Services whose files lie in the test's folder."""

    def make(compile_: Compile = compile_fake, worker: str | None = None) -> Services:
        settings = tmp_path / "settings.json"
        if not settings.exists():
            settings.write_text(json.dumps({"look": "colour"}), encoding="utf-8")
        return Services(compile_, worker, settings, tmp_path / "times.sqlite3", tmp_path / "unsaved")

    return make


@pytest.fixture
def make_app(services: Callable[..., Services]) -> MakeApp:
    """A workbench on a text."""

    def make(
        text: str = TEXT,
        *,
        document: Document | None = None,
        compile_: Compile = compile_fake,
        worker: str | None = None,
    ) -> Workbench:
        return Workbench(document or Document("fake", text), services(compile_, worker))

    return make
