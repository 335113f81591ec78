"""Wrong arguments from Python end in one error that says what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compilemask import CompiledMask, UsageError, compile, compile_text  # noqa: A004
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
