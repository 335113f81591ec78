"""`compilemask compile` and `time`: tables, objects, texts, and what fails."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from compilemask.command_line.main import main
from compilemask.measure import compile_targets
from compilemask.measure.report import (
    Check,
    CompileReport,
    InstructionCount,
    Listing,
    Outcome,
    TargetReport,
    ValidationReport,
)
from tests.command_line.running import Capture, answered, needs_no_gpu, printed, refused


def test_compile_refuses_a_width_that_the_kernels_do_not_take(capsys: Capture) -> None:
    words = ("compile", "causal", "--target", "sm_90", "--head-dim", "300")
    assert "head_dim 300: the kernels take 1 to 256" in refused(capsys, *words, code=2)


REPORT = CompileReport(
    "causal",
    (
        TargetReport(
            "sm_100",
            "attention_forward",
            200,
            0,
            99_328,
            256,
            (InstructionCount("tcgen05.mma", 64), InstructionCount("ex2", 260)),
            1.5,
            listings=(Listing("ptx", ".version 8.7"),),
        ),
        TargetReport("sm_90", "attention_forward", 0, 0, 0, 0, (), 0.0, error="the compiler gave up"),
    ),
)


def test_compile_prints_a_table_an_object_or_a_text(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    good = replace(REPORT, targets=REPORT.targets[:1])
    monkeypatch.setattr(compile_targets, "compile_targets", lambda *given, **named: good)

    target = answered(capsys, "compile", "causal", "--target", "sm_100")["targets"][0]
    table = printed(capsys, "compile", "causal", "--target", "sm_100")
    text = printed(capsys, "compile", "causal", "--target", "sm_100", "--emit", "ptx")

    assert (target["target"], target["registers"], target["spills"]) == ("sm_100", 200, 0)
    assert (target["shared_bytes"], target["tensor_memory"], target["compile_s"]) == (99_328, 256, 1.5)
    assert target["instructions"] == {"tcgen05.mma": 64, "ex2": 260}
    assert "tcgen05.mma 64" in table
    assert text == ".version 8.7\n"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("attention_forward", "forward"),
        ("attention_backward_keys", "backward, keys"),
        ("hopper_attention_forward", "forward (Hopper)"),
        ("finish_dq", "finish dq"),
    ],
)
def test_a_kernel_has_one_name_for_people(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, kernel: str, words: str
) -> None:
    report = replace(REPORT, targets=(replace(REPORT.targets[0], kernel=kernel),))
    monkeypatch.setattr(compile_targets, "compile_targets", lambda *given, **named: report)

    assert f" {words} " in printed(capsys, "compile", "causal")
    assert answered(capsys, "compile", "causal")["targets"][0]["kernel"] == kernel


def test_a_target_that_fails_is_named_and_the_answer_is_no(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_targets, "compile_targets", lambda *given, **named: REPORT)

    assert "sm_90 forward: the compiler gave up" in printed(capsys, "compile", "causal", code=1)


@needs_no_gpu
def test_time_refuses_in_one_line_without_a_gpu(capsys: Capture) -> None:
    said = refused(capsys, "time", "causal", code=3)

    assert said.count("\n") == 1
    assert "no CUDA GPU" in said


def test_time_says_in_json_that_validation_failed(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Check("tile map", Outcome.FAIL, "everything", wrong_cells=3)
    proof = ValidationReport("causal", 9, 9, "here", (wrong,), (), 0.1)
    monkeypatch.setattr("compilemask.command_line.timing.gpu_name", lambda: "a GPU")
    monkeypatch.setattr("compilemask.measure.validate.validate", lambda *_, **__: proof)

    assert main(["time", "causal", "--set", "length=9", "--json"]) == 1

    said = json.loads(capsys.readouterr().out)
    assert said["error"] == "validation failed, so nothing was timed"
    assert said["validation"]["checks"][0]["wrong_cells"] == 3
