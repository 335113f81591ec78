"""A token's name leads back to the token."""

import numpy as np
import pytest

from compilemask.errors import UsageError
from compilemask.measure.naming import slot_named, token_name
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline import compile_text

MASKS = ("shared_prompt_rm", "document_few_shot", "block_diffusion", "bagel", "hstu_documents", "left_padding", "dpo")


@pytest.mark.parametrize("mask", MASKS)
def test_every_name_leads_back(mask: str) -> None:
    variant = compile_mask(mask).program.variants[0]

    for axis in (variant.queries, variant.keys):
        real = np.flatnonzero(~axis.padding)
        for slot in real[:: max(1, len(real) // 97)].tolist():
            assert slot_named(axis, token_name(axis, slot)) == slot


ALIKE = {
    "under two that occur once": "left\n        a : 3\n    right\n        a : 2",
    "at two depths": "left\n        a : 3\n        middle\n            a : 2",
    "inside of another of its name": "left\n        a : 3\n    right repeat 2\n        a : 2",
    "two levels below": "left\n        part repeat 2\n            a : 2\n    right\n"
    "        part repeat 1\n            a : 2",
}


@pytest.mark.parametrize("regions", ALIKE.values(), ids=ALIKE.keys())
def test_regions_of_one_name_are_told_apart(regions: str) -> None:
    text = f"layout\n    {regions}\nrules\n    everything sees everything : all\n"
    axis = compile_text(text).program.variants[0].queries

    names = [token_name(axis, slot) for slot in range(axis.length)]
    assert len(set(names)) == axis.length
    assert [slot_named(axis, name) for name in names] == list(range(axis.length))


def test_one_name_in_two_regions_asks_which() -> None:
    text = "layout\n    left\n        a : 3\n    right\n        a : 2\nrules\n    everything sees everything : all\n"
    axis = compile_text(text).program.variants[0].queries

    assert (slot_named(axis, "left.a+2"), slot_named(axis, "right.a+1")) == (2, 4)
    with pytest.raises(UsageError, match=r"which one\? There are left.a, right.a$"):
        slot_named(axis, "a+1")
