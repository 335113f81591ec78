"""What the machine has: a GPU counts where PyTorch can use it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from compilemask.measure import machine

VERSIONS = {
    "CPU": ("from typing import Optional\n\ncuda: Optional[str] = None\ngit_version = 'abc'\n", False),
    "CUDA": ("cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n", True),
    "old CUDA": ("__version__ = '1.9'\ncuda = '11.1'\n", True),
    "old CPU": ("__version__ = '1.9'\ncuda = None\n", False),
    "own kind": ("__version__ = '2.13'\n", True),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_a_pytorch_for_cpus_is_told_by_its_version_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = VERSIONS[name]
    (tmp_path / "version.py").write_text(text)
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(machine, "find_spec", lambda _: spec)
    assert machine.torch_has_cuda.__wrapped__() is expected


def test_there_is_no_gpu_without_a_pytorch_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "torch_has_cuda", lambda: False)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: pytest.fail("the driver was asked"))
    assert machine.gpu_name.__wrapped__() is None


def test_what_is_found_is_what_pytorch_says() -> None:
    asked = "import torch, compilemask.measure.machine as m; assert m.torch_has_cuda() == bool(torch.version.cuda)"
    subprocess.run([sys.executable, "-c", asked], check=True)


INTERPRETED = """
import os
os.environ.pop("TRITON_INTERPRET", None)
import triton
from compilemask.measure import validate as module
from compilemask.pipeline import compile as compile_mask
module.gpu_name = lambda: None
report = module.validate(compile_mask("causal", length=40))
assert [check.outcome.value for check in report.checks if check.name == "kernel"] == ["skipped"]
assert "TRITON_INTERPRET" not in os.environ
assert not report.notes
"""


def test_a_process_that_compiles_with_triton_is_left_alone() -> None:
    subprocess.run([sys.executable, "-c", INTERPRETED], check=True)
