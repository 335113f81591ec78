"""A mask file is data: whatever it says, binding ends soon, takes little memory, and reads no other file."""

import os
from pathlib import Path

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.intervals import limits
from compilemask.language import (
    bind_file,
    bind_layout,
    bind_parameters,
    bind_scope,
    binder,
    effort,
    files,
    lexing,
    parameters,
)
from compilemask.language.reference import reference
from compilemask.language.values import Value
from compilemask.source import Span
from compilemask.tiles import limits as tile_limits
from tests.language.binding import bound, bound_in, one, refused, told

REPEAT = "layout\n    a repeat {}\n        b : 1\n        padding : 0\nrules\n    a sees a : all\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (one("all", "2 ** 25".replace(" ** 25", " * 16777216")), "at most 2,097,152 tokens"),
        (one("all", "9_000_000_000_000_000_000"), "at most 2,097,152 tokens"),
        (one("all", "[9_000_000_000_000_000_000, 9_000_000_000_000_000_000]"), "at most 2,097,152"),
        (one("all", "grid(3000000000, 3000000000, 3000000000)"), "at most 2,097,152"),
        (one("all", "[1] * 2_000_000"), "at most 1,048,576"),
        (REPEAT.format("9_000_000_000_000_000_000"), "at most 1,048,576"),
        (
            "layout\n    a repeat 1000000\n        padding : 0\n        b : 1\nrules\n    a sees a : all\n",
            "at most 1,048,576",
        ),
        (one("all", "len([0] * 100_000_000_000)"), "at most 16,777,216 are allowed"),
        (one("all", "len([[0] * 10_000_000, [0] * 10_000_000])"), "at most 16,777,216 are allowed"),
        (one("all", "len([[[0] * 5_000] * 5_000] * 2)"), "at most 16,777,216 are allowed"),
        (one("all", "sum(range(100_000_000_000))"), "at most 16,777,216 are allowed"),
        ("heads 5000\n" + one("all"), "expected 1 to 4096"),
    ],
)
def test_every_limit_has_words(text: str, words: str) -> None:
    assert words in told(text)


def test_too_many_samples_and_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused("param n per batch = [0] * 5000\n" + one("all", "2 + n")) == ["too-many"]
    monkeypatch.setattr(effort, "MOST_STEPS", 2000 * effort.A_PART)
    text = "param n per batch = range(4000)\nheads 4000\n" + one("window(behind=n + head, ahead=0)")

    assert refused(text) == ["too-much-work"]


def test_work_is_counted_for_one_mask_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MOST_STEPS", 40 * effort.A_PART)
    text = one("window(behind=1 + 2, ahead=0)")

    assert [refused(text) for _ in range(9)] == [[]] * 9
    assert refused(text.replace("1 + 2", " + ".join("1" * 60))) == ["too-much-work"]


def test_samples_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binder, "MOST_TOKENS_TOGETHER", 20)
    text = (
        "param n per batch = [1, 2, 1, 2]\nlayout\n    token : n\n    padding : 8 - n\n"
        "rules\n    token sees token : all\n"
    )

    assert refused(text) == []
    assert refused(text, n=[1, 2, 3]) == ["too-many-tokens"]


def test_deep_expressions_end_in_words() -> None:
    nested = "".join(f"let a{i + 1} = a{i} + 1\n" for i in range(400))

    assert refused(one("same a400", "4", "let a0 = pos\n" + nested)) == ["expansion-too-deep"]
    relations = "".join(f"let r{i + 1} = r{i} and causal\n" for i in range(400))
    assert refused(one("r400", "4", "let r0 = causal\n" + relations)) == ["expansion-too-deep"]


def test_files_lie_beside_the_mask(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.json").write_text("[1]")
    os.symlink(tmp_path / "secret.json", inner / "link.json")
    os.symlink(tmp_path, inner / "up")
    for name in (
        "../secret.json",
        str(tmp_path / "secret.json"),
        "link.json",
        "up/secret.json",
        "a/../../secret.json",
        "C:\\\\x",
    ):
        with pytest.raises(MaskFileError, match=r"out of the mask's folder|does not exist"):
            bound_in(inner, f'param a from "{name}"\n' + one("all", "len(a)"))


def test_an_included_file_stays_in_the_folder_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.json").write_text("[1, 2]")
    (tmp_path / "sub" / "inner.mask").write_text('param a from "data.json"\n')
    (tmp_path / "sub" / "data.json").write_text("[1, 2, 3]")
    program = bound_in(tmp_path, 'include "sub/inner.mask"\n' + one("all", "len(a)"))

    assert program.key_length == 3


def test_includes_end(tmp_path: Path) -> None:
    for i in range(12):
        (tmp_path / f"{i}.mask").write_text(f'include "{i + 1}.mask"\n')
    (tmp_path / "loop.mask").write_text('include "loop.mask"\n')

    with pytest.raises(MaskFileError, match="more than 8 deep"):
        bound_in(tmp_path, 'include "0.mask"\n')
    with pytest.raises(MaskFileError, match="includes itself"):
        bound_in(tmp_path, 'include "loop.mask"\n')


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"PK\x03\x04", b"\x80\x04\x95"])
def test_broken_arrays_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)

    with pytest.raises(MaskFileError, match=r"not a valid \.npy"):
        bound_in(tmp_path, 'param a from "a.npy"\n' + one("all", "len(a)"))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([Path("x")], dtype=object), allow_pickle=True)

    with pytest.raises(MaskFileError, match="could run code"):
        bound_in(tmp_path, 'param a from "a.npy"\n' + one("all", "len(a)"))


@pytest.mark.parametrize(
    "content", ["[1, 2", "1.5", '{"a": 1}', "[" * 100_000, "NaN", "[1e3]", "99999999999999999999999"]
)
def test_broken_json_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)

    with pytest.raises(MaskFileError, match=r"a\.json"):
        bound_in(tmp_path, 'param a from "a.json"\n' + one("all", "len(a)"))


def test_large_files_are_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "a.json").open("wb") as stream:
        stream.truncate(65 * 2**20)

    with pytest.raises(MaskFileError, match="larger than 16 MiB"):
        bound_in(tmp_path, 'param a from "a.json"\n' + one("all", "len(a)"))


def test_twenty_thousand_documents_of_one_token() -> None:
    program = bound(
        "param cu\nlayout\n    document : diff(cu)\nrules\n    document sees document : causal within document\n",
        cu=np.arange(20_001),
    )

    assert program.key_length == 20_000


def test_the_reference_names_the_limits_that_hold() -> None:
    table = reference().split("## Limits")[1]
    numbers = (
        lexing.MAX_TEXT, lexing.MAX_TOKENS,
        bind_layout.MOST_TOKENS, binder.MOST_TOKENS_TOGETHER, bind_layout.MOST_INSTANCES,
        bind_parameters.MOST_SAMPLES, bind_parameters.MOST_HEADS, files.MOST_JSON_PARTS, parameters.LONGEST_LIST,
        bind_file.MOST_ENTRIES, bind_scope.MOST_NODES, limits.MOST_RUNS, limits.MOST_PLANNED, effort.MOST_STEPS,
        tile_limits.MOST_PIECES_A_ROW, tile_limits.MOST_PARTIAL, tile_limits.MOST_PATTERNS,
    )  # fmt: skip

    assert [number for number in numbers if f"{number:,}" not in table] == []
    assert f"{files.LARGEST_DATA // 2**20} MiB, {files.LARGEST_JSON // 2**20} MiB" in table


def test_many_names_of_regions_take_no_time_and_no_memory() -> None:
    names = [f"r{number}" for number in range(2000)]
    layout = "layout\n" + "".join(f"    {name} : 2\n" for name in names)
    rules = "rules\n" + "".join(f"    {name} sees {name} : causal\n" for name in names)

    assert bound(layout + rules).key_length == 4000
    layout = layout.replace(": 2\n", ": [1] * 500\n")
    assert refused(layout + rules) == ["too-many-instances"]


def test_a_data_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("[1, 2]")
    read: list[str] = []
    load = files.data

    def noted(path: Path, name: str, span: Span) -> Value:
        read.append(name)
        return load(path, name, span)

    monkeypatch.setattr(files, "data", noted)
    program = bound_in(tmp_path, 'param n per batch = [0, 1, 2]\nparam a from "a.json"\n' + one("all", "a[1] + n * 0"))

    assert (program.batch, read) == (3, ["a.json"])


@pytest.mark.parametrize("part", ["[]", '""'])
def test_a_json_file_of_small_parts_is_refused_unread(tmp_path: Path, part: str) -> None:
    (tmp_path / "a.json").write_text("[" + f"{part}," * 1_100_000 + "1]")

    with pytest.raises(MaskFileError, match="more than 1,048,576 lists and strings"):
        bound_in(tmp_path, 'param a from "a.json"\n' + one("all", "len(a)"))


def test_an_array_of_many_rows_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((1_100_000, 1), np.int8))

    with pytest.raises(MaskFileError, match="at most 1,048,576 rows"):
        bound_in(tmp_path, 'param a from "a.npy"\n' + one("all", "len(a)"))


def test_included_texts_have_a_limit_together(tmp_path: Path) -> None:
    (tmp_path / "part.mask").write_text("# " + "x" * 100_000 + "\n")

    with pytest.raises(MaskFileError, match="1,048,576 characters together"):
        bound_in(tmp_path, 'include "part.mask"\n' * 12)
