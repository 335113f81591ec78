"""The recorded session plays: each of its scenes comes to stand on the screen, in this order."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.terminal import Cells

CAST = Path(__file__).parents[2] / "screenshots" / "demo.cast"
SCENES = (
    "tokens a pixel",
    "single cells",
    "tile borders",
    "runs per row   ",
    "token order: as written",
    "[992] * 6",
    "type to find or write one",
    "causal within answer",
    "f6 Compile",
)


def test_the_demonstration_shows_its_scenes() -> None:
    head, *events = [json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines()]
    assert (head["version"], head["title"]) == (2, "CompileMask")
    screen, waiting, before = Cells(head["height"], head["width"]), list(SCENES), 0.0
    for moment, kind, written in events:
        assert kind == "o"
        assert moment >= before
        before = moment
        screen.feed(written)
        while waiting and waiting[0] in screen.text:
            waiting.pop(0)
    assert not waiting
    assert "Traceback" not in screen.text
    assert before < 60, "short enough to be watched"
