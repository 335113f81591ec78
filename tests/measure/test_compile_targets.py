"""Compiling for GPUs that are not there: what is counted, and what becomes of a compiler that crashes or hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compilemask.descriptor.build import descriptor_from_dense
from compilemask.descriptor.descriptor import Descriptor
from compilemask.errors import UsageError
from compilemask.measure import compile_targets as parent
from compilemask.measure.compile_targets import TARGETS, compile_targets
from compilemask.measure.compile_targets_assembly import count_instructions
from compilemask.measure.compile_targets_request import failed_report, report_from_json, report_to_json
from compilemask.measure.progress import Stopped
from compilemask.measure.report import TargetReport


@dataclass(frozen=True)
class Causal:
    """As much of a compiled mask as compiling its kernels needs."""

    name: str = "causal"
    query_length: int = 300
    key_length: int = 300

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        return descriptor_from_dense(np.tri(300, dtype=bool)[None, None], block_m, block_n)


CAUSAL: Any = Causal()


def counts(report: TargetReport) -> dict[str, int]:
    return {entry.name: entry.count for entry in report.instructions}


@pytest.fixture(scope="module")
def everywhere() -> tuple[TargetReport, ...]:
    """Every target forward; backward where it is another program: mma.sync, Hopper's own kernel, tcgen05."""
    listings = ("ptx", "sass", "ttgir")
    forward = compile_targets(CAUSAL, ("sm_103", "sm_120"), directions=("forward",), emit=listings, head_dim=32)
    both = compile_targets(CAUSAL, ("sm_80", "sm_100"), emit=listings, head_dim=32)
    hopper = compile_targets(CAUSAL, ("sm_90",), emit=listings, head_dim=64)
    return (*forward.targets, *both.targets, *hopper.targets)


def test_every_target_compiles(everywhere: tuple[TargetReport, ...]) -> None:
    assert not [report.error for report in everywhere if report.error]
    assert {report.target for report in everywhere} == set(TARGETS)
    for report in everywhere:
        assert 16 <= report.registers <= 255
        assert report.compile_s > 0
        assert [listing.language for listing in report.listings] == ["ptx", "sass", "ttgir"]
        assert all(len(listing.text) > 1000 for listing in report.listings)
        assert (report.tensor_memory > 0) == ("tcgen05.mma" in counts(report))


def test_both_directions_compile(everywhere: tuple[TargetReport, ...]) -> None:
    kernels = {(report.target, report.kernel) for report in everywhere}
    for target in ("sm_80", "sm_100"):
        for kernel in ("attention_backward_keys", "attention_backward_queries"):
            assert (target, kernel) in kernels
    (hopper,) = (report for report in everywhere if report.kernel == "hopper_attention_backward")
    assert hopper.target == "sm_90"
    assert hopper.spills == 0
    assert counts(hopper)["wgmma"] > 0
    assert counts(hopper)["tma"] > 0


@pytest.mark.parametrize(
    ("target", "instruction"),
    [
        ("sm_80", "mma.sync"),
        ("sm_90", "wgmma"),
        ("sm_100", "tcgen05.mma"),
        ("sm_103", "tcgen05.mma"),
        ("sm_120", "mma.sync"),
    ],
)
def test_each_target_uses_its_matrix_unit(everywhere: tuple[TargetReport, ...], target: str, instruction: str) -> None:
    forward = [r for r in everywhere if r.target == target and r.kernel.endswith("attention_forward")]
    assert len(forward) == 1
    assert counts(forward[0])[instruction] > 0
    assert counts(forward[0])["ex2"] > 0


def test_a_crash_is_one_line_and_the_other_targets_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_COMMAND", (sys.executable, "-c", "import os; os.abort()"))
    report = compile_targets(CAUSAL, ("sm_90", "sm_100"))
    assert [target.target for target in report.targets] == ["sm_90", "sm_100"]
    assert not report.passed
    assert all(target.error == "the compiler was ended by signal 6" for target in report.targets)


def test_a_hanging_compiler_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_COMMAND", (sys.executable, "-c", "import time; time.sleep(600)"))
    monkeypatch.setattr(parent, "SECONDS_PER_TARGET", 0.2)
    (target,) = compile_targets(CAUSAL, ("sm_90",)).targets
    assert target.error is not None
    assert "did not finish" in target.error


def test_stopping_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        parent, "_COMMAND", (sys.executable, "-c", "import time; print('done sm_90', flush=True); time.sleep(600)")
    )
    monkeypatch.setattr(parent, "PATIENCE_SECONDS", 0.1)

    def stop(done: int, total: int, text: str) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        compile_targets(CAUSAL, ("sm_90", "sm_100"), progress=stop)


def test_a_silent_compiler_is_ended_as_soon_as_somebody_wants_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_COMMAND", (sys.executable, "-c", "import time; time.sleep(600)"))
    monkeypatch.setattr(parent, "PATIENCE_SECONDS", 300.0)
    children: list[subprocess.Popen[str]] = []
    folders: list[str] = []

    def started(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        children.append(subprocess.Popen(*arguments, **options))
        folders.append(options["env"]["TRITON_CACHE_DIR"])
        return children[-1]

    monkeypatch.setattr(parent, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": started}))
    asked = 0

    def stop(done: int, total: int, text: str) -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise Stopped

    begin = time.monotonic()
    with pytest.raises(Stopped):
        compile_targets(CAUSAL, ("sm_90", "sm_100"), progress=stop)

    assert time.monotonic() - begin < 60  # neither the child's 600 s nor the 300 s of patience
    (child,) = children
    assert child.returncode == -signal.SIGKILL
    assert not os.path.exists(folders[0])


@pytest.mark.parametrize(
    "wrong", [{"targets": ("sm_70",)}, {"emit": ("hex",)}, {"directions": ("sideways",)}, {"dtype": "int8"}]
)
def test_unknown_names_are_refused_with_the_known_ones(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="expected one of"):
        compile_targets(CAUSAL, **wrong)  # type: ignore[arg-type]


def test_instructions_are_counted_by_whole_opcodes() -> None:
    ptx = "// wgmma.mma_async\n\twgmma.mma_async.sync a;\n\tld.shared.b32 r;\n\tred.global.add.f32 [x], y;\n"
    sass = "        /*0010*/                   LDL R1, [R2] ;\n        /*0020*/              @!P0 STG.E [R2], R1 ;\n"
    found = {entry.name: entry.count for entry in count_instructions(ptx, sass)}
    assert found == {"wgmma": 1, "atom/red": 1, "st.global": 1, "ld.local": 1, "all": 2}


def test_reports_survive_the_pipe(everywhere: tuple[TargetReport, ...]) -> None:
    for report in (everywhere[0], failed_report("sm_90", "all", "line one\nline two")):
        line = report_to_json(report)
        assert "\n" not in line
        assert report_from_json(line) == report


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("sm_90", "sm_90"),
        ("SM100", "sm_100"),
        ("a100", "sm_80"),
        ("H100", "sm_90"),
        ("NVIDIA H200", "sm_90"),
        ("gb200", "sm_100"),
        ("b300", "sm_103"),
        ("RTX-5090", "sm_120"),
        ("5090", "sm_120"),
    ],
)
def test_a_target_may_be_named_by_its_gpu(name: str, target: str) -> None:
    assert parent.target_named(name) == target


@pytest.mark.parametrize("name", ["", "nvidia", "rtx", "sm_12", "v100"])
def test_an_unknown_target_is_told_the_names_of_both_kinds(name: str) -> None:
    with pytest.raises(UsageError, match=r"sm_90.*h100"):
        parent.target_named(name)
