"""Arrays of other programs become texts whose masks are the arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask.command_line.main import main
from compilemask.errors import MaskFileError, UsageError
from compilemask.imports import Form, guess, imported, read_array, write
from compilemask.language import files
from compilemask.language.bind_layout import MOST_INSTANCES, MOST_TOKENS
from compilemask.language.bind_parameters import MOST_HEADS, MOST_SAMPLES
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.measure.export import dense, endpoints
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.pipeline import compile as compile_mask
from compilemask.source import Source

Capture: TypeAlias = pytest.CaptureFixture[str]
SIZES: dict[str, dict[str, Any]] = {"shared_prompt_rm": {"documents": 2, "prompt": 70, "answers": [33, 1, 60]}}


def compiled_from(array: NDArray[Any], form: Form, folder: Path, **options: Any) -> CompiledMask:
    """The mask of the text that is made of an array."""
    path = folder / "found.mask"
    write(imported(array, form, "found", **options), path)
    return compile_mask(path)


def everything(mask: CompiledMask) -> NDArray[np.bool_]:
    """[batch, heads, queries, keys]."""
    return np.array([[mask.dense(b, h) for h in range(mask.heads)] for b in range(mask.batch)])


@pytest.mark.parametrize("name", ["causal", "document_batch", "shared_prompt_rm", "flamingo", "hstu"])
def test_dense_arrays_come_back(name: str, tmp_path: Path) -> None:
    mask = compile_mask(name, params=SIZES.get(name, {}))
    dense.write(mask, tmp_path / "one.npy", every=True)
    array = read_array(tmp_path / "one.npy")
    assert guess(array) is Form.DENSE
    assert np.array_equal(everything(compiled_from(array, Form.DENSE, tmp_path)), everything(mask))


@pytest.mark.parametrize("name", ["causal", "clear", "document_causal", "natten_2d", "shared_prompt_rm"])
def test_endpoints_come_back(name: str, tmp_path: Path) -> None:
    mask = compile_mask(name, params=SIZES.get(name, {}))
    values = endpoints.cudnn_mask_func(mask)
    assert guess(values) is Form.ENDPOINTS
    found = compiled_from(values, Form.ENDPOINTS, tmp_path, length=mask.key_length)
    assert np.array_equal(found.dense(), mask.dense())


@pytest.mark.parametrize("name", ["causal", "document_causal", "document_batch", "flamingo"])
def test_flashmask_indices_come_back(name: str, tmp_path: Path) -> None:
    mask = compile_mask(name)
    values = endpoints.flashmask_indices(mask)
    assert guess(values) is Form.FLASHMASK
    found = compiled_from(values, Form.FLASHMASK, tmp_path, length=mask.query_length)
    assert np.array_equal(everything(found), everything(mask))


@pytest.mark.parametrize(("count", "causal"), [(1, True), (2, True), (2, False), (4, False)])
def test_flashmask_bounds_mean_what_the_paper_says(count: int, causal: bool, tmp_path: Path) -> None:
    bounds = np.sort(np.random.default_rng(count).integers(0, 64, (2, 3, 63, count)), axis=-1).astype(np.int32)
    if count == 2 and not causal:
        bounds = bounds[..., ::-1]
    found = everything(compiled_from(bounds, Form.FLASHMASK, tmp_path, causal=causal))
    assert found.shape == (2, 3, *found.shape[2:])
    for (batch, head, query, key), seen in np.ndenumerate(found):
        r = [int(bound) for bound in bounds[batch, head, key]]
        if count == 4:
            hidden = r[0] <= query < r[1] or r[2] <= query < r[3]
        elif causal:
            hidden = key > query or r[0] <= query < (r[1] if count == 2 else 64)
        else:
            hidden = query >= r[0] or query < r[1]
        assert seen is not np.bool_(hidden)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(0, 9), st.integers(1, 2), st.integers(1, 2), st.integers(0, 99))
def test_any_dense_array_comes_back(rows: int, columns: int, batch: int, heads: int, seed: int) -> None:
    array = np.random.default_rng(seed).random((batch, heads, rows, columns)) < 0.5
    text = imported(array, Form.DENSE, "any").text
    assert format_file(parse(Source("any", text)))
    assert np.array_equal(everything(compile_text(text, name="any")), array)


@pytest.mark.parametrize("causal", [False, True])
def test_cumulative_lengths_are_documents(causal: bool, tmp_path: Path) -> None:
    ends = np.array([0, 5, 5, 68, 131], np.int32)
    assert guess(ends) is Form.CU_SEQLENS
    found = compiled_from(ends, Form.CU_SEQLENS, tmp_path, causal=causal).dense()
    number = np.searchsorted(ends, np.arange(131), side="right")
    same = number[:, None] == number[None, :]
    assert np.array_equal(found, np.tril(same) if causal else same)


@pytest.mark.parametrize("length", [121, 242, 246])
def test_rows_that_alternate_come_back(length: int, tmp_path: Path) -> None:
    even = (np.arange(length) % 2 == 0)[:, None]
    array = even & np.tri(length, dtype=bool)
    for form, values in ((Form.DENSE, array), (Form.ENDPOINTS, even.T[None] * np.arange(1, length + 1))):
        assert np.array_equal(compiled_from(values, form, tmp_path, length=length).dense(), array)


def test_much_data_goes_into_a_file_beside(tmp_path: Path) -> None:
    array = np.random.default_rng(0).random((200, 1000)) < 0.5
    mask = imported(array, Form.DENSE, "my mask")
    assert mask.data_name == "my_mask.rows.json"
    written = write(mask, tmp_path / "x.mask")
    assert [path.name for path in written] == ["x.mask", "my_mask.rows.json"]
    assert np.array_equal(compile_mask(tmp_path / "x.mask").dense(), array)


@pytest.mark.parametrize(
    ("array", "form", "words"),
    [
        (np.zeros((3, 3, 3), bool), Form.DENSE, r"not dense; found bool \[3, 3, 3\]; expected booleans"),
        (np.full((3, 3), 7), Form.DENSE, "it holds other values"),
        (np.zeros((1, 2, 5), np.int32), Form.ENDPOINTS, "an odd count"),
        (np.full((1, 1, 5), -1), Form.ENDPOINTS, "none below 0"),
        (np.zeros((1, 1, 5, 3), np.int32), Form.FLASHMASK, "1, 2 or 4"),
        (np.zeros((1, 1, 5, 1), np.int32), Form.FLASHMASK, "a FlashMask call that is causal"),
        (np.array([0, 4, 3]), Form.CU_SEQLENS, "entry 2 is smaller than the one before"),
        (np.array([0, 2**63 - 1, -(2**63)]), Form.CU_SEQLENS, "entry 2 is smaller than the one before"),
        (np.array([0, 2**63, 2**64 - 1], np.uint64), Form.CU_SEQLENS, "speaks of 18,446,744,073,709,551,615 tokens"),
        (np.zeros((MOST_TOKENS + 1, 0), bool), Form.DENSE, f"{MOST_TOKENS + 1:,} queries; at most {MOST_TOKENS:,}"),
        (np.zeros((0, MOST_TOKENS + 1), bool), Form.DENSE, f"{MOST_TOKENS + 1:,} keys; at most {MOST_TOKENS:,}"),
        (np.zeros((MOST_SAMPLES + 1, 1, 0, 0), bool), Form.DENSE, f"batch entries; at most {MOST_SAMPLES:,}"),
        (np.zeros((MOST_HEADS + 1, 1, 0), np.int32), Form.ENDPOINTS, f"heads; at most {MOST_HEADS:,}"),
        (np.full((1, 1, 1), MOST_TOKENS + 1), Form.ENDPOINTS, f"keys; at most {MOST_TOKENS:,}"),
        (np.full((1, 1, 1, 2), MOST_TOKENS + 1), Form.FLASHMASK, f"queries; at most {MOST_TOKENS:,}"),
        (np.array([1, 4]), Form.CU_SEQLENS, "the first is 1"),
        (np.array([0, 1 << 40]), Form.CU_SEQLENS, "at most"),
    ],
)
def test_other_arrays_are_refused_in_words(array: NDArray[Any], form: Form, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        imported(array, form, "odd")


@pytest.mark.parametrize("content", [b"", b"not an array", b"\x93NUMPY\x01\x00", b"PK\x03\x04"])
def test_files_that_are_no_array_are_refused_in_words(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.npy"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"odd\.npy"):
        read_array(path)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("'|b1'", "(18446744073709551616, 8)"),
        ("'|b1'", "(True, 8)"),
        ("'|b1'", "(9223372036854775807, 0)"),
        ("-" * 9000 + "1", "(8, 8)"),
        ("(" * 9000, "(8, 8)"),
        ("'|b1'", "(9223372036854775807, 9223372036854775807)"),
        ("'|b1'", f"({'9' * 5000}, 8)"),
    ],
    ids=["beyond-64-bits", "boolean", "endless", "nested", "open", "overflowing", "digits"],
)
def test_odd_headers_are_refused_in_words(kind: str, shape: str, tmp_path: Path, capsys: Capture) -> None:
    header = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    path = tmp_path / "odd.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    assert main(["import", str(path), "-o", str(tmp_path / "x.mask")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"compilemask: {path}")
    assert said.count("\n") == 1
    with pytest.raises(MaskFileError, match=r'"odd.npy" (is not a valid .npy file|is cut off|holds an array)'):
        compile_text('param n from "odd.npy"\nlayout\n    a : n\nrules\n    a sees a : all\n', folder=tmp_path)


def test_values_that_could_run_code_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "odd.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UsageError, match="no array that can be read"):
        read_array(tmp_path / "odd.npy")
    np.save(tmp_path / "odd.npy", np.zeros(3, np.complex64))
    with pytest.raises(UsageError, match="complex64"):
        read_array(tmp_path / "odd.npy")


class TestVerb:
    """`compilemask import`."""

    def test_a_file_becomes_a_mask_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        np.save(tmp_path / "ends.npy", np.array([0, 3, 7]))
        target = tmp_path / "mine.mask"
        assert main(["import", str(tmp_path / "ends.npy"), "--causal", "-o", str(target)]) == 0
        assert "wrote" in capsys.readouterr().err
        assert compile_mask(target).statistics().visible == 6 + 10

    @pytest.mark.parametrize("shape", [(2, 2, 2, 2, 2), (4, 4)])
    def test_a_wrong_file_is_one_message(
        self, shape: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        np.save(tmp_path / "odd.npy", np.full(shape, 3))
        assert main(["import", str(tmp_path / "odd.npy"), "-o", str(tmp_path / "x.mask")]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"compilemask: {tmp_path / 'odd.npy'}")
        assert "Traceback" not in said
        assert not (tmp_path / "x.mask").exists()

    def test_what_could_not_be_read_back_is_not_written(
        self, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "LARGEST_JSON", 2**20)
        np.save(tmp_path / "odd.npy", np.random.default_rng(0).random((800, 800)) < 0.5)
        target = tmp_path / "out" / "x.mask"
        target.parent.mkdir()
        assert main(["import", str(tmp_path / "odd.npy"), "-o", str(target)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"compilemask: {tmp_path / 'odd.npy'}: not imported")
        assert 'file-too-large: "x.rows.json" is larger than 1 MiB' in said
        assert said.count("\n") == 1
        assert not list(target.parent.iterdir())

    def test_more_documents_than_the_language_allows_are_not_written(self, tmp_path: Path, capsys: Capture) -> None:
        np.save(tmp_path / "ends.npy", np.arange(MOST_INSTANCES + 2))
        assert main(["import", str(tmp_path / "ends.npy"), "-o", str(tmp_path / "x.mask")]) == 2
        assert f"{MOST_INSTANCES:,}" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["ends.npy"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("lowest", [False, True])
def test_a_mask_to_add_is_what_it_leaves(dtype: str, lowest: bool, tmp_path: Path, capsys: Capture) -> None:
    cells = np.tri(9, 12, 2, dtype=np.bool_)
    hidden = np.finfo(dtype).min if lowest else -np.inf
    np.save(tmp_path / "added.npy", np.where(cells, 0, hidden).astype(dtype))
    array = read_array(tmp_path / "added.npy")

    assert guess(array) is Form.DENSE
    assert np.array_equal(compiled_from(array, Form.DENSE, tmp_path).dense(), cells)
    assert main(["import", str(tmp_path / "added.npy"), "-o", str(tmp_path / "out.mask")]) == 0
    assert f"a mask to add, read as 0 = visible, {float(hidden):.6g} = hidden" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([[0.0, -1e9]], "float32 values such as -1e+09"),
        ([[-0.5, -np.inf]], "float32 values such as -0.5"),
        ([[-np.inf, -0.5]], "float32 values such as -0.5"),
        ([[1.0, 0.0]], "float32 values such as 1"),
        ([[np.nan, 0.0]], "float32 values such as nan"),
        ([[0.0, np.inf]], "float32 values such as inf"),
        ([[-np.inf, 0.0], [0.0, np.finfo(np.float32).min]], "float32 values both -inf and -3.40282e+38"),
        ([[0.0, 0.0]], "float32 zeros only"),
    ],
)
def test_floats_that_may_be_biases_are_no_mask(values: list[list[float]], told: str, tmp_path: Path) -> None:
    np.save(tmp_path / "biases.npy", np.array(values, np.float32))
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        imported(read_array(tmp_path / "biases.npy"), Form.DENSE, "biases")
    assert "save `x == 0`" in str(caught.value)


def test_floats_that_hide_everything_are_a_mask_that_shows_nothing() -> None:
    assert "rules" in imported(np.full((3, 4), -np.inf), Form.DENSE, "nothing").text
