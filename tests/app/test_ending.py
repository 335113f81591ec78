"""What is left when a workbench is ended from outside, in a real terminal."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import TEXT
from tests.app.terminal import Terminal
from tests.app.test_whole import environment

LEAVES_ALTERNATE_SCREEN = "\x1b[?1049l"


def opened(folder: Path) -> Terminal:
    """The workbench on a file of the folder."""
    command = [sys.executable, "-m", "compilemask_app", str(folder / "mine.mask")]
    return Terminal(command, environment(folder), str(folder), 40, 120)


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether it comes about in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_keeps_the_text_and_restores_the_terminal(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.mask").write_text(TEXT, encoding="utf-8")
    number = getattr(signal, name)
    sent = io.StringIO()
    with opened(tmp_path) as terminal:
        terminal.child.logfile_read = sent
        terminal.wait("compiled in")
        terminal.send("e")
        terminal.wait("esc Map")
        terminal.send("# lost?")
        terminal.wait("# lost?")
        os.kill(terminal.child.pid, number)
        assert terminal.ended() == 128 + number
    assert LEAVES_ALTERNATE_SCREEN in sent.getvalue()
    assert (f"ended by {name}" in re.sub(r"\x1b[^a-zA-Z]*[a-zA-Z]", "", sent.getvalue())) is (name != "SIGHUP")
    assert "Traceback" not in sent.getvalue()
    with opened(tmp_path) as terminal:
        terminal.wait("The text that was not saved last time is back")
        terminal.wait("# lost?")


def test_a_terminal_that_is_gone_ends_the_program_and_keeps_the_text(tmp_path: Path) -> None:
    (tmp_path / "mine.mask").write_text(TEXT, encoding="utf-8")
    with opened(tmp_path) as terminal:
        terminal.wait("compiled in")
        terminal.send("e")
        terminal.wait("esc Map")
        terminal.send("# lost?")
        terminal.wait("# lost?")
        child = terminal.child
        child.ptyproc.fileobj.close()  # the system sends SIGHUP, and takes nothing that is written
        child.closed = child.ptyproc.closed = True
        assert within(20, lambda: not child.ptyproc.isalive())
        child.terminated = True
    with opened(tmp_path) as terminal:
        terminal.wait("The text that was not saved last time is back")
