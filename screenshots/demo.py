"""Records a short session of the workbench as `screenshots/demo.cast` (asciicast v2): `python screenshots/demo.py`.

Play it with `asciinema play screenshots/demo.cast`. The pauses between keys are the script's, not those of the machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pexpect

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
COLUMNS, ROWS = 100, 30
STEPS: tuple[tuple[float, str], ...] = (
    (2.0, ""),
    (0.4, "\x1b[B"), (0.4, "\x1b[B"), (0.4, "\x1b[C"), (1.2, "+"), (0.8, "+"), (0.8, "+"),
    (1.5, "\r"), (1.5, "0"), (1.5, "o"), (1.0, "o"), (1.0, "o"), (1.0, "o"), (0.6, "o"),
    (1.0, "a"), (0.5, "\x1b[B"), (0.5, "\x1b[B"), (0.6, "\x1b[D"), (0.6, "\x1b[D"), (0.6, "\x1b[C"), (1.2, "\x1b[C"),
    (0.8, "r"), (0.4, "\x1b[B"), (0.4, "\x1b[C"), (1.0, "\r"), (0.9, "\x1b[B"), (0.9, "\x1b[B"), (0.9, "\x1b"),
    (1.0, "\x1b"), (1.0, "p"), (0.7, "p"), (0.7, "p"), (1.5, "l"), (1.2, "\x1b"),
)  # fmt: skip


def main() -> None:
    """Record the steps."""
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), home)
        environment = {
            **os.environ, **places, "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'app'}",
        }  # fmt: skip
        child = pexpect.spawn(
            sys.executable,
            ["-m", "compilemask_app", "shared_prompt_rm"],
            env=environment,
            dimensions=(ROWS, COLUMNS),
            encoding="utf-8",
        )
        events = _record(child)
        child.close(force=True)
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "CompileMask"}
    lines = [json.dumps(head), *(json.dumps(event, ensure_ascii=False) for event in events)]
    (FOLDER / "demo.cast").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"demo.cast: {len(events)} events")


def _record(child: pexpect.spawn) -> list[tuple[float, str, str]]:
    events: list[tuple[float, str, str]] = []
    now = 0.0
    shown = _output(child, 8.0)
    events.append((now, "o", shown))
    for pause, keys in STEPS:
        now = round(now + pause, 2)
        if keys:
            child.send(keys)
        if shown := _output(child, 1.2):
            events.append((now, "o", shown))
    return events


def _output(child: pexpect.spawn, seconds: float) -> str:
    """What the program writes until it is quiet for a while, at most so long."""
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(pexpect.TIMEOUT):
            text += child.read_nonblocking(1 << 16, timeout=0.4)
            continue
        if text and seconds < 5:
            break
    return text


if __name__ == "__main__":
    main()
