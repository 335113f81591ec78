"""Every decision is short, and names a test, a golden file or an example that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_what_shows_a_decision_is_there(path: Path) -> None:
    shown = path.read_text(encoding="utf-8").split("Shown by ")[1]
    named = re.findall(r"`(tests/[^`:]+|docs/[^`:]+)?(?:::(\w+))?`", shown)
    files = [file for file, _ in named if file]
    assert files
    for file in files:
        assert (ROOT / file).is_file(), file
    last = ""
    for file, function in named:
        last = file or last
        assert not function or f"def {function}(" in (ROOT / last).read_text(encoding="utf-8"), function
