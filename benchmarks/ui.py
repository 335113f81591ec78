"""How fast the workbench is: start to first paint, key to repaint, pan and zoom, bytes sent.

`python benchmarks/ui.py [--quick]`; medians. Aims: first paint under 0.8 s, key to repaint under 60 ms at 32K,
a frame of pan or zoom under 16 ms at 200x60.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

import pexpect  # noqa: E402
from compilemask_app.application import Workbench  # noqa: E402
from compilemask_app.document import document_of  # noqa: E402
from compilemask_app.drawing.sampling import mask_inks, tile_inks  # noqa: E402
from compilemask_app.drawing.strips import half_block_rows  # noqa: E402
from compilemask_app.drawing.viewport import Extent, Viewport  # noqa: E402
from compilemask_app.jobs.compile_job import CompileRequest  # noqa: E402
from compilemask_app.jobs.pictures import Pictures  # noqa: E402
from compilemask_app.picture import Picture  # noqa: E402
from compilemask_app.screens.design import DesignScreen  # noqa: E402
from compilemask_app.services import Services  # noqa: E402
from compilemask_app.widgets.mask_editor import MaskEditor  # noqa: E402
from textual.pilot import Pilot  # noqa: E402

from compilemask import library  # noqa: E402

AT_32K = ("causal", "hstu", "shared_prompt_rm", "clear", "document_causal", "prefix_lm", "sliding_window_sinks")


BARE = """
from textual.app import App
from textual.widgets import Footer, Static, TextArea


class Bare(App):
    def compose(self):
        yield from (Static("REGIONS"), TextArea("text"), Footer())


Bare().run()
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds to the first paint on the clock and of the processor, to the picture, and bytes of a cursor key."""

    paint_s: float
    paint_cpu_s: float
    picture_s: float = 0.0
    key_bytes: int = 0


def starts(times: int) -> tuple[list[Start], list[Start]]:
    """(the real program, a Textual application of three widgets) in a terminal, in turns.

    Byte code lies ready, as in an installed package.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'app'}",
            "PYTHONPYCACHEPREFIX": folder,
            **dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), folder),
        }
        workbench, bare = ["-m", "compilemask_app", "shared_prompt_rm"], ["-c", BARE]
        runs = [(_start(workbench, environment, whole=True), _start(bare, environment)) for _ in range(times + 1)]
    return [run[0] for run in runs[1:]], [run[1] for run in runs[1:]]


def _start(arguments: list[str], environment: dict[str, str], *, whole: bool = False) -> Start:
    begin = time.perf_counter()
    child = pexpect.spawn(sys.executable, arguments, env=environment, dimensions=(40, 120))
    child.expect("REGIONS", timeout=20)
    start = Start(time.perf_counter() - begin, _cpu_seconds(child.pid))
    if whole:
        child.expect("compiled in", timeout=20)
        picture_s = time.perf_counter() - begin
        _read_all(child)
        child.send("\x1b[B")
        start = replace(start, picture_s=picture_s, key_bytes=_read_all(child))
    child.send("\x11")
    child.close(force=True)
    return start


def _cpu_seconds(process: int) -> float:
    """Processor time of a process so far; 0 where the system does not tell."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read_all(child: pexpect.spawn, quiet_s: float = 0.5) -> int:
    """Bytes until nothing comes for a while."""
    size = 0
    with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
        while True:
            size += len(child.read_nonblocking(65536, timeout=quiet_s))
    return size


def at_32k(name: str) -> dict[str, object]:
    """The parameters that make a library mask about 32,768 tokens long."""
    from compilemask.command_line.settings import value_of

    return {key: value_of(key, value) for key, value in library.header(name).at_32k}


async def key_to_repaint(name: str, times: int) -> tuple[list[float], list[float], float]:
    """Milliseconds from an edit to the new picture, on the clock and of the processor, and of the compilation alone."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        services = Services(settings_file=here / "s", history_file=here / "h", autosave_folder=here / "a")
        app = Workbench(document_of(name, at_32k(name)), services)
        async with app.run_test(size=(120, 40)) as pilot:
            screen = await _shown(pilot)
            editor = screen.query_one(MaskEditor)
            found, worked = [], []
            for _ in range(times):
                begin, begin_cpu = time.perf_counter(), time.process_time()
                editor.insert("x", (0, len(editor.document.get_line(0))))
                screen = await _shown(pilot, screen.revision)
                found.append((time.perf_counter() - begin) * 1000)
                worked.append((time.process_time() - begin_cpu) * 1000)
            assert screen.picture is not None
            return found, worked, screen.picture.compile_ms


async def _shown(pilot: Pilot[None], after: int = -1) -> DesignScreen:
    """Until a picture of a later revision is drawn."""
    app = pilot.app
    assert isinstance(app, Workbench)
    while True:
        await asyncio.sleep(0.001)
        screen = app.design
        if screen is not None and screen.picture is not None and screen.picture.revision > after:
            drawn = asyncio.Event()
            screen.call_after_refresh(drawn.set)
            await drawn.wait()
            return screen


def frames(picture: Picture, times: int) -> list[float]:
    """Milliseconds to draw both maps of 200x60 cells at changing places and scales."""
    extent = Extent(200, 60)
    view = Viewport(picture.query_length, picture.key_length).fitted(extent)
    views = [view]
    for number in range(times):
        view = view.panned(extent, 3, 5) if number % 3 else view.zoomed(extent, closer=number % 2 == 0)
        views.append(view)

    def draw(view: Viewport) -> None:
        edges = view.query_edges(extent.rows), view.key_edges(extent.columns)
        half_block_rows(mask_inks(picture.mask_pixels, *edges), "dusk")
        half_block_rows(tile_inks(picture.tile_pixels, *edges), "dusk")

    return [_timed(lambda view=view: draw(view)) for view in views]  # type: ignore[misc]


def _timed(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    """Measure all and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="fewer repetitions")
    times = 3 if arguments.parse_args().quick else 9
    ours, bare = starts(times)
    middle = statistics.median
    paint, paint_cpu = middle(start.paint_s for start in ours), middle(start.paint_cpu_s for start in ours)
    bare_s, bare_cpu = middle(start.paint_s for start in bare), middle(start.paint_cpu_s for start in bare)
    print(f"start to first paint {paint:.2f} s, aim 0.80; processor {paint_cpu:.2f} s")
    print(f"a Textual application of three widgets beside it: {bare_s:.2f} s; processor {bare_cpu:.2f} s")
    print(f"start to the picture {middle(start.picture_s for start in ours):.2f} s")
    print(f"bytes sent for a cursor key {middle(start.key_bytes for start in ours):,.0f}")
    make = Pictures()
    for name in AT_32K:
        repaint, worked, compile_ms = asyncio.run(key_to_repaint(name, times))
        document = document_of(name, at_32k(name))
        picture = make(CompileRequest(0, name, document.start, document.folder))
        assert isinstance(picture, Picture)
        drawn = frames(picture, 4 * times)
        print(
            f"{name:<24} key to repaint {middle(repaint):6.1f} ms, processor {middle(worked):5.1f}"
            f" (compile {compile_ms:5.1f})   aim 60"
            f"   frame {middle(drawn):6.2f} ms, worst {max(drawn):6.2f}   aim 16"
        )


if __name__ == "__main__":
    main()
