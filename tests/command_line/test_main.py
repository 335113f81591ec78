"""The command line as a person and as a program meet it."""

from __future__ import annotations

import errno
import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from compilemask import library
from compilemask.__main__ import start
from compilemask.command_line.main import main
from compilemask.command_line.picture import GUTTER
from compilemask.command_line.screen import say_json
from compilemask.errors import InternalError
from compilemask.measure import compile_targets
from compilemask.measure.machine import gpu_name
from compilemask.measure.report import (
    Check,
    CompileReport,
    InstructionCount,
    Listing,
    Outcome,
    TargetReport,
    ValidationReport,
)

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


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 120 columns, whatever runs the tests."""
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    path = tmp_path / "pair.mask"
    path.write_text(PAIR)
    return path


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


def test_show_json_has_the_agreed_fields(capsys: Capture, pair: Path) -> None:
    shown = answered(capsys, "show", pair, "--set", "answers=[9, 7]")

    assert shown["name"] == "pair"
    assert (shown["query_length"], shown["key_length"]) == (21, 21)
    assert shown["visible"] == 15 + 16 * 5 + 45 + 28
    assert shown["density"] == pytest.approx(shown["visible"] / 21**2)
    assert (shown["max_runs_per_row"], shown["empty_rows"]) == (2, 0)
    tile = shown["tile"]
    assert {"block_m", "block_n", "empty", "partial", "full", "distinct_partial", "useful"} <= set(tile)
    assert (tile["block_m"], tile["block_n"], tile["empty"], tile["partial"], tile["full"]) == (128, 128, 0, 1, 0)
    assert shown["descriptor_bytes"] > 0
    assert shown["compile_ms"] > 0


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (2, ["show", "no_such_mask"]),
        (2, ["show", "causal", "--set", "length=x"]),
        (2, ["explain", "causal", "--query", "99999", "--key", "0"]),
        pytest.param(3, ["time", "causal"], marks=needs_no_gpu),
    ],
)
def test_what_is_refused_is_an_object_for_programs(capsys: Capture, code: int, words: list[str]) -> None:
    assert main([*words, "--json"]) == code
    streams = capsys.readouterr()
    assert json.loads(streams.out)["error"] in streams.err


def test_show_draws_the_mask_with_region_names(capsys: Capture, pair: Path) -> None:
    lines = printed(capsys, "show", pair, "--set", "prompt=2", "--set", "answers=[2, 2]").splitlines()

    assert lines[0] == "pair — A prompt and its answers"
    assert lines[1] == "6 queries × 6 keys, any batch, any heads"
    assert [line.strip() for line in lines[4:7]] == ["prompt █▄", "answer[0] ███▄", "answer[1] ██  █▄"]
    assert lines[3].split()[0] == "prompt" or "▏" in lines[3]
    assert any(line.startswith(" visible cells") for line in lines)


def test_show_draws_cells_exactly(capsys: Capture, pair: Path) -> None:
    """At one character per key and half a character per query, the picture is the mask."""
    lines = printed(capsys, "show", pair).splitlines()

    rows = [line[GUTTER:].ljust(12) for line in lines[4:10]]
    drawn = np.zeros((12, 12), bool)
    for i, row in enumerate(rows):
        for j, character in enumerate(row):
            drawn[2 * i, j] = character in "▀█"
            drawn[2 * i + 1, j] = character in "▄█"
    expected = np.tril(np.ones((12, 12), bool))
    expected[8:, 5:8] = False
    assert np.array_equal(drawn, expected)


@pytest.mark.parametrize("verb", ["show", "validate"])
def test_a_mask_of_no_tokens_is_no_accident(capsys: Capture, verb: str) -> None:
    assert answered(capsys, verb, "causal", "--set", "length=0")["query_length"] == 0
    assert printed(capsys, verb, "causal", "--set", "length=0")


def test_a_finding_without_a_place_names_the_file(capsys: Capture, tmp_path: Path) -> None:
    empty = tmp_path / "empty.mask"
    empty.write_text("")

    assert refused(capsys, "show", empty, code=1).startswith(f"{empty}: error[")


def test_pictures_are_plain_text_where_the_terminal_is(capsys: Capture, pair: Path) -> None:
    script = "from compilemask.command_line.main import main; main(['show', %r])" % str(pair)  # noqa: UP031
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, check=True)

    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
    assert b"#" in done.stdout


def test_list_names_the_library(capsys: Capture) -> None:
    assert [mask["name"] for mask in answered(capsys, "list")] == library.names()
    assert "shared_prompt_rm" in printed(capsys, "list")


def test_check_says_everything_about_every_file(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.mask"
    wrong.write_text(PAIR.replace("prompt sees prompt : causal", "promt sees prompt : casual"))

    found = answered(capsys, "check", pair, wrong, code=1)

    assert [file["valid"] for file in found] == [True, False]
    first = found[1]["diagnostics"][0]
    assert (first["severity"], first["line"]) == ("error", 10)
    assert printed(capsys, "check", pair).startswith(f"{pair}: valid")


def test_check_goes_on_after_a_file_that_is_not_there(capsys: Capture, pair: Path) -> None:
    found = answered(capsys, "check", "none.mask", pair, code=2)

    assert [(item["file"], item["valid"]) for item in found] == [("none.mask", False), (str(pair), True)]


def test_check_goes_on_after_files_that_are_no_text(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    latin, large = tmp_path / "latin.mask", tmp_path / "large.mask"
    latin.write_bytes(b'title "\xe9"\n')
    with large.open("wb") as stream:
        stream.truncate(3 << 30)

    found = answered(capsys, "check", pair, latin, large, pair, code=2)

    assert [item["valid"] for item in found] == [True, False, False, True]
    messages = [item["diagnostics"][0]["message"] for item in found[1:3]]
    assert messages == ["not UTF-8 text", "larger than 4 MiB (4,194,304 bytes)"]
    assert main(["check", str(latin)]) == 2
    assert capsys.readouterr().err == f"{latin}: error[unreadable-file]: not UTF-8 text\n"


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
    assert shown["visible"] == 15

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


def test_a_small_tile_map_is_drawn_tile_by_tile(capsys: Capture) -> None:
    said = printed(capsys, "show", "causal", "--set", "length=300", "--width", "80").splitlines()
    begin = next(i for i, line in enumerate(said) if line.startswith("Tiles"))

    assert [line[24:] for line in said[begin + 1 : begin + 4]] == ["▒▒····", "██▒▒··", "████▒▒"]


def test_the_ending_says_what_to_export(capsys: Capture, tmp_path: Path) -> None:
    assert main(["export", "causal", "--set", "length=9", "-o", str(tmp_path / "m.npy")]) == 0
    assert np.load(tmp_path / "m.npy").sum() == 45


def test_a_mask_is_not_written_over_by_its_own_export(capsys: Capture, pair: Path) -> None:
    before = pair.read_text()
    assert "this is the mask itself" in refused(capsys, "export", pair, "--to", "dense", "-o", pair, code=2)
    assert pair.read_text() == before


def test_compile_refuses_a_width_that_the_kernels_do_not_take(capsys: Capture) -> None:
    words = ("compile", "causal", "--target", "sm_90", "--head-dim", "300")
    assert "head_dim 300: the kernels take 1 to 256" in refused(capsys, *words, code=2)


def test_json_has_no_infinity(capsys: Capture) -> None:
    say_json({"a": [float("inf"), 1.5], "b": float("nan")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.5], "b": None}


def test_long_endings_say_their_form_as_in_the_workbench(capsys: Capture, tmp_path: Path) -> None:
    for name in ("m.cudnn.npy", "M.FLASHMASK.NPY", "m.flex.py", "m.py"):
        printed(capsys, "export", "causal", "--set", "length=9", "-o", tmp_path / name)

    assert np.load(tmp_path / "m.cudnn.npy").shape == (1, 3, 9)
    assert np.load(tmp_path / "M.FLASHMASK.NPY").shape == (1, 1, 9, 4)
    assert "BlockMask" in (tmp_path / "m.flex.py").read_text()
    assert "cm.compile" in (tmp_path / "m.py").read_text()


def test_to_wins_over_the_ending_and_says_so(capsys: Capture, tmp_path: Path) -> None:
    def export(form: str, name: str) -> str:
        assert main(["export", "causal", "--set", "length=9", "--to", form, "-o", str(tmp_path / name)]) == 0
        return capsys.readouterr().err

    said = export("dense", "m.cudnn.npy")
    assert ".cudnn.npy is the ending of cudnn; written is dense, as --to says" in said
    assert np.load(tmp_path / "m.cudnn.npy").sum() == 45
    assert "as --to says" in export("flex", "m.npy")
    assert "as --to says" not in export("cudnn", "m.npy")
    assert "as --to says" not in export("dense", "m.npy")


BATCHED = """
param lengths per batch = [[3, 6], [9]]
heads 2
layout
    token : lengths
rules when head == 0
    token sees token : causal within token
rules when head == 1
    token sees token : causal
"""


@pytest.fixture
def batched(tmp_path: Path) -> Path:
    path = tmp_path / "batched.mask"
    path.write_text(BATCHED)
    return path


def test_exports_say_which_sample_and_head_they_hold(capsys: Capture, batched: Path, tmp_path: Path) -> None:
    def export(name: str, *more: str) -> str:
        assert main(["export", str(batched), "-o", str(tmp_path / name), *more]) == 0
        return capsys.readouterr().err

    assert "bool [9, 9], sample 0 of 2, head 0 of 2" in export("m.npy")
    assert "sample 1 of 2, head 1 of 2" in export("m.npy", "--batch", "1", "--head", "1")
    assert np.load(tmp_path / "m.npy").sum() == 45
    assert "int32 [2, 2, 9, 4]\n" in export("m.flashmask.npy")
    assert "int32 [2, 1, 9, 4], head 1 of 2" in export("m.flashmask.npy", "--head", "1")
    assert "int32 [2, 3, 9], sample 1 of 2" in export("m.cudnn.npy", "--batch", "1")
    assert "sample 0 of 2, head 1 of 2" in export("m.png", "--head", "1")
    assert "head 1 of 2" in export("m.flex.py", "--head", "1", "--block-m", "64")
    text = (tmp_path / "m.flex.py").read_text()
    assert "BATCH, HEADS = 2, 1" in text
    assert "BLOCK = 9, 9, (64, 128)" in text


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("m.cudnn.npy", [], "tells 2 apart: choose one with --batch 0 to 1"),
        ("m.py", ["--head", "1"], "compiles the whole mask"),
        ("m.npy", ["--all", "--head", "1"], "takes every sample and head"),
        ("m.png", ["--all"], "shows one sample and head"),
        ("m.npy", ["--block-m", "64"], "dense has no tiles"),
        ("m.flex.py", ["--batch", "2"], "--batch 2: batched has 2, numbered 0 to 1"),
    ],
)
def test_what_a_form_cannot_hold_is_refused(
    capsys: Capture, batched: Path, tmp_path: Path, name: str, more: list[str], words: str
) -> None:
    assert main(["export", str(batched), "-o", str(tmp_path / name), *more]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("ending", ["npy", "cudnn.npy", "flashmask.npy", "flex.py", "py", "png", "svg", "pdf"])
def test_a_failed_export_leaves_the_file_as_it_was(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"m.{ending}"
    output.write_text("old")

    def full(_: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert main(["export", "causal", "--set", "length=9", "-o", str(output)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert output.read_text() == "old"
    assert os.listdir(tmp_path) == [output.name]


def test_check_prints_the_line_with_a_caret(capsys: Capture, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.mask"
    wrong.write_text(PAIR.replace("answer sees prompt", "anwser sees prompt"))

    code = main(["check", str(wrong)])

    out, err = capsys.readouterr()
    assert code == 1
    assert out == f"{wrong}: invalid (1 error)\n"
    assert "anwser sees prompt : all" in err
    assert "^^^^^^" in err


def test_explain_names_the_rule_and_the_regions(capsys: Capture, pair: Path) -> None:
    seen = answered(capsys, "explain", pair, "--query", "9", "--key", "8")
    unseen = answered(capsys, "explain", pair, "--query", "9", "--key", "6")

    assert (seen["visible"], seen["rule"], seen["line"]) == (True, 3, 12)
    assert (seen["query_region"], seen["key_region"]) == ("answer[1]+1", "answer[1]+0")
    assert (unseen["visible"], unseen["rule"]) == (False, None)
    assert "not visible" in printed(capsys, "explain", pair, "--query", "9", "--key", "6")


def test_explain_takes_the_places_that_it_prints(capsys: Capture, pair: Path) -> None:
    for number in range(12):
        said = answered(capsys, "explain", pair, "--query", str(number), "--key", "0")
        named = answered(capsys, "explain", pair, "--query", said["query_region"], "--key", "prompt+0")
        assert (named["query"], named["key"]) == (number, 0)
    assert answered(capsys, "explain", pair, "--query", "answer[1]", "--key", "prompt+2")["query"] == 8


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("prompd+3", "--query prompd+3: there is no region prompd; there are prompt, answer"),
        ("answer+1", "--query answer+1: which one? There are answer[0], answer[1]"),
        ("answer[2]+1", "there is no such region; a place looks like prompt+0"),
        ("answer[0]+3", "--query answer[0]+3: answer has 3 tokens there, +0 to +2"),
        ("answer[0]-3", "expected a number or a place such as prompt+0"),
        ("answer.prompt+1", "there is no such region"),
        ("-3", "--query"),
        ("3x", "expected a whole number"),
    ],
)
def test_a_place_that_is_none_is_one_clear_message(capsys: Capture, pair: Path, place: str, said: str) -> None:
    assert said in refused(capsys, "explain", str(pair), f"--query={place}", "--key", "0", code=2)


def test_explain_tells_of_a_hidden_cell_what_each_rule_lacks(capsys: Capture) -> None:
    words = ("explain", "block_diffusion", "--query", "200", "--key", "800")
    why = "query's block 3 is not after key's block 4"

    assert answered(capsys, *words)["considered"] == [
        {
            "rule": 2,
            "file": str(library.locate("block_diffusion")),
            "line": 18,
            "text": "noisy sees clean : before by block",
            "why": why,
        }
    ]
    assert f"\n  line 18: noisy sees clean : before by block — {why}\n" in printed(capsys, *words)


def test_validate_is_green_and_says_what_it_did(capsys: Capture, pair: Path) -> None:
    report = answered(capsys, "validate", pair)

    assert report["passed"] is True
    assert {"intervals", "tile map", "descriptor by query", "descriptor by key"} <= {
        c["name"] for c in report["checks"]
    }
    assert report["worst_of_budget"] <= 1
    kernels = [check for check in report["checks"] if check["name"].startswith("kernel float32")]
    assert kernels
    assert {check["precision"] for check in kernels} == {
        "float32: products in full float32 (IEEE, never TF32), sums in float32"
    }
    assert all(check["largest_error"] <= check["largest_allowed"] for check in kernels)
    assert all(check["largest_allowed"] < 1e-5 for check in kernels if len(check["name"].split()) == 3)
    assert report["checks"][0]["precision"] is None
    assert "precision of float32: products in full float32 (IEEE, never TF32)" in printed(capsys, "validate", pair)


def test_export_dense_is_the_mask(capsys: Capture, pair: Path, tmp_path: Path) -> None:
    file = tmp_path / "pair.npy"

    printed(capsys, "export", pair, "--to", "dense", "-o", file)

    expected = np.tril(np.ones((12, 12), bool))
    expected[8:, 5:8] = False
    dense = np.load(file)
    assert dense.dtype == np.bool_
    assert np.array_equal(dense, expected)


def test_export_dense_of_all_heads_has_four_axes(capsys: Capture, tmp_path: Path) -> None:
    text = "heads 2\n"
    file, output = tmp_path / "heads.mask", tmp_path / "heads.npy"
    file.write_text(
        f"{text}layout\n    token : 5\nrules when head == 0\n    token sees token : causal\n"
        "rules when head == 1\n    token sees token : all\n"
    )

    printed(capsys, "export", file, "--to", "dense", "--all", "-o", output)

    dense = np.load(output)
    assert dense.shape == (1, 2, 5, 5)
    assert np.array_equal(dense[0, 0], np.tril(np.ones((5, 5), bool)))
    assert dense[0, 1].all()


def test_fmt_is_idempotent_and_check_writes_nothing(capsys: Capture, pair: Path) -> None:
    pair.write_text(PAIR.replace("prompt sees prompt", "prompt   sees  prompt").replace(" : all", ":all"))
    before = pair.read_text()

    printed(capsys, "fmt", "--check", pair, code=1)
    assert pair.read_text() == before
    printed(capsys, "fmt", pair)
    printed(capsys, "fmt", "--check", pair)
    assert pair.read_text() == PAIR


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


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "cusal"], 2, "causal"),
        (["show", "none/at/all.mask"], 2, "there is no file"),
        (["show", "causal", "--set", "length"], 2, "name=value"),
        (["show", "causal", "--set", "lenght=5"], 1, "length"),
        (["show", "causal", "--set", 'length="x"'], 1, "length"),
        (["show", "causal", "--set", "length=-1"], 1, "length"),
        (["show", "causal", "--block-m", "100"], 2, "16, 32, 64, 128 or 256"),
        (["explain", "causal", "--query", "1"], 2, "--key"),
        (["explain", "causal", "--query", "1", "--key", "99999999"], 2, "numbered 0 to"),
        (["compile", "causal", "--target", "sm_12"], 2, "sm_90"),
        (["export", "causal", "--to", "dense", "-o", "/nowhere/at/all.npy"], 2, "does not exist"),
        (["sing"], 2, "invalid choice"),
        (["fmt", "none.mask"], 2, "No such file"),
        (["show", "causal", "--set", "a=1", "length=5"], 2, "--set length=5"),
        (["export", "causal", "-o", "causal.txt"], 2, "--to"),
    ],
)
def test_wrong_use_is_one_clear_message(capsys: Capture, words: list[str], code: int, said: str) -> None:
    assert said in refused(capsys, *words, code=code)


def test_a_defect_of_ours_says_so(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise InternalError("the runs overlap")

    monkeypatch.setattr(importlib, "import_module", broken)
    monkeypatch.delenv("COMPILEMASK_TRACEBACK", raising=False)

    said = refused(capsys, "list", code=70)

    assert "this is our bug" in said
    assert "the runs overlap" in said
    assert "compilemask list" in said


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m compilemask.command_line list | head -1"

    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)

    assert done.returncode == 0
    assert done.stderr == ""


def test_help_has_examples_and_exit_codes(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])

    assert left.value.code == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert "exit codes:" in out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("clear", "--set", "foo=1"), "no parameter `foo`"),
        (("clear", "--set", 'height="tall"'), "expected a number"),
        (("causal", "--set", "length=-1"), "length"),
        (("not_there_yet.mask", "--set", "foo=1"), "no parameter `foo`"),
        (("not_there", "--set", "foo=1"), "not_there"),
    ],
)
def test_settings_that_the_mask_cannot_take_do_not_open_the_workbench(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], wanted: str
) -> None:
    opened = _with_a_terminal(monkeypatch, tmp_path)

    said = refused(capsys, "open", *words, code=2 if words[0] == "not_there" else 1)

    assert wanted in said
    assert not opened


def test_good_settings_and_files_to_be_mended_open_the_workbench(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened = _with_a_terminal(monkeypatch, tmp_path)
    (tmp_path / "broken.mask").write_text("param n = 4\nlayout\n    a : n\nrules\n    a sees b : all\n")

    assert main(["open", "clear", "--set", "height=16"]) == 0
    assert main(["open", "broken.mask", "--set", "n=8"]) == 0

    assert opened == [("clear", {"height": 16}, None), ("broken.mask", {"n": 8}, None)]


def _with_a_terminal(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[object, ...]]:
    """As if stdin and stdout were a terminal; what the workbench is opened with is kept instead."""
    from compilemask_app import main as app_main

    opened: list[tuple[object, ...]] = []

    def keep(*given: object) -> int:
        opened.append(given)
        return 0

    monkeypatch.chdir(folder)
    monkeypatch.setattr(app_main, "open_workbench", keep)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    return opened


@pytest.mark.parametrize("verb", [("show",), ("explain", "--query", "0", "--key", "0"), ("validate",)])
def test_an_invalid_mask_is_told_to_programs_as_check_tells_it(
    capsys: Capture, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    mask = tmp_path / "wrong.mask"
    mask.write_text(PAIR.replace("within answer", "within answr"))

    found = answered(capsys, verb[0], mask, *verb[1:], code=1)

    assert found == answered(capsys, "check", mask, code=1)
    assert found[0]["diagnostics"][0]["line"] == 12


def test_time_says_in_json_that_validation_failed(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Check("tile map", Outcome.FAIL, "everything", wrong_cells=3)
    proof = ValidationReport("causal", 9, 9, "here", (wrong,), (), 0.1)
    monkeypatch.setattr("compilemask.command_line.timing.gpu_name", lambda: "a GPU")
    monkeypatch.setattr("compilemask.measure.validate.validate", lambda *_, **__: proof)

    assert main(["time", "causal", "--set", "length=9", "--json"]) == 1

    said = json.loads(capsys.readouterr().out)
    assert said["error"] == "validation failed, so nothing was timed"
    assert said["validation"]["checks"][0]["wrong_cells"] == 3
