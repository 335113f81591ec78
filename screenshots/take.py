"""Takes every picture of `screenshots/` from the scenes that the tests use: `python screenshots/take.py [NAME...]`."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "app")]

import cairosvg  # noqa: E402

from tests.scenes import SCENES, Scene, workbench  # noqa: E402

FONT = "DejaVu Sans Mono"
ADVANCE = 20 * 0.61 / 0.602
"""The font size at which DejaVu's characters are as wide as those that the SVG was laid out for."""


async def take(scene: Scene) -> None:
    """One PNG."""
    with tempfile.TemporaryDirectory() as folder:
        app = workbench(scene, Path(folder))
        async with app.run_test(size=scene.size) as pilot:
            await scene.prepare(pilot)
            await pilot.pause(0.1)
            svg = app.export_screenshot(title=f"CompileMask - {scene.shows}", simplify=True)
    svg = re.sub(r"font-family: Fira Code[^;]*;", f"font-family: {FONT};", svg)
    svg = svg.replace("Fira Code", FONT).replace("font-size: 20px", f"font-size: {ADVANCE:.3f}px")
    cairosvg.svg2png(
        bytestring=svg.encode(), write_to=str(FOLDER / f"{scene.name}.png"), output_width=scene.size[0] * 11
    )
    print(f"{scene.name}.png: {scene.shows}")


def main(names: list[str]) -> None:
    """Take the scenes that are named, or all."""
    for scene in SCENES:
        if not names or scene.name in names:
            asyncio.run(take(scene))


if __name__ == "__main__":
    main(sys.argv[1:])
