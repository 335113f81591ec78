"""`--set` and `--set-file`: JSON, or the words of the mask language."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from compilemask.command_line.settings import parameters_of
from compilemask.errors import UsageError


def read(*settings: str, files: tuple[Path, ...] = ()) -> dict[str, object]:
    return parameters_of(Namespace(set=list(settings), set_file=[str(path) for path in files]))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("n=9", 9),
        ("n = 9", 9),
        ("n=-3", -3),
        ("n=32 * 1024 + 1", 32769),
        ("n=7 // 2", 3),
        ("n=true", True),
        ("n=any", None),
        ("n=null", None),
        ('n="causal"', "causal"),
        ("n=[9, 7]", [9, 7]),
        ("n=[9,7]", [9, 7]),
        ("n=[[3, any], []]", [[3, None], []]),
        ("n=[1024] * 3", [1024] * 3),
        ("n=2 * [1] + [5]", [1, 1, 5]),
    ],
)
def test_a_value_is_read(setting: str, value: object) -> None:
    assert read(setting) == {"n": value}


@pytest.mark.parametrize(
    "setting",
    ["n", "=3", "n=", "9=n", "n=[1", "n=1.5.5", "n=__import__('os')", "n=q.pos", "n=1 # 2", "n=len([1])", "n=[1] + 1",
     "n=5 // 0", "n=[0] * 99999999999", "n=[[[0] * 4000] * 4000] * 2", "n=[[[[0] * 9999] * 9999] * 9999] * 9999",
     "n=1\nparam m = 2", "n=" + "[" * 5000, "n=" + "9" * 5000],
)  # fmt: skip
def test_what_is_no_value_is_refused_in_one_message(setting: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(setting)

    assert len(str(caught.value)) < 400
    assert "--set" in str(caught.value) or "entries" in str(caught.value)


def test_a_bare_word_is_told_to_be_quoted() -> None:
    with pytest.raises(UsageError, match=r'a word needs quotes.*"causal"'):
        read("n=causal")


def test_a_setting_wins_over_a_file_and_the_last_one_wins(tmp_path: Path) -> None:
    file = tmp_path / "sizes.json"
    file.write_text(json.dumps({"a": 1, "b": [2, 3], "c": None}))

    assert read("a=5", "a=6", files=(file,)) == {"a": 6, "b": [2, 3], "c": None}


@pytest.mark.parametrize("text", ["[1, 2]", "{", "", "\xff"])
def test_a_file_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "sizes.json"
    file.write_text(text, encoding="latin-1")

    with pytest.raises(UsageError, match=r"--set-file .*sizes\.json"):
        read(files=(file,))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: No such file"):
        read(files=(tmp_path / "none.json",))


def test_a_file_holds_no_millions_of_lists(tmp_path: Path) -> None:
    file = tmp_path / "lists.json"
    file.write_text('{"n": [' + "[]," * (1 << 20) + "[]]}")

    with pytest.raises(UsageError, match="holds more than 1,048,576 lists and strings"):
        read(files=(file,))


def test_a_file_with_an_endless_number_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sizes.json"
    file.write_text('{"n": ' + "9" * 5000 + "}")

    with pytest.raises(UsageError, match=r"sizes\.json: not JSON: a number in it has thousands of digits$"):
        read(files=(file,))
