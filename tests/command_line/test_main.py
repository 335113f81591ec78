"""The command line as a person and as a program meet it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compilemask import library
from compilemask.command_line.main import main
from compilemask.command_line.picture import GUTTER
from compilemask.command_line.screen import say_json
from compilemask.errors import InternalError
from tests.command_line.running import PAIR, Capture, answered, needs_no_gpu, printed, refused


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
        (2, ["explain", "causal", "--query", "1"]),
        (2, ["explain", "causal", "--query", "-3", "--key", "0"]),
        (2, ["show", "causal", "--block-m", "100"]),
        (2, ["show", "causal", "length=5"]),
        (2, ["sing"]),
        (2, ["show"]),
        pytest.param(3, ["time", "causal"], marks=needs_no_gpu),
    ],
)
def test_what_is_refused_is_an_object_for_programs(capsys: Capture, code: int, words: list[str]) -> None:
    assert main([*words, "--json"]) == code
    streams = capsys.readouterr()
    assert json.loads(streams.out)["error"] in streams.err


def test_json_is_asked_for_in_short_too_but_not_among_names(capsys: Capture) -> None:
    assert main(["sing", "--js"]) == 2
    assert "sing" in json.loads(capsys.readouterr().out)["error"]
    assert main(["check", "--sing", "--", "--json"]) == 2
    assert capsys.readouterr().out == ""


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


def test_a_small_tile_map_is_drawn_tile_by_tile(capsys: Capture) -> None:
    said = printed(capsys, "show", "causal", "--set", "length=300", "--width", "80").splitlines()
    begin = next(i for i, line in enumerate(said) if line.startswith("Tiles"))

    assert [line[24:] for line in said[begin + 1 : begin + 4]] == ["▒▒····", "██▒▒··", "████▒▒"]


def test_json_has_no_infinity(capsys: Capture) -> None:
    say_json({"a": [float("inf"), 1.5], "b": float("nan")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.5], "b": None}


def test_check_prints_the_line_with_a_caret(capsys: Capture, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.mask"
    wrong.write_text(PAIR.replace("answer sees prompt", "anwser sees prompt"))

    code = main(["check", str(wrong)])

    out, err = capsys.readouterr()
    assert code == 1
    assert out == f"{wrong}: invalid (1 error)\n"
    assert "anwser sees prompt : all" in err
    assert "^^^^^^" in err


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


def test_fmt_is_idempotent_and_check_writes_nothing(capsys: Capture, pair: Path) -> None:
    pair.write_text(PAIR.replace("prompt sees prompt", "prompt   sees  prompt").replace(" : all", ":all"))
    before = pair.read_text()

    printed(capsys, "fmt", "--check", pair, code=1)
    assert pair.read_text() == before
    printed(capsys, "fmt", pair)
    printed(capsys, "fmt", "--check", pair)
    assert pair.read_text() == PAIR


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "cusal"], 2, "causal"),
        (["show", "none/at/all.mask"], 2, "there is no file"),
        (["show", "~nobody_at_all/a.mask"], 2, "~nobody_at_all/a.mask: there is no such user"),
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


FAR = """\
layout
    token : 200000
rules
    token sees token : same (pos % 512)
order token stored by pos % 512
"""


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        (("check",), 0),
        (("show",), 0),
        (("explain", "--query", "5", "--key", "517"), 0),
        (("validate",), 1),
        (("export", "-o", "far.cudnn.npy"), 1),
        (("export", "-o", "far.png"), 1),
    ],
)
def test_a_mask_too_large_for_a_verb_has_one_exit_code(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("far.mask").write_text(FAR)

    assert main([verb[0], "far.mask", *verb[1:]]) == code

    said = "in this token order the runs of the mask are cut into some 78,"
    assert (said in capsys.readouterr().err) == (code == 1)


@pytest.mark.parametrize("output", ["m.npy", "m.flex.py"])
def test_a_mask_too_large_for_a_file_has_the_same_exit_code(capsys: Capture, tmp_path: Path, output: str) -> None:
    words = ("export", "causal", "--set", "length=1000000", "-o", tmp_path / output)

    assert "at most 16" in refused(capsys, *words, code=1)
    assert not list(tmp_path.iterdir())
