"""Pipes, devices, closed and full streams, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compilemask.__main__ import start
from compilemask.command_line import signals
from compilemask.command_line.main import main
from tests.command_line.running import Capture, answered, refused


@pytest.mark.parametrize("words", [("fmt", "{}"), ("check", "{}"), ("show", "{}"), ("import", "{}", "-o", "{}.mask")])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused_and_not_waited_for(tmp_path: Path, words: tuple[str, ...], kind: str) -> None:
    path = Path("/dev/zero")
    if kind == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
    command = [sys.executable, "-m", "compilemask", *(word.format(path) for word in words)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "not a regular file" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="shells there have no pipes with names")
def test_settings_may_come_through_a_pipe(capsys: Capture, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"length": 5}')
    os.close(writing)
    shown = answered(capsys, "show", "causal", "--set-file", f"/dev/fd/{reading}")
    os.close(reading)
    assert (shown["visible"], shown["parameters"][0]["value"]) == (15, 5)

    reading, writing = os.pipe()
    os.write(writing, b'{"length": 5}')
    os.close(writing)
    assert main(["export", "causal", "--set-file", f"/dev/fd/{reading}", "-o", str(tmp_path / "m.py")]) == 0
    os.close(reading)
    assert 'cm.compile("causal", length=5)' in (tmp_path / "m.py").read_text()

    os.mkfifo(tmp_path / "nobody")
    for path, words in ((tmp_path / "nobody", "it is empty"), (Path("/dev/zero"), "not a regular file")):
        assert f"--set-file {path}: {words}" in refused(capsys, "show", "causal", "--set-file", path, code=2)


STREAMS = [
    ("list >/dev/full 2>/dev/full", 2, ""),
    ("list >/dev/full", 2, "compilemask: No space left on device\n"),
    ("list --json >/dev/full", 2, "compilemask: No space left on device\n"),
    ("--version >/dev/full", 2, "compilemask: No space left on device\n"),
    ("check none.mask --json >/dev/full", 2, "compilemask: No space left on device\n"),
    ("show causal --set length=9 >&-", 0, ""),
    ("show causal --set length=9 <&- >&- 2>&-", 0, ""),
    ("check causal >&-", 0, ""),
    ("fmt - <&-", 0, ""),
    ("--help >&-", 0, ""),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(("words", "code", "error"), STREAMS)
def test_streams_that_take_nothing_end_in_one_line_at_most(words: str, code: int, error: str) -> None:
    command = f"{sys.executable} -m compilemask {words}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr, done.stdout) == (code, error, "")


def test_files_get_no_number_of_a_closed_stream(tmp_path: Path) -> None:
    file = tmp_path / "causal.npy"
    command = f"{sys.executable} -m compilemask export causal --set length=3 -o {file} <&- >&- 2>&-"

    assert subprocess.run(["sh", "-c", command], timeout=60, check=False).returncode == 0
    assert np.array_equal(np.load(file), np.tri(3, dtype=bool))


def test_an_early_interrupt_is_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("compilemask.command_line.main.main", interrupted)
    assert start() == 130
    assert capsys.readouterr().err == "compilemask: interrupted\n"

    # Nothing of ours that takes time to load comes before the interrupt is looked out for.
    script = "import sys, compilemask.__main__; print(*(m for m in sys.modules if m.startswith('compilemask')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"compilemask", "compilemask.__main__"}


def test_fmt_reads_no_more_of_stdin_than_a_text_may_have(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        assert main(["fmt", "-"]) == 1

    assert "too-long" in capsys.readouterr().err


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("list", 0),
        ("--version", 0),
        ("show causal --set length=9", 0),
        ("check {wrong}", 1),
        ("check {wrong} --json", 1),
        ("show {wrong} --json", 1),
        ("fmt --check {untidy}", 1),
        ("check none.mask --json", 2),
    ],
)
def test_a_reader_that_leaves_early_changes_no_exit_code(tmp_path: Path, words: str, code: int, buffered: str) -> None:
    wrong, untidy = tmp_path / "wrong.mask", tmp_path / "untidy.mask"
    wrong.write_text("layout\n    a : 1\nrules\n    a sees b : all\n")
    untidy.write_text("layout\n    a  : 1\nrules\n    a sees a : all\n")
    command = [sys.executable, "-m", "compilemask", *words.format(wrong=wrong, untidy=untidy).split()]
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}

    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment, check=False)

    os.close(writing)
    assert done.returncode == code
    assert "Broken pipe" not in done.stderr
    assert code == 1 or done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals there are others")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_that_ends_an_export_leaves_nothing_behind(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    output = tmp_path / "m.npy"
    output.write_text("old")
    before = signal.getsignal(number)
    monkeypatch.setattr(os, "fsync", lambda _: os.kill(os.getpid(), number))  # the file is written, not yet in place

    assert main(["export", "causal", "--set", "length=9", "-o", str(output)]) == code

    assert capsys.readouterr().err == f"compilemask: ended by {number.name}\n"
    assert (output.read_text(), os.listdir(tmp_path)) == ("old", ["m.npy"])
    assert signal.getsignal(number) is before is signal.SIG_DFL


@pytest.mark.skipif(sys.platform == "win32", reason="signals there are others")
def test_a_second_signal_is_not_held_back() -> None:
    with signals.raised():
        with pytest.raises(signals.Ended):
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
