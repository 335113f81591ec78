"""`compilemask export`: every form, what it holds, and what it refuses."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from compilemask.command_line.main import main
from tests.command_line.running import Capture, printed, refused
from tests.mask_texts import BATCHED


def test_the_ending_says_what_to_export(capsys: Capture, tmp_path: Path) -> None:
    assert main(["export", "causal", "--set", "length=9", "-o", str(tmp_path / "m.npy")]) == 0
    assert np.load(tmp_path / "m.npy").sum() == 45


def test_a_mask_is_not_written_over_by_its_own_export(capsys: Capture, pair: Path) -> None:
    before = pair.read_text()
    assert "this is the mask itself" in refused(capsys, "export", pair, "--to", "dense", "-o", pair, code=2)
    assert pair.read_text() == before


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "-o", "none.flex.py"), "causal has no cells with these sizes; FlexAttention takes no block mask"),
        (("export", "-o", "none.png"), "causal has no cells, so there is nothing to draw"),
        (("compile", "--target", "sm_90"), "causal has no cells with these sizes, so no kernel runs"),
    ],
)
def test_a_mask_of_no_tokens_is_refused_where_it_makes_no_sense(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)

    assert said in refused(capsys, words[0], "causal", "--set", "length=0", *words[1:], code=2)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["dense", "cudnn", "flashmask", "flex", "python", "svg"])
def test_stdout_takes_an_export_through_a_pipe(tmp_path: Path, form: str) -> None:
    command = [sys.executable, "-m", "compilemask", "export", "causal", "--set", "length=5", "--to", form, "-o"]

    done = subprocess.run([*command, "/dev/stdout"], capture_output=True, check=True)
    file = tmp_path / ("m.svg" if form == "svg" else "m.npy")
    subprocess.run([*command, str(file)], capture_output=True, check=True)

    assert b"wrote /dev/stdout" in done.stderr
    without_dates = [re.sub(rb"<dc:date>.*|(id=|#|url)\S*", b"", text) for text in (done.stdout, file.read_bytes())]
    assert without_dates[0] == without_dates[1]
    assert done.stdout


def test_a_file_that_stdout_goes_into_keeps_what_others_wrote(tmp_path: Path) -> None:
    file = tmp_path / "log.npy"
    words = "-m compilemask export causal --set length=5 --to dense -o /dev/stdout"

    subprocess.run(f"(echo one; {sys.executable} {words}; echo two) >{file}", shell=True, check=True)

    content = file.read_bytes()
    assert content.startswith(b"one\n")
    assert content.endswith(b"two\n")
    assert np.load(io.BytesIO(content[4:-4])).sum() == 15


def test_a_reader_of_an_export_may_leave_early(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "compilemask", "export", "causal", "--to", "dense", "-o", "/dev/stdout"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have file names in UTF-8 only")
@pytest.mark.parametrize("ending", ["npy", "png", "svg", "pdf", "flex.py", "py"])
def test_names_that_are_no_text_are_exported(capsys: Capture, tmp_path: Path, ending: str) -> None:
    mask, output = (tmp_path / os.fsdecode(b"caf\xe9." + suffix) for suffix in (b"mask", ending.encode()))
    mask.write_text("layout\n    a : 5\nrules\n    a sees a : causal\n")

    assert main(["export", str(mask), "-o", str(output)]) == 0
    assert output.stat().st_size
    assert "Traceback" not in capsys.readouterr().err
