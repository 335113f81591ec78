"""Running the command line in a test: what it prints, answers and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compilemask.command_line.main import main
from compilemask.measure.machine import gpu_name

needs_no_gpu = pytest.mark.skipif(gpu_name() is not None, reason="this machine has a GPU")


Capture = pytest.CaptureFixture[str]


PAIR = """\
title "A prompt and its answers"

param prompt = 5, answers = [3, 4]

layout
    prompt : prompt
    answer : answers

rules
    prompt sees prompt : causal
    answer sees prompt : all
    answer sees answer : causal within answer
"""


def printed(capture: Capture, *words: str | Path, code: int = 0) -> str:
    """What the command prints on stdout; its exit code must be `code`."""
    found = main([str(word) for word in words])
    out, err = capture.readouterr()
    assert found == code, err
    assert "Traceback" not in err
    return out


def answered(capture: Capture, *words: str | Path, code: int = 0) -> Any:
    """The JSON that the command prints."""
    return json.loads(printed(capture, *words, "--json", code=code))


def refused(capture: Capture, *words: str | Path, code: int) -> str:
    """What the command says on stderr when it exits with `code`; stdout stays empty."""
    try:
        found = main([str(word) for word in words])
    except SystemExit as left:
        found = int(left.code or 0)
    out, err = capture.readouterr()
    assert found == code, err
    assert out == ""
    assert "Traceback" not in err
    return err
