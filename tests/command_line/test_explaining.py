"""`compilemask explain`: which rule decides a cell, and how places are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilemask import library
from tests.command_line.running import Capture, answered, printed, refused


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


def test_padding_is_a_place_too(capsys: Capture, tmp_path: Path) -> None:
    mask = tmp_path / "padded.mask"
    mask.write_text("layout\n    a : 3\n    padding : 2\n    b : 2\n    padding : 1\nrules\n    a sees a : all\n")
    names = ["a+0", "a+1", "a+2", "padding+0", "padding+1", "b+0", "b+1", "padding+2"]

    for number, name in enumerate(names):
        said = answered(capsys, "explain", mask, "--query", str(number), "--key", name)
        assert (said["query_region"], said["key"], said["key_region"]) == (name, number, name)
    assert answered(capsys, "explain", mask, "--query", "padding", "--key", "0")["query"] == 3
    said = refused(capsys, "explain", mask, "--query", "padding+3", "--key", "0", code=2)
    assert "--query padding+3: there are 3 slots of padding, +0 to +2" in said
    assert "there is no padding" in refused(capsys, "explain", "causal", "--query", "padding", "--key", "0", code=2)


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
        ("9" * 5000, "a number of 5,000 digits is too large"),
        ("prompt+" + "9" * 5000, "...: prompt has 5 tokens there, +0 to +4"),
        (f"answer[{'9' * 5000}]+1", "...: there is no such region; a place looks like prompt+0"),
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
