"""Where Triton's interpreter can't run, validation says so in words."""

from __future__ import annotations

import os
import sys

import pytest

from compilemask.measure import kernel_runs


@pytest.mark.parametrize(
    ("triton", "numpy", "words"),
    [
        (
            "3.6.0",
            "2.4.6",
            "Triton 3.6.0 can't interpret with NumPy 2.4.6: install Triton 3.7 or later, or NumPy before 2.4",
        ),
        ("3.6.0", "2.3.5", ""),
        ("3.7.1", "2.4.6", ""),
        ("3.10.0+git1f2e", "2.12.0rc1", ""),
        (None, "2.4.6", ""),
    ],
)
def test_versions_that_do_not_go_together(
    triton: str | None, numpy: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_runs, "version_of", {"triton": triton, "numpy": numpy}.get)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert kernel_runs.start_interpreter() == words


def test_a_process_that_compiles_does_not_interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    monkeypatch.setitem(sys.modules, "triton", object())
    assert kernel_runs.start_interpreter() == "this process uses Triton to compile; a new one can interpret"
    assert os.environ["TRITON_INTERPRET"] == "0"
