"""Every export, read back the way its reader reads it, is the mask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn.attention.flex_attention import flex_attention

from compilemask import library
from compilemask.errors import UsageError
from compilemask.kernel.reference import dense_attention
from compilemask.measure.export import dense, endpoints, figure, flex_module, snippets
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


def flex_cells(module: dict[str, Any], compiled: CompiledMask, batch: int = 0, head: int = 0) -> NDArray[np.bool_]:
    """What `mask_mod` of an exported module says of every cell of a sample and head."""
    visible = module["mask_mod"]("cpu")
    b, h = torch.tensor(batch), torch.tensor(head)
    cells = visible(b, h, torch.arange(compiled.query_length)[:, None], torch.arange(compiled.key_length)[None])
    found: NDArray[np.bool_] = cells.numpy()
    return found


def loaded(text: str) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(compile(text, "flex.py", "exec"), module)
    return module


def visited(mask: NDArray[np.bool_], m: int, n: int) -> NDArray[np.bool_]:
    """Tiles with a visible cell."""
    down = np.logical_or.reduceat(mask, np.arange(0, mask.shape[0], m), axis=0)
    return np.logical_or.reduceat(down, np.arange(0, mask.shape[1], n), axis=1)


SCATTERED = "layout\n    token : 200\nrules\n    token sees token : random(count=60, seed=1) by pos\n"


@pytest.mark.parametrize("name", ["causal", "clear", "flamingo", "scattered", "nothing"])
def test_the_flex_module_stands_alone(name: str) -> None:
    texts = {"scattered": SCATTERED, "nothing": "layout\n    a : 9\nrules\n    a sees a : none\n"}
    compiled = compile_text(texts[name]) if name in texts else small(name)

    module = loaded(flex_module.flex_module(compiled))

    assert np.array_equal(flex_cells(module, compiled), compiled.dense())
    blocks = module["block_mask"]("cpu").to_dense()[0, 0].numpy().astype(bool)
    assert np.array_equal(blocks, visited(compiled.dense(), 128, 128))


TWO_BY_TWO = """
param lengths per batch = [[90, 110], [200], [1, 2, 197]]
heads 2
layout
    document : lengths
rules when head == 0
    document sees document : causal within document
rules when head == 1
    document sees document : window(behind=20, ahead=3)
"""


def test_a_flex_module_holds_every_sample_and_head_or_one_of_them() -> None:
    compiled = compile_text(TWO_BY_TWO)
    assert (compiled.batch, compiled.heads) == (3, 2)

    whole = loaded(flex_module.flex_module(compiled, blocks=(64, 32)))
    blocks = whole["block_mask"]("cpu")
    assert blocks.shape[:2] == (3, 2)
    assert blocks.BLOCK_SIZE == (64, 32)
    for b in range(3):
        one = loaded(flex_module.flex_module(compiled, batch=b))
        for h in range(2):
            dense = compiled.dense(b, h)
            assert np.array_equal(flex_cells(whole, compiled, b, h), dense)
            assert np.array_equal(blocks.to_dense()[b, h].numpy().astype(bool), visited(dense, 64, 32))
            assert np.array_equal(flex_cells(one, compiled, 7, h), dense)
            single = loaded(flex_module.flex_module(compiled, batch=b, head=h))
            assert np.array_equal(flex_cells(single, compiled, 7, 9), dense)
            assert single["block_mask"]("cpu").shape[:2] == (1, 1)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_takes_the_module() -> None:
    compiled = compile_text(TWO_BY_TWO)
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(3, 2, 200, 16, generator=generator) for _ in range(3))
    visible = torch.from_numpy(np.stack([[compiled.dense(b, h) for h in range(2)] for b in range(3)]))

    out = flex_attention(q, k, v, block_mask=loaded(flex_module.flex_module(compiled))["block_mask"]("cpu"))

    assert isinstance(out, torch.Tensor)
    assert torch.allclose(out.double(), dense_attention(q, k, v, visible).out, atol=1e-5)


@pytest.mark.parametrize(("limit", "words"), [("MOST_RUNS", "runs of keys, at most 3"), ("MOST_TILES", "--block-m")])
def test_a_flex_module_has_limits_in_words(monkeypatch: pytest.MonkeyPatch, limit: str, words: str) -> None:
    monkeypatch.setattr(flex_module, limit, 3)

    with pytest.raises(UsageError, match=words):
        flex_module.flex_module(compile_mask("causal", params={"length": 1000}))


def test_endpoints_of_one_sample_and_head() -> None:
    compiled = compile_text(TWO_BY_TWO)

    whole = endpoints.flashmask_indices(compile_text(TWO_BY_TWO.replace("window(behind=20, ahead=3)", "causal")))
    assert whole.shape == (3, 2, 200, 4)
    of_sample = endpoints.cudnn_mask_func(compiled, 1)
    assert np.array_equal(endpoints.cudnn_mask_func(compiled, 1, 1), of_sample[1:])
    assert np.array_equal(of_sample[0, 0], np.arange(1, 201))


def test_the_python_snippet_compiles_the_same_mask() -> None:
    text = snippets.python_snippet(small("causal"), "causal", {"length": 77})
    names: dict[str, Any] = {}

    exec("\n".join(line for line in text.splitlines() if not line.startswith("out")), names)

    assert names["mask"].query_length == 77
    assert "cm.attention(q, k, v, mask)" in text


def test_the_python_snippet_gives_the_sizes_of_now_and_the_shapes_of_the_tensors() -> None:
    text = snippets.python_snippet(compile_mask("document_cross"), "document_cross", {})
    assert "# q: [batch, heads, 640, head_dim]   k, v: [batch, heads, 1024, head_dim]\n" in text
    assert "# enable_gqa=True where k and v have fewer heads\n" in text
    rewarding = compile_mask("shared_prompt_rm", prompt=64)
    text = snippets.python_snippet(rewarding, "shared_prompt_rm", {"prompt": 64})
    assert 'cm.compile("shared_prompt_rm", documents=4, answers=[1024] * 6, prompt=64)' in text
    names: dict[str, Any] = {}
    exec(text.partition("# q")[0], names)
    assert names["mask"].query_length == rewarding.query_length


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
