"""Every export, read back the way its reader reads it, is the mask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from compilemask import library
from compilemask.errors import UsageError
from compilemask.measure.export import dense, endpoints, figure, snippets
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.pipeline import compile as compile_mask

SOME = ["causal", "clear", "document_causal", "hstu", "shared_prompt_rm", "flamingo", "document_batch", "natten_2d"]


def small(name: str) -> CompiledMask:
    """A library mask of at most a few thousand tokens."""
    sizes = {"shared_prompt_rm": {"documents": 2, "prompt": 70, "answers": [33, 1, 60]}}
    return compile_mask(name, params=sizes.get(name, {}))


@pytest.mark.parametrize("name", SOME)
def test_cudnn_endpoints_are_the_mask(name: str) -> None:
    compiled = small(name)

    values = endpoints.cudnn_mask_func(compiled)

    assert values.dtype == np.int32
    assert values.shape[1] % 2 == 1
    assert (np.diff(values, axis=1) >= 0).all()
    key = np.arange(compiled.key_length)
    for head in range(compiled.heads):
        borders = values[head]
        seen = key[None] < borders[0][:, None]
        for first, last in zip(borders[1::2], borders[2::2], strict=True):
            seen |= (key[None] >= first[:, None]) & (key[None] < last[:, None])
        assert np.array_equal(seen, compiled.dense(0, head))


@pytest.mark.parametrize("name", ["causal", "document_causal", "shared_prompt_rm", "flamingo", "document_batch"])
def test_flashmask_indices_are_the_mask(name: str) -> None:
    compiled = small(name)

    values = endpoints.flashmask_indices(compiled)

    query = np.arange(compiled.query_length)[:, None]
    for batch in range(compiled.batch):
        for head in range(compiled.heads):
            r0, r1, r2, r3 = values[batch, head].T[:, None, :]
            hidden = ((query >= r0) & (query < r1)) | ((query >= r2) & (query < r3))
            assert np.array_equal(~hidden, compiled.dense(batch, head))


def test_flashmask_names_the_key_that_it_cannot_say() -> None:
    with pytest.raises(UsageError, match="at most two stretches of queries per key; key 5 of"):
        endpoints.flashmask_indices(
            compile_text("layout\n    token : 9\nrules\n    token sees token : q.at in [1, 4, 7] or k.at != 5\n")
        )


@pytest.mark.parametrize("name", ["causal", "clear", "flamingo"])
def test_the_flex_module_stands_alone(name: str, tmp_path: Path) -> None:
    compiled = small(name)
    module: dict[str, Any] = {}

    exec(compile(snippets.flex_module(compiled), "flex.py", "exec"), module)

    visible = module["mask_mod"]("cpu")
    zero = torch.zeros((), dtype=torch.int64)
    cells = visible(zero, zero, torch.arange(compiled.query_length)[:, None], torch.arange(compiled.key_length)[None])
    assert np.array_equal(cells.numpy(), compiled.dense())
    blocks = module["block_mask"]("cpu").to_dense()[0, 0].numpy().astype(bool)
    tiles = compiled.dense()
    expected = np.logical_or.reduceat(
        np.logical_or.reduceat(tiles, np.arange(0, tiles.shape[0], 128), axis=0),
        np.arange(0, tiles.shape[1], 128),
        axis=1,
    )
    assert np.array_equal(blocks, expected)


def test_the_python_snippet_compiles_the_same_mask() -> None:
    text = snippets.python_snippet(small("causal"), "causal", {"length": 77})
    names: dict[str, Any] = {}

    exec("\n".join(line for line in text.splitlines() if not line.startswith("out")), names)

    assert names["mask"].query_length == 77
    assert "cm.attention(q, k, v, mask)" in text


def read_dense(compiled: CompiledMask, path: Path) -> NDArray[np.bool_]:
    dense.write(compiled, path)
    found: NDArray[np.bool_] = np.load(path)
    return found


@pytest.mark.parametrize("name", SOME)
def test_dense_is_the_mask(name: str, tmp_path: Path) -> None:
    compiled = small(name)

    assert np.array_equal(read_dense(compiled, tmp_path / "mask.npy"), compiled.dense())


def test_dense_has_a_limit_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"takes 1,024 GiB; at most 16"):
        dense.write(compile_mask("causal", params={"length": 2**20}), tmp_path / "mask.npy")

    assert not (tmp_path / "mask.npy").exists()


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_have_the_format_of_their_name(suffix: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"mask.{suffix}"

    figure.write(small("document_causal"), path)

    assert path.read_bytes().startswith(start)


def test_the_names_used_here_are_in_the_library() -> None:
    assert set(SOME) <= set(library.names())
