"""The parameters of a mask, as `show` and `list` tell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilemask import library
from tests.command_line.running import Capture, answered, printed

MASK = """\
# Idea: about the whole file
title "Sizes"

# How long
# the tokens are
param n = 8, m = [n] * 2  # two: [bold] numbers :smile:
param left per batch = [1, 2]
param twice = half + half, half = left * 2
param reach per head = [3, any]
param word = "ab", flag = true, long = [1] * 5000
# Read from a file.
param table from "t.json"
require n > 4 and len(m) == 2, "n is larger than 4"

layout
    a : 2 * n - half
    padding : half

rules
    a sees a : window(behind=reach, ahead=0)
"""


@pytest.fixture
def sizes(tmp_path: Path) -> Path:
    (tmp_path / "t.json").write_text("[[1, 2], [3]]")
    path = tmp_path / "sizes.mask"
    path.write_text(MASK)
    return path


def test_show_json_lists_parameters_as_the_file_has_them(capsys: Capture, sizes: Path) -> None:
    found = {one["name"]: one for one in answered(capsys, "show", sizes, "--set", "n=9")["parameters"]}

    assert list(found) == ["n", "m", "left", "twice", "half", "reach", "word", "flag", "long", "table"]
    requires = [{"condition": "n > 4 and len(m) == 2", "text": "n is larger than 4"}]
    assert found["n"] == {
        "name": "n",
        "value": 9,
        "shown": "9",
        "kind": "number",
        "per": None,
        "default": "8",
        "from": None,
        "comment": "two: [bold] numbers :smile:",
        "requires": requires,
    }
    assert (found["m"]["value"], found["m"]["default"], found["m"]["requires"]) == ([9, 9], "[n] * 2", requires)
    assert (found["left"]["value"], found["left"]["per"]) == ([1, 2], "batch")
    for name in ("half", "twice"):
        assert (found[name]["value"], found[name]["kind"]) == (None, "one per sample")
    assert (found["reach"]["value"], found["reach"]["shown"]) == ([3, None], "[3, any]")
    assert (found["word"]["value"], found["flag"]["value"]) == ("ab", True)
    assert (found["long"]["value"], found["long"]["kind"]) == (None, "list of 5,000")
    assert (found["table"]["value"], found["table"]["from"]) == ([[1, 2], [3]], "t.json")
    assert [found[name]["comment"] for name in ("half", "table")] == ["", "Read from a file."]


def test_show_prints_them_below_the_counts(capsys: Capture, sizes: Path) -> None:
    lines = [" ".join(line.split()) for line in printed(capsys, "show", sizes, "--set", "n=9").splitlines()]

    table = lines[lines.index("Parameters") :]
    assert "n 9 number 8 two: [bold] numbers :smile:" in table
    assert "m [9, 9] list of 2 [n] * 2 two: [bold] numbers :smile:" in table
    assert "left [1, 2] list of 2, per batch [1, 2]" in table
    assert "half one per sample left * 2" in table
    assert 'table [[1, 2], [3]] list of 2 from "t.json" Read from a file.' in table
    assert table[-1] == "requires n > 4 and len(m) == 2: n is larger than 4"


def test_values_given_for_all_samples_are_values(capsys: Capture, sizes: Path) -> None:
    found = {one["name"]: one for one in answered(capsys, "show", sizes, "--set", "half=3")["parameters"]}

    assert (found["half"]["value"], found["twice"]["value"]) == (3, 6)


def test_a_table_has_an_end(capsys: Capture, sizes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilemask.command_line.views.MOST_ROWS", 2)

    assert "and 8 more, which --json tells\n" in printed(capsys, "show", sizes)


def test_list_json_has_the_defaults_of_the_library(capsys: Capture) -> None:
    found = {mask["name"]: mask["parameters"] for mask in answered(capsys, "list")}

    assert set(found) == set(library.names())
    assert {one["name"]: one["value"] for one in found["clear"]} == {
        "text": 128,
        "height": 40,
        "width": 48,
        "radius": 8,
    }
    assert all(one["kind"] for parameters in found.values() for one in parameters)
