"""Pictures of the scenes: the same scenes as in `screenshots/`, and small ones of the corners of the workbench."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from compilemask_app.application import Workbench
from compilemask_app.jobs import pictures
from textual.pilot import Pilot

from tests.scenes import SCENES, Prepare, Scene, design, library_mask, workbench, written


class SnapCompare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self, app: Workbench, *, terminal_size: tuple[int, int], run_before: object = None
    ) -> bool: ...  # pragma: no cover


async def _still(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.pause()


def _after(*keys: str) -> Prepare:
    async def prepare(pilot: Pilot[None]) -> None:
        await design(pilot)
        await pilot.press(*keys)
        await pilot.pause(0.1)

    return prepare


PALETTE = '{"look": "colour", "palette": "%s"}'
SMALL = '{"look": "%s"}'
TREE = """\
param parents = [-1, 0, 0, 1, 1, 2]
layout
    node : len(parents)
rules
    node sees node : path(parents) by at
"""
EMPTY = "layout\n    a : 6\n    b : 6\nrules\n    a sees a : causal\n"
CORNERS: tuple[Scene, ...] = (
    Scene("narrow_mask", "one map", library_mask("clear", height=16, width=16), _still, (58, 18)),
    Scene("narrow_text", "the text takes the screen", library_mask("causal", length=64), _after("e"), (58, 18)),
    Scene("tiny", "too small", library_mask("causal", length=64), _still, (30, 6)),
    Scene("unicode", "text look", library_mask("hstu"), _still, (90, 24), SMALL % "text"),
    Scene("borders", "tile borders", library_mask("hstu"), _after("plus", "o"), (90, 24)),
    Scene("runs", "runs per row", library_mask("natten_2d"), _after("o", "o", "o"), (90, 24)),
    Scene("tree", "a draft tree, cell by cell", written(TREE), _after("down", "right"), (90, 24)),
    Scene("empty_rows", "a row that sees nothing", written(EMPTY), _after("n"), (90, 24)),
    Scene("rectangle", "queries and keys of their own", library_mask("document_cross"), _still, (90, 24)),
    Scene("one_query", "a decode step", library_mask("static_cache"), _still, (90, 24)),
    Scene("cividis", "another palette", library_mask("hstu"), _still, (90, 24), PALETTE % "cividis"),
    Scene("grey", "grey", library_mask("hstu"), _still, (90, 24), PALETTE % "grey"),
    Scene("tiles_only", "the tile map alone", library_mask("hstu"), _after("m", "m"), (90, 24)),
)


@pytest.mark.parametrize("scene", [*SCENES, *CORNERS], ids=lambda scene: scene.name)
def test_scene(scene: Scene, snap_compare: SnapCompare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "milliseconds_since", lambda started: 12.0)
    assert snap_compare(workbench(scene, tmp_path), terminal_size=scene.size, run_before=scene.prepare)
