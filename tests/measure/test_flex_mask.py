"""What FlexAttention is given is the same mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention
from torch.overrides import TorchFunctionMode

from compilemask import library
from compilemask.kernel.reference import dense_attention
from compilemask.measure.flex_mask import block_mask, mask_mod
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline import compile_text

ZERO = torch.zeros((), dtype=torch.int64)


@pytest.mark.parametrize("name", library.names())
def test_the_predicate_of_every_library_mask_is_the_mask(name: str) -> None:
    compiled = compile_mask(name)
    rows = np.unique(np.random.default_rng(3).integers(0, compiled.query_length, 16))
    visible = mask_mod(compiled, "cpu")

    found = visible(ZERO, ZERO, torch.from_numpy(rows)[:, None], torch.arange(compiled.key_length)[None, :])

    expected = compiled.rows.select(rows).to_dense()
    assert np.array_equal(np.broadcast_to(found.numpy(), expected.shape), expected)


MASK = """
param lengths = [100, 150, 50]
layout
    document : lengths
rules
    document sees document : causal within document
    document cannot see document : same document and k.at == 3
"""


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_gives_the_same_output() -> None:
    compiled = compile_text(MASK)
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 1, 300, 16, generator=generator) for _ in range(3))
    visible = torch.from_numpy(compiled.dense())[None, None]

    out = flex_attention(q, k, v, block_mask=block_mask(compiled, "cpu"))

    assert isinstance(out, torch.Tensor)
    assert torch.allclose(out.double(), dense_attention(q, k, v, visible).out, atol=1e-5)


SCATTERED = "layout\n    token : 600\nrules\n    token sees token : random(count=150, seed=1) by pos\n"


def test_scattered_keys_are_searched_for_in_a_few_steps() -> None:
    compiled = compile_text(SCATTERED)
    assert compiled.rows.runs_per_row().max() > 100
    operators: list[str] = []

    class Recorded(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            operators.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    visible = mask_mod(compiled, "cpu")
    with Recorded():
        found = visible(ZERO, ZERO, torch.arange(600)[:, None], torch.arange(600)[None])

    assert np.array_equal(found.numpy(), compiled.dense())
    assert len(operators) < 100
