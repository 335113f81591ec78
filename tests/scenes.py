"""Named states of the workbench, shared by the snapshot tests and the screenshots."""

from __future__ import annotations

import csv
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path

from compilemask_app import document, history
from compilemask_app.application import Workbench
from compilemask_app.document import Document
from compilemask_app.history import TimeRow
from compilemask_app.messages import WorkerReplied
from compilemask_app.picture import MaskPicture
from compilemask_app.screens.compare_screen import CompareScreen
from compilemask_app.screens.design import DesignScreen
from compilemask_app.screens.figures_screen import FiguresScreen
from compilemask_app.screens.open_screen import OpenScreen
from compilemask_app.screens.proof_screen import ProofScreen
from compilemask_app.services import Services
from compilemask_app.widgets.line_note import LineNote
from compilemask_app.widgets.preview import Preview
from textual.pilot import Pilot
from textual.widgets import Input

from compilemask.worker_protocol import Done, Job, decode

RECORDINGS = Path(__file__).parent / "app" / "recordings"
TYPED = """\
title "Shared prompt, by hand"

param prompt = 512, answers = [256] * 4

layout
    prompt : prompt
    answer : answers

rules
    prompt sees prompt : causal
    answer sees prompt : all
    answer sees answer : causal within answr
"""

Prepare = Callable[[Pilot[None]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A state: the mask, the size of the terminal, and what brings the workbench there. `open` gives the document."""

    name: str
    shows: str
    open: Callable[[], Document]
    prepare: Prepare
    size: tuple[int, int] = (120, 40)
    settings: str = '{"look": "colour"}'


async def until(pilot: Pilot[None], holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for a condition; it must come about."""
    for _ in range(int(seconds / 0.02)):
        await pilot.pause(0.02)
        if holds():
            return
    raise AssertionError("it did not come about")


async def design(pilot: Pilot[None]) -> DesignScreen:
    """The design screen with an up-to-date picture."""
    app = pilot.app
    assert isinstance(app, Workbench)

    def ready() -> bool:
        screen = app.design
        return screen is not None and screen.picture is not None and screen.picture.revision == screen.revision

    await until(pilot, ready)
    await pilot.pause()  # what the picture changes in the layout has happened: a place on the screen stays what it is
    assert app.design is not None
    return app.design


def library_mask(name: str, **parameters: object) -> Callable[[], Document]:
    """A library mask, with parameters written over."""

    def make() -> Document:
        return document.document_of(name, parameters)

    return make


def written(text: str, name: str = "by_hand") -> Callable[[], Document]:
    """A text that has no file."""
    return lambda: Document(name, text)


def recorded(name: str) -> Done:
    """A reply of a worker that was recorded by `screenshots/record.py`."""
    message = decode((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(message, Done)
    return message


def replay(screen: DesignScreen, job: Job, name: str) -> None:
    """As if the worker had just finished a job."""
    reply = recorded(name)
    screen.results.board = screen.results.board.asked(job, screen.results.fingerprint).numbered(job, reply.id)
    screen.post_message(WorkerReplied(reply))


async def _still(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.pause()


async def _typing(pilot: Pilot[None]) -> None:
    screen = await _broken(pilot)
    await pilot.pause(0.3)
    screen.show_line(12, 26)
    await until(pilot, lambda: screen.query_one(LineNote).has_class("open"))
    await pilot.pause(0.1)


async def _broken(pilot: Pilot[None]) -> DesignScreen:
    app = pilot.app
    assert isinstance(app, Workbench)
    await until(pilot, lambda: app.design is not None and bool(app.design.findings))
    assert app.design is not None
    return app.design


async def _composing(pilot: Pilot[None]) -> None:
    screen = await design(pilot)
    screen.action_focus_matrix()
    await pilot.pause()
    await pilot.press("down", "right")


async def _relation(pilot: Pilot[None]) -> None:
    await _composing(pilot)
    await pilot.press("enter", "down")
    await until(pilot, lambda: isinstance(pilot.app.screen.query_one(Preview).shown, MaskPicture))
    await pilot.pause(0.5)


async def _orders(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.press("k")
    await pilot.pause(0.2)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
    await pilot.pause(0.2)


async def _wrong(pilot: Pilot[None]) -> None:
    screen = await design(pilot)
    replay(screen, Job.VALIDATE, "validate_red")
    await pilot.pause(0.2)
    await pilot.press("enter")
    await pilot.pause(0.1)


async def _proved(pilot: Pilot[None]) -> None:
    screen = await design(pilot)
    replay(screen, Job.VALIDATE, "validate_green")
    replay(screen, Job.COMPILE, "compile")
    await pilot.pause(0.2)


async def _proof(pilot: Pilot[None]) -> None:
    await _proved(pilot)
    await pilot.press("V")
    await until(pilot, lambda: isinstance(pilot.app.screen, ProofScreen))
    await pilot.press(*["down"] * 8)
    await pilot.pause(0.2)


async def _figures(pilot: Pilot[None]) -> None:
    await _proved(pilot)
    await pilot.press("f")
    await until(pilot, lambda: isinstance(pilot.app.screen, FiguresScreen))
    await pilot.pause(0.2)


async def _reading(pilot: Pilot[None]) -> None:
    await _proved(pilot)
    await pilot.press("i")
    await pilot.pause(0.4)


def times_of_csv(text: str) -> tuple[TimeRow, ...]:
    """The rows of a text that `history.as_csv` wrote."""
    columns = {item.name: str(item.type) for item in fields(TimeRow)}

    def value(kind: str, word: str) -> str | int | float | None:
        if kind == "int":
            return int(word)
        return (float(word) if word else None) if kind.startswith("float") else word

    read = csv.DictReader(StringIO(text))
    assert read.fieldnames == list(columns)
    return tuple(TimeRow(*(value(kind, record[name]) for name, kind in columns.items())) for record in read)  # type: ignore[arg-type]


async def _times(pilot: Pilot[None]) -> None:
    screen = await design(pilot)
    path = screen.app.services.history_file
    for row in times_of_csv((RECORDINGS / "times.csv").read_text(encoding="utf-8")):
        history.add(path, (row,))
    await pilot.press("h")
    await pilot.pause(0.3)


async def _close_up(pilot: Pilot[None]) -> None:
    screen = await design(pilot)
    screen.go_to_cell(600, 590)
    await pilot.press("enter")
    await pilot.pause(0.1)


async def _overlaid(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.press("o", "o")
    await pilot.pause(0.1)


async def _opening(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(pilot.app.screen, OpenScreen))
    pilot.app.screen.query_one(Input).value = "block"
    await until(pilot, lambda: isinstance(pilot.app.screen.query_one(Preview).shown, MaskPicture))
    await pilot.pause(0.3)


async def _help(pilot: Pilot[None]) -> None:
    await design(pilot)
    await pilot.press("f1")
    await pilot.pause(0.1)


LIGHT = '{"look": "colour", "theme": "compilemask-light"}'
CLEAR_32K = library_mask("clear", text=512, height=168, width=192, radius=16)
CLEAR_8K = library_mask("clear", text=128, height=84, width=96, radius=16)

SCENES: tuple[Scene, ...] = (
    Scene("design", "the first screen", library_mask("shared_prompt_rm"), _still),
    Scene("clear", "CLEAR at 32K: mask and tile map", CLEAR_32K, _still, (160, 45)),
    Scene("compose", "the region matrix", library_mask("hstu"), _composing),
    Scene("relation", "choosing a relation, with a preview", library_mask("hstu"), _relation),
    Scene("typing", "an error while typing", written(TYPED), _typing),
    Scene("orders", "two token orders compared", CLEAR_8K, _orders, (160, 45)),
    Scene("wrong", "a failing validation", library_mask("shared_prompt_rm"), _wrong),
    Scene("proved", "proved and compiled", library_mask("shared_prompt_rm"), _proved),
    Scene("proof", "the checks of a proof", library_mask("shared_prompt_rm"), _proof, (160, 45)),
    Scene("figures", "all figures, and the lines that use the mask", library_mask("shared_prompt_rm"), _figures),
    Scene("compile", "the compile reader", library_mask("shared_prompt_rm"), _reading, (160, 45)),
    Scene("times", "times over the length", library_mask("causal"), _times, (140, 42)),
    Scene("million", "a million tokens", library_mask("document_causal", documents=[1000] * 1000), _still),
    Scene("cells", "single cells", library_mask("sliding_window_sinks"), _close_up),
    Scene("work", "work per query tile", library_mask("causal", length=8192), _overlaid),
    Scene("library", "the library", library_mask("causal"), _opening),
    Scene("help", "the keys", library_mask("causal"), _help),
    Scene("small", "60x20", library_mask("hstu"), _still, (60, 20)),
    Scene("paper", "the light theme", library_mask("clear"), _still, settings=LIGHT),
    Scene("ascii", "without colour", library_mask("hstu"), _still, (100, 30), '{"look": "ascii"}'),
)


def workbench(scene: Scene, folder: Path) -> Workbench:
    """A workbench on a scene's mask, with its files in a folder of its own."""
    settings = folder / "settings.json"
    settings.write_text(scene.settings, encoding="utf-8")
    services = Services(
        settings_file=settings, history_file=folder / "times.sqlite3", autosave_folder=folder / "unsaved"
    )
    return Workbench(scene.open(), services)
