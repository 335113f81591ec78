"""The workbench as a whole: what it loads, what a newcomer does in a terminal, and what random input does to it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from compilemask_app.actions import ACTIONS, Scope, bindings
from compilemask_app.application import Workbench
from compilemask_app.document import Document
from compilemask_app.services import Services
from compilemask_app.settings import Settings
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot

from tests.app.conftest import TEXT, MakeApp
from tests.app.terminal import Terminal
from tests.app.test_jobs import worker
from tests.scenes import design

ROOT = Path(__file__).parents[2]

LOADED = """
import asyncio, sys
import compilemask_app.main, compilemask.command_line.main, compilemask.command_line.workbench
from compilemask_app.application import Workbench
from compilemask_app.document import document_of
from compilemask_app.services import Services
from pathlib import Path
here = Path(sys.argv[1])
app = Workbench(document_of("shared_prompt_rm"), Services(None, None, here / "s", here / "t", here / "u"))
late = ("torch", "triton", "numpy", "scipy", "lark", "sqlite3", "compilemask.worker_protocol")
before = [name for name in late if name in sys.modules]
language = "compilemask.language.program" in sys.modules
print(before, language)
"""


def environment(folder: Path) -> dict[str, str]:
    """A user with nothing configured, in a colour terminal whose size only the terminal says."""
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME")
    path = f"{ROOT}{os.pathsep}{ROOT / 'app'}"
    return {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
        **dict.fromkeys(names, str(folder)),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": path,
    }


def test_neither_torch_nor_numpy_nor_the_language_is_loaded_before_the_first_paint(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path)],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert found.stdout.strip() == "[] False"


class TestActionTable:
    """One table, used everywhere."""

    def test_names_are_unique(self) -> None:
        names = [action.id for action in ACTIONS]
        assert len(names) == len(set(names))

    @pytest.mark.parametrize("scope", Scope, ids=lambda scope: scope.name)
    def test_no_key_means_two_things_in_one_place(self, scope: Scope) -> None:
        keys = [key for action in ACTIONS if action.scope is scope for key in action.keys.split(",")]
        assert len(keys) == len(set(keys))
        assert len(bindings(scope)) == len([action for action in ACTIONS if action.scope is scope])

    def test_single_letters_of_the_map_and_of_the_screen_do_not_collide(self) -> None:
        taken: dict[str, str] = {}
        for action in ACTIONS:
            if action.scope in (Scope.DESIGN, Scope.MAP):
                for key in action.keys.split(","):
                    assert key not in taken, (key, action.id, taken[key])
                    taken[key] = action.id

    def test_every_action_says_what_it_does(self) -> None:
        assert all(action.title and action.help and action.keys and action.call for action in ACTIONS)


def test_the_newcomers_path_in_a_real_terminal(tmp_path: Path) -> None:
    """Look, ask why, type, see an error, mend it, pick a relation, save under a name of one's own, leave.

    Keys that the text itself takes and keys that are bindings may overtake each other, so each kind is waited for.
    """
    mask = tmp_path / "first.mask"
    mask.write_text(TEXT.replace("300", "96"), encoding="utf-8")
    command = [sys.executable, "-m", "compilemask_app", str(mask)]
    with Terminal(command, environment(tmp_path), str(tmp_path), 40, 120) as terminal:
        terminal.wait("compiled in")
        terminal.send("\x1b[B")
        terminal.wait("token+8")
        terminal.send("\r")
        terminal.wait("single cells")
        terminal.send("e")
        terminal.wait("esc Map")
        terminal.send("tokn ")
        terminal.wait("the text has errors")
        terminal.wait("1:1 error")
        terminal.send("\x7f\x7f\x7f\x7f\x7f")
        terminal.wait("the text has errors", gone=True)
        terminal.send("\x1b")
        terminal.wait("v Validate")
        terminal.send("r")
        terminal.wait("Relation")
        terminal.send("\r")
        terminal.wait("every key")
        terminal.send("\x1b[B\r")
        terminal.wait("token sees token : before")
        terminal.send("\x1bOQ")
        terminal.wait("/first.mask")
        terminal.send("mine.mask")  # what stands there is selected, so typing replaces it
        terminal.wait("mine.mask")
        terminal.send("\r")
        terminal.wait("saved")
        terminal.send("\x11")
        assert terminal.ended() == 0
    assert "token sees token : before" in (tmp_path / "mine.mask").read_text(encoding="utf-8")


LETTERS = "o n N p P m r a e v V c x b d T g l k i h s q z 0 1 5 : , ( ) [ ]"
OTHERS = (
    "up down left right home end pageup pagedown shift+left shift+right enter escape tab shift+tab plus minus slash "
    "question_mark space backspace delete f1 f2 f3 f4 f8 ctrl+z ctrl+y ctrl+space"
)
KEYS = [*LETTERS.split(), *OTHERS.split()]


COLOUR = re.compile(r"(?<![0-9])(3[0-9]|4[0-9]|9[0-7]|10[0-7])(?![0-9])")
"""A parameter of `ESC [ ... m` that sets a colour."""


def test_no_colour_is_sent_where_none_is_wanted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "compilemask_app", "shared_prompt_rm"]
    sent = io.StringIO()
    with Terminal(command, environment(tmp_path) | {"NO_COLOR": "1"}, str(tmp_path), 40, 120) as terminal:
        terminal.child.logfile_read = sent
        terminal.wait("compiled in")
        terminal.send("\r")
        terminal.wait("single cells")
        terminal.wait("█")
        terminal.send("e")
        terminal.wait("esc Map")
        terminal.send("wrong ")
        terminal.wait("the text has errors")
        terminal.send("\x0f")
        terminal.wait("dflash_sliding")
    styles = re.findall(r"\x1b\[([0-9;:]*)m", sent.getvalue())
    assert styles
    assert not [style for style in styles if COLOUR.search(style)]
    assert {"1", "7"} <= {code for style in styles for code in style.split(";")}


MONKEY_STEPS = int(os.environ.get("MONKEY_STEPS", "600"))
"""Random inputs of each seed; a larger number by hand makes a longer run."""


@pytest.mark.parametrize("seed", range(int(os.environ.get("MONKEY_SEEDS", "4"))))
async def test_no_input_breaks_it(
    make_app: MakeApp, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random keys, clicks, wheels and sizes; what it saves under a random name stays in the test's folder.

    `MONKEY_STEPS=10000 MONKEY_SEEDS=20 pytest -n 0 tests/app/test_whole.py -k breaks` is the long run by hand.
    """
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    app = make_app(worker=worker("good"))
    monkeypatch.setattr(app, "exit", lambda: None)  # a palette's Quit would end the test
    async with app.run_test(size=(100, 30)) as pilot:
        await design(pilot)
        for step in range(MONKEY_STEPS):
            _random_input(pilot, chance)
            if chance.random() < 0.01:
                size = Size(chance.randint(1, 220), chance.randint(1, 70))
                app.post_message(events.Resize(size, size))
            if step % 25 == 0:
                await asyncio.sleep(0.02)
        for _ in range(10):
            answered = asyncio.Event()
            app.screen.call_later(app.call_later, answered.set)
            await asyncio.wait_for(answered.wait(), 60)
            await asyncio.sleep(0.05)
        assert app.is_running


def _random_input(pilot: Pilot[None], chance: random.Random) -> None:
    app = pilot.app
    kind = chance.random()
    if kind < 0.75:
        key = chance.choice(KEYS)
        character = key if len(key) == 1 else " " if key == "space" else None
        app.post_message(events.Key(key, character))
        return
    x, y = chance.randrange(max(1, app.size.width)), chance.randrange(max(1, app.size.height))
    make: Callable[..., events.MouseEvent] = chance.choice(
        [events.MouseDown, events.MouseUp, events.MouseMove, events.MouseScrollUp, events.MouseScrollDown]
    )
    button = 1 if make in (events.MouseDown, events.MouseUp) else 0
    app.post_message(make(None, x, y, 0, 0, button, False, False, chance.random() < 0.2, x, y))


def test_settings_that_cannot_be_read_do_not_stop_it(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{ this is no JSON", encoding="utf-8")
    app = Workbench(Document("m", TEXT), Services(settings_file=settings))
    assert app.settings.theme


@pytest.mark.parametrize("name", ["look", "palette", "theme"])
async def test_a_setting_that_is_not_known_is_told_once_and_stays_in_the_file(
    make_app: MakeApp, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({name: "[/zz]", "mine": 1}), encoding="utf-8")
    before = path.read_bytes()
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        await pilot.pause(0.2)
        assert path.read_bytes() == before
        (told,) = [one.message for one in screen.app._notifications]
        assert f'{name}: "[/zz]": expected ' in told
        assert getattr(screen.app.settings, name) == getattr(Settings(), name)
        screen.app.change_settings(heads=3)
        assert json.loads(path.read_bytes()) == {name: "[/zz]", "mine": 1, "heads": 3}
        other = {"look": "ascii", "palette": "cividis", "theme": "compilemask-light"}[name]
        screen.app.choose(**{name: other})
        assert json.loads(path.read_bytes())[name] == other


async def test_a_settings_file_that_is_no_json_is_told_and_stays(make_app: MakeApp, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{ this is no JSON", encoding="utf-8")
    async with make_app().run_test(size=(100, 30)) as pilot:
        screen = await design(pilot)
        (told,) = [one.message for one in screen.app._notifications]
        assert told.splitlines()[0] == str(path)
        assert told.splitlines()[1].startswith("not used: Expecting property name")
        screen.app.change_settings(heads=3)
    assert path.read_text(encoding="utf-8") == "{ this is no JSON"
