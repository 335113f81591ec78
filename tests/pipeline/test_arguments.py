"""Wrong arguments from Python end in one error that says what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compilemask import CompiledMask, MaskFileError, UsageError, compile, compile_text  # noqa: A004
from compilemask.pipeline import compile_file

TEXT = "param n = 3\nlayout\n    token : n\nrules\n    token sees token : causal\n"


def like(value: object) -> Any:
    """The value, of whatever type the call expects."""
    return value


@pytest.fixture(scope="module")
def mask() -> CompiledMask:
    return compile("causal", length=8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compile(like(5)), "mask must be a path, .* but is 5 .int."),
        (lambda: compile(like(None)), "mask must be a path, .* but is None"),
        (lambda: compile(like(b"causal")), "mask must be a path, .* but is b'causal' .bytes."),
        (lambda: compile(like(np.eye(3))), "mask must be a path, .* but is a ndarray"),
        (lambda: compile(like(compile("causal"))), "It is compiled already"),
        (lambda: compile(like("")), "expected the path of a .mask file or the name"),
        (lambda: compile(like("a" * 5000)), "a: File name too long"),
        (lambda: compile("causal", params=like(5)), "params must map names to values, .* but is 5"),
        (lambda: compile("causal", params=like(["length"])), "params must map names to values, .* is a list"),
        (lambda: compile("causal", samples=like(5)), "samples must be a list .* but is 5"),
        (lambda: compile("causal", samples=like({"length": 3})), "samples must be a list .* but is a dict"),
        (lambda: compile("causal", samples=like("ab")), "samples must be a list .* but is 'ab'"),
        (lambda: compile_text(like(5)), "text must be .* but is 5"),
        (lambda: compile_text(like(b"x")), "text must be .* but is b'x'"),
        (lambda: compile_text(TEXT, params=like(7)), "params must map names"),
        (lambda: compile_text(TEXT, folder=like(7)), "folder must be a path, but is 7"),
        (lambda: compile(like(10**5000)), "but is the number of some 5,001 digits .int."),
        (lambda: compile_file(like(None)), "path must be a path, but is None"),
    ],
)
def test_what_is_no_mask_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda one: one.rows_of(like("a")), "batch must be a whole number"),
        (lambda one: one.dense(0, like(True)), "head must be a whole number, but is True"),
        (lambda one: one.explain(like(1.5), 0), "query must be a whole number, but is 1.5"),
        (lambda one: one.explain(0, -(10**5000)), "key must be a whole number, but is the number of some 5,001 digits"),
        (lambda one: one.tiles(10**5000), "block_m of some 5,001 digits: a tile has 1 to 256 queries"),
    ],
)
def test_numbers_are_whole(mask: CompiledMask, call: Callable[[CompiledMask], object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call(mask)


def test_what_works_like_a_whole_number_or_a_list_is_one(mask: CompiledMask, tmp_path: Path) -> None:
    assert mask.tiles(like(np.int64(8)), like(np.int32(8))).kinds().tolist() == [[1]]
    assert mask.explain(like(np.int64(3)), like(np.int64(2))).visible
    assert compile("document_causal", documents=range(4)).query_length == 6
    assert compile_text(TEXT, samples=like({"n": n} for n in (2, 2))).batch in (1, 2)
    (tmp_path / "one.mask").write_text(TEXT)
    assert compile_file(tmp_path / "one.mask").rows.visible == 6


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("16", '`length` is given "16", a string; its default is 2048'),
        (None, "`length` is given None, no bound (`any`); its default is 2048"),
        (True, "`length` is given true, a condition; its default is 2048"),
    ],
)
def test_a_size_of_another_kind_is_told_with_the_argument_it_comes_from(value: object, said: str) -> None:
    with pytest.raises(MaskFileError) as caught:
        compile("causal", length=value)
    assert [one.hint for one in caught.value.diagnostics] == [said]


@pytest.mark.parametrize(
    ("how", "given", "said"),
    [
        ("window(behind=w, ahead=0)", {"w": "3"}, '`w` is given "3", a string; its default is 2'),
        ("q.pos % w == 0", {"w": "3"}, '`w` is given "3", a string; its default is 2'),
        ("causal by (pos // w)", {"w": [1, 2]}, "`w` is given [1, 2], a list of 2; its default is 2"),
        ("q.pos // w > open", {"w": 3, "open": "x"}, '`open` is given "x", a string'),
        ("random(count=w, seed=1) by u", {"w": None}, "`w` is given None, no bound (`any`); its default is 2"),
    ],
)
def test_a_value_of_another_kind_is_told_where_a_rule_uses_it(how: str, given: dict[str, Any], said: str) -> None:
    text = f"param w = 2, open, free = any\nlayout\n    a : 8\nlet u = pos\nrules\n    a sees a : {how}\n"
    with pytest.raises(MaskFileError) as caught:
        compile_text(text, params={"open": 1, **given})
    assert any((one.hint or "").endswith(said) for one in caught.value.diagnostics)


def test_a_list_per_sample_is_not_blamed() -> None:
    text = 'param n per batch = 3\nlayout\n    a : 8\nrules\n    a sees a : q.pos + n == "a"\n'
    with pytest.raises(MaskFileError) as caught:
        compile_text(text, n=[1, 2])
    assert not [one.hint for one in caught.value.diagnostics if one.hint and "given" in one.hint]


def test_what_to_do_about_an_evaluation_stays_beside_the_given_value() -> None:
    text = "param w = 2\nlayout\n    a : 8\nrules\n    a sees a : same (pos // w)\n"
    with pytest.raises(MaskFileError) as caught:
        compile_text(text, w=None)
    assert [one.hint for one in caught.value.diagnostics] == [
        "`any` may be stored, compared, added to a number and lessened by one; nothing else; "
        "`w` is given None, no bound (`any`); its default is 2"
    ]


def test_values_of_the_right_kind_are_not_blamed() -> None:
    text = (
        'param w = 2, free = any\nlayout\n    a : 8\nrules\n    a sees a : window(behind=w, ahead=free) or w == "a"\n'
    )
    with pytest.raises(MaskFileError) as caught:
        compile_text(text, w=3, free=4)
    assert not [one.hint for one in caught.value.diagnostics if one.hint and "given" in one.hint]
