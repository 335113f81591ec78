"""Which samples, heads and tokens of a mask a reduced mask has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilemask import library
from compilemask.intervals.order import inverse
from compilemask.measure.groups import Table, groups
from compilemask.measure.places import places
from compilemask.measure.reduced_mask import INTERPRETED_SIZE, grouped_mask, reduced_masks
from compilemask.pipeline import compile as compile_mask
from compilemask.pipeline import compile_text

ORDERED = [name for name in library.names() if compile_mask(name).order.moves]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """[samples, heads] numbers, numbered in the order in which they occur first."""
    samples, heads, kinds = draw(st.integers(1, 5)), draw(st.integers(1, 6)), draw(st.integers(1, 30))
    numbers = draw(st.lists(st.integers(0, kinds), min_size=samples * heads, max_size=samples * heads))
    known = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    return np.array([known[number] for number in numbers], np.int32).reshape(samples, heads)


@given(tables())
def test_every_distinct_mask_is_in_a_call_and_no_axis_is_alike_that_could_differ(table: Table) -> None:
    found = groups(table, int(table.max()) + 1)

    parts = [table[np.ix_(group.samples, group.heads)] for group in found]
    assert {number for part in parts for number in part.ravel().tolist()} == set(table.ravel().tolist())
    assert all(part.size <= 4 for part in parts)
    assert len(found) <= table.max() + 1
    heads_differ, samples_differ = (table != table[:, :1]).any(), (table != table[:1]).any()
    for group, part in zip(found, parts, strict=True):
        assert list(group.samples) == sorted(set(group.samples))
        assert list(group.heads) == sorted(set(group.heads))
        assert bool((part != part[:, :1]).any()) or not heads_differ or bool(samples_differ)
        assert part.shape[0] > 1 or not samples_differ
        assert part.shape[1] > 1 or not heads_differ


def test_sixteen_masks_of_heads_take_four_calls() -> None:
    assert [group.heads for group in groups(np.arange(16, dtype=np.int32)[None], 16)] == [
        (0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11), (12, 13, 14, 15),
    ]  # fmt: skip
    assert [(group.samples, group.heads) for group in groups(np.array([[0, 1], [1, 0]], np.int32), 2)] == [
        ((0, 1), (0, 1))
    ]


@pytest.mark.parametrize("name", ORDERED)
def test_the_pieces_of_an_ordered_mask_are_in_an_order_that_is_not_its_own_inverse(name: str) -> None:
    mask = compile_mask(name)
    found = places(mask, mask.descriptor())

    for reduced in (reduced_masks(found, 1, INTERPRETED_SIZE)[0], grouped_mask(found, 96, 64)):
        for tokens, order, whole in (
            (reduced.queries, reduced.order.queries, mask.order.queries),
            (reduced.keys, reduced.order.keys, mask.order.keys),
        ):
            assert order is not None
            assert whole is not None
            assert (order != inverse(order)).any()
            slots = inverse(whole)
            assert slots is not None
            assert (np.diff(slots[tokens[order]]) > 0).all()
            assert len(tokens) <= INTERPRETED_SIZE
            assert (tokens[0], tokens[-1]) == (0, len(whole) - 1)


def test_pieces_lie_around_the_borders_of_every_sample() -> None:
    text = "param long per batch = [300, 700]\nlayout\n    a : long\n    b : 1000 - long\nrules\n    a sees a : all\n"
    mask = compile_text(text)

    (reduced,) = reduced_masks(places(mask, mask.descriptor()), 2, INTERPRETED_SIZE)

    assert {0, 299, 300, 699, 700, 999} <= set(reduced.queries.tolist())
    assert reduced.visible.shape == (2, 1, len(reduced.queries), len(reduced.keys))
    assert (reduced.place(1, 0).batch, reduced.place(1, 5).head) == (1, 0)
