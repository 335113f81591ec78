"""How fast the workbench is: start to first paint, key to repaint, pan and zoom, bytes sent.

`python benchmarks/ui.py [--quick] [MASK...]`; medians. Aims: first paint under 0.8 s, key to repainted mask under 60 ms
at 32K for every library mask that compiles in less than 50 ms (`--quick`: seven of them), a frame of pan or zoom under
16 ms at 200x60. Every key is timed as if it changed every row of the maps.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median as middle

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
from compilemask_app.widgets.map_view import MapView  # noqa: E402
from compilemask_app.widgets.mask_editor import MaskEditor  # noqa: E402
from compilemask_app.widgets.mask_view import MaskView  # noqa: E402
from textual.pilot import Pilot  # noqa: E402

from compilemask import library  # noqa: E402
from compilemask.errors import MaskFileError  # noqa: E402

MOST_COMPILE_MS = 50.0
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
    """Seconds to the first paint on the clock and of the processor, to the picture, and bytes sent for two keys."""

    paint_s: float
    paint_cpu_s: float
    picture_s: float = 0.0
    cursor_bytes: int = 0
    letter_bytes: int = 0


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
        }
        workbench, bare = ["-m", "compilemask_app", "shared_prompt_rm"], ["-c", BARE]
        runs = [(_start(workbench, environment, whole=True), _start(bare, environment)) for _ in range(times + 1)]
    return [run[0] for run in runs[1:]], [run[1] for run in runs[1:]]


def _start(arguments: list[str], environment: dict[str, str], *, whole: bool = False) -> Start:
    """With nothing left behind by an earlier one, as the text that is typed here would be brought back."""
    with tempfile.TemporaryDirectory() as folder:
        places = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), folder)
        return _started(arguments, environment | places, whole=whole)


def _started(arguments: list[str], environment: dict[str, str], *, whole: bool) -> Start:
    begin = time.perf_counter()
    child = pexpect.spawn(sys.executable, arguments, env=environment, dimensions=(40, 120))
    child.expect("REGIONS", timeout=20)
    start = Start(time.perf_counter() - begin, _cpu_seconds(child.pid))
    if whole:
        child.expect("compiled in", timeout=20)
        picture_s = time.perf_counter() - begin
        _read_all(child)
        child.send("\x1b[B")
        cursor_bytes = _read_all(child)
        for keys in ("e", "\x1b[1;5H", "# a comment", "x"):  # to the beginning of the text
            child.send(keys)
            letter_bytes = _read_all(child)
        start = replace(start, picture_s=picture_s, cursor_bytes=cursor_bytes, letter_bytes=letter_bytes)
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


@dataclass(frozen=True, slots=True)
class Keys:
    """Of one mask, for each key: milliseconds to the repainted mask, of these the processor's, and to all of it."""

    mask_ms: list[float]
    mask_cpu_ms: list[float]
    whole_ms: list[float]


async def key_to_repaint(name: str, times: int) -> Keys:
    """Type into the text again and again, each time once all of the picture before is drawn."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "s").write_text('{"look": "colour"}', encoding="utf-8")
        services = Services(settings_file=here / "s", history_file=here / "h", autosave_folder=here / "a")
        app = Workbench(document_of(name, at_32k(name)), services)
        keys = Keys([], [], [])
        async with app.run_test(size=(120, 40)) as pilot:
            screen = await _drawn(pilot, whole=True)
            editor = screen.query_one(MaskEditor)
            for place in range(times + 1):
                await asyncio.sleep(0.15)
                begin, begin_cpu, revision = time.perf_counter(), time.process_time(), screen.revision
                editor.insert("x", (0, len(editor.document.get_line(0))))
                await _drawn(pilot, revision)
                mask_ms, mask_cpu_ms = (1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - begin_cpu))
                await _drawn(pilot, revision, whole=True)
                if place:  # the first key loads what later keys find loaded
                    keys.mask_ms.append(mask_ms)
                    keys.mask_cpu_ms.append(mask_cpu_ms)
                    keys.whole_ms.append(1000 * (time.perf_counter() - begin))
        return keys


async def _drawn(pilot: Pilot[None], after: int = -1, *, whole: bool = False) -> DesignScreen:
    """Until the mask of a later revision, or all of its picture, is drawn."""
    app = pilot.app
    assert isinstance(app, Workbench)
    while True:
        await asyncio.sleep(0.001)
        screen = app.design
        if screen is None or not screen.is_mounted:
            continue
        shown = screen.picture if whole else screen.query_one(MaskView).picture
        if shown is not None and shown.revision > after:
            drawn = asyncio.Event()
            screen.call_after_refresh(drawn.set)
            await drawn.wait()
            return screen


def frames(picture: Picture, times: int) -> list[float]:
    """Processor milliseconds to draw both maps of 200x60 cells at changing places and scales, from the first one on."""
    gc.collect()  # of the workbenches before, which a collection would go through within a frame
    gc.freeze()
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
    begin = time.thread_time()
    work()
    return (time.thread_time() - begin) * 1000


def masks(names: list[str], quick: bool) -> Iterator[tuple[str, Picture]]:
    """The masks to be measured, with a picture each."""
    make = Pictures()
    for name in names or (AT_32K if quick else library.names()):
        document = document_of(name, at_32k(name))
        request = CompileRequest(0, name, document.start, document.folder)
        try:
            make(request)
            mask = make(replace(request, text=request.text + "\n"))  # once what is loaded late is loaded
        except MaskFileError as error:
            print(f"{name:<24} left out: {str(error).splitlines()[0]}")
            continue
        if mask.compile_ms < MOST_COMPILE_MS or quick:
            yield name, replace(mask.whole(), compile_ms=mask.compile_ms)
        else:
            print(f"{name:<24} left out: compiles in {mask.compile_ms:.0f} ms")


def main() -> None:
    """Measure all and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="seven masks and fewer repetitions")
    arguments.add_argument("mask", nargs="*", help="only these masks of the library")
    given = arguments.parse_args()
    quick = given.quick
    times = 3 if quick else 7
    _print_starts(times)
    MapView.content_changed = MapView.invalidate  # type: ignore[method-assign]
    keys_ms: dict[str, float] = {}
    processor_ms: dict[str, float] = {}
    worst_frames: dict[str, float] = {}
    for name, picture in masks(given.mask, quick):
        keys = asyncio.run(key_to_repaint(name, times))
        drawn = frames(picture, 4 * times)
        keys_ms[name], processor_ms[name] = middle(keys.mask_ms), middle(keys.mask_cpu_ms)
        worst_frames[name] = max(drawn)
        print(
            f"{name:<24} key to mask {keys_ms[name]:6.1f} ms, processor {processor_ms[name]:5.1f}"
            f" (compile {picture.compile_ms:5.1f}), to all {middle(keys.whole_ms):6.1f}"
            f"   frame {middle(drawn):5.2f} ms, worst {max(drawn):5.2f}",
            flush=True,
        )
    _print_summary("key to repainted mask", keys_ms, 60.0)
    _print_summary("the same, processor", processor_ms, 60.0)
    _print_summary("worst frame, processor", worst_frames, 16.0)


def _print_starts(times: int) -> None:
    ours, bare = starts(times)
    paint, paint_cpu = middle(start.paint_s for start in ours), middle(start.paint_cpu_s for start in ours)
    bare_s, bare_cpu = middle(start.paint_s for start in bare), middle(start.paint_cpu_s for start in bare)
    print(f"start to first paint {paint:.2f} s, aim 0.80; processor {paint_cpu:.2f} s")
    print(f"a Textual application of three widgets beside it: {bare_s:.2f} s; processor {bare_cpu:.2f} s")
    print(f"start to the picture {middle(start.picture_s for start in ours):.2f} s")
    print(f"bytes sent for a cursor key {middle(start.cursor_bytes for start in ours):,.0f},"
          f" for a letter typed into a comment {middle(start.letter_bytes for start in ours):,.0f}")  # fmt: skip


def _print_summary(what: str, figures: dict[str, float], aim: float) -> None:
    worst = max(figures, key=lambda name: figures[name])
    above = sum(figure > aim for figure in figures.values())
    print(
        f"{what}: {len(figures)} masks, median {middle(figures.values()):.1f} ms,"
        f" worst {figures[worst]:.1f} ms ({worst}), {above} above {aim:.0f} ms"
    )


if __name__ == "__main__":
    main()
