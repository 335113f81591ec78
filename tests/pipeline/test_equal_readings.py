"""One mask said in several ways: as rules, as operators, by hiding, by limits and as a table; one descriptor."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilemask.descriptor import Descriptor
from compilemask.errors import MaskFileError
from compilemask.pipeline import CompiledMask, compile_text
from tests.intervals.random_programs import LAYOUTS, Layout, file_of, relations

WHOLE = "everything {} everything : {}"


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Layout, str, str]:
    """A layout and two relations on it."""
    layout = draw(st.sampled_from(LAYOUTS))
    return layout, draw(relations(layout, 1)), draw(relations(layout, 1))


def unions(r: str, s: str) -> list[list[str]]:
    """Ways to say: r or s."""
    return [
        [WHOLE.format("sees", f"({r}) or ({s})")],
        [WHOLE.format("sees", s), WHOLE.format("sees", r)],
        [WHOLE.format("sees", f"not (not ({r}) and not ({s}))")],
        [WHOLE.format("sees", "all"), WHOLE.format("cannot see", f"not (({s}) or ({r}))")],
        [WHOLE.format("sees", "all"), f"limit : ({r}) or ({s})"],
    ]


def differences(r: str, s: str) -> list[list[str]]:
    """Ways to say: r but not s."""
    return [
        [WHOLE.format("sees", f"({r}) except ({s})")],
        [WHOLE.format("sees", f"({r}) and not ({s})")],
        [WHOLE.format("sees", r), WHOLE.format("cannot see", s)],
        [WHOLE.format("sees", r), f"limit : not ({s})"],
        [WHOLE.format("sees", "none if false else all"), WHOLE.format("cannot see", f"({s}) or not ({r})")],
    ]


def bits(descriptor: Descriptor) -> dict[str, bytes]:
    """Every array of a descriptor, those of its lists too."""
    found: dict[str, bytes] = {}
    for owner, prefix in ((descriptor, ""), (descriptor.by_query, "by_query."), (descriptor.by_key, "by_key.")):
        for field in fields(owner):
            value = getattr(owner, field.name)
            if isinstance(value, np.ndarray):
                found[prefix + field.name] = repr(value.shape).encode() + value.tobytes()
    return found


def as_a_table(layout: Layout, compiled: CompiledMask) -> CompiledMask:
    """The same mask as a list of intervals, one entry per query slot."""
    rows = [[list(run) for run in compiled.rows.row(query)] for query in range(compiled.query_length)]
    return compile_text(file_of(layout, [WHOLE.format("sees", f"intervals({rows}) by index")]))


@pytest.mark.parametrize("ways", [unions, differences])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pairs())
def test_one_mask_has_one_descriptor_however_it_is_said(ways: object, pair: tuple[Layout, str, str]) -> None:
    layout, r, s = pair
    assert callable(ways)
    masks = []
    for rules in ways(r, s):
        try:
            masks.append(compile_text(file_of(layout, rules)))
        except MaskFileError:
            return  # the generator does not know every rule of the binder
    masks.append(as_a_table(layout, masks[0]))

    for block_m, block_n in ((8, 8), (128, 64)):
        first, *others = (bits(mask.descriptor(block_m, block_n)) for mask in masks)
        assert len(first) > 10
        assert all(other == first for other in others)
