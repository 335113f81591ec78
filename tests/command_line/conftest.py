"""A wide terminal, and a small mask file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.running import PAIR


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 120 columns, whatever runs the tests."""
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    path = tmp_path / "pair.mask"
    path.write_text(PAIR)
    return path
