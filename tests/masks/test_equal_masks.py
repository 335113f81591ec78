"""Masks that are equal, however written, compile to the same descriptor, bit for bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from compilemask import pipeline
from compilemask.descriptor import Descriptor, TileLists
from tests.masks.predicates import REGISTRY, Parameters

LENGTH = 333
DOCUMENTS = [100, 1, 0, 132, 100]
ROWS = [[[0, row + 1]] for row in range(LENGTH)]
SPLIT_ROWS = [[[row // 2, row + 1], [0, row // 2], [3, 3]] for row in range(LENGTH)]

PAIRS: list[tuple[str, Parameters, str, Parameters]] = [
    ("causal", {"length": LENGTH}, "causal_end", {"new": LENGTH, "total": LENGTH}),
    ("causal", {"length": LENGTH}, "causal_start", {"rows": LENGTH, "columns": LENGTH}),
    ("causal", {"length": LENGTH}, "explicit_intervals", {"rows": ROWS}),
    ("causal", {"length": LENGTH}, "explicit_intervals", {"rows": SPLIT_ROWS}),
    ("causal", {"length": LENGTH}, "block_causal", {"length": LENGTH, "block": 1}),
    ("causal", {"length": LENGTH}, "sliding_window", {"length": LENGTH, "size": LENGTH}),
    ("causal", {"length": LENGTH}, "causal_holes", {"length": LENGTH, "holes": [[10, 90, 90, 300]]}),
    ("strictly_causal", {"length": LENGTH}, "lagged_causal", {"length": LENGTH, "gap": 1}),
    ("sliding_window", {"length": LENGTH, "size": 31}, "sliding_window_behind", {"length": LENGTH, "behind": 30}),
    ("local_window", {"length": LENGTH, "reach": 9}, "local_window_strict", {"length": LENGTH, "size": 10}),
    ("local_window", {"length": LENGTH, "reach": 9}, "local_window_half", {"length": LENGTH, "size": 19}),
    ("document_causal", {"documents": DOCUMENTS}, "document_prefix_lm", {"documents": DOCUMENTS, "prefixes": [1] * 5}),
    ("document_causal", {"documents": DOCUMENTS}, "document_padded", {"documents": DOCUMENTS, "length": LENGTH}),
    (
        "document_causal",
        {"documents": DOCUMENTS},
        "document_padding_joined",
        {"documents": [*DOCUMENTS[:-1], 9], "length": LENGTH},
    ),
    ("document_causal", {"documents": [111] * 3}, "chunked_local", {"length": LENGTH, "chunk": 111, "left": [0]}),
    ("document_full", {"documents": [111] * 3}, "variable_tiles", {"sizes": [111] * 3, "chosen": [[0], [1], [2]]}),
    (
        "gemma3_global",
        {"texts": [50, 33], "images": [200, 50]},
        "transfusion",
        {"texts": [50, 33], "images": [200, 50]},
    ),
    (
        "hstu",
        {"contexts": 20, "history": 213, "targets": 100},
        "hstu_meta",
        {"contexts": 20, "history": 213, "targets": 100, "max_attn_len": None},
    ),
    (
        "dpo",
        {"prompt": 133, "chosen": 100, "rejected": 100},
        "shared_prompt_rm",
        {"prompts": [133], "responses": [[100, 100]]},
    ),
    (
        "prefix_tree",
        {"lengths": [133, 100, 100], "parents": [-1, 0, 0]},
        "shared_prompt_rm",
        {"documents": 1, "prompt": 133, "answers": [100, 100]},
    ),
    ("full", {"length": LENGTH}, "prefix_lm", {"length": LENGTH, "prefix": LENGTH}),
]


def arrays(descriptor: Descriptor) -> dict[str, object]:
    """Every field, the tile lists field by field."""
    found: dict[str, object] = {}
    for field in fields(descriptor):
        value = getattr(descriptor, field.name)
        if isinstance(value, TileLists):
            found |= {f"{field.name}.{part.name}": getattr(value, part.name) for part in fields(value)}
        else:
            found[field.name] = value
    return found


@pytest.mark.parametrize(
    ("first", "sizes", "second", "others"), PAIRS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_equal_masks_have_one_descriptor(first: str, sizes: Parameters, second: str, others: Parameters) -> None:
    one = pipeline.compile(first, params=sizes)
    other = pipeline.compile(second, params=others)
    assert one.rows == other.rows
    for block_m, block_n in ((128, 64), (64, 128)):
        left, right = arrays(one.descriptor(block_m, block_n)), arrays(other.descriptor(block_m, block_n))
        assert left.keys() == right.keys()
        for name, value in left.items():
            np.testing.assert_array_equal(value, right[name], err_msg=name)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("causal", {"length": 4096}),
        ("hstu", {"contexts": 0, "history": 3584, "targets": 512, "group": 1}),
        ("shared_prompt_rm", {"prompts": [256] * 4, "responses": [[128] * 6] * 4}),
        ("clear", {"text": 64, "height": 63, "width": 64, "radius": 16}),
    ],
)
def test_the_four_masks_at_4096_tokens(name: str, parameters: Parameters) -> None:
    compiled = pipeline.compile(name, params=parameters)
    np.testing.assert_array_equal(compiled.dense(), REGISTRY[name].cells(parameters)[0, 0])
