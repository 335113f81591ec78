"""Axis tables against a walk through the layout, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compilemask.language.axis import Axis, CoordinateKind
from tests.language.binding import bound

Item = tuple[str, Any]


@dataclass(frozen=True)
class Walked:
    """What the walk knows of a token: its regions from the outside in as (name, number, at), and their sizes."""

    path: tuple[tuple[str, int, int], ...]
    sizes: tuple[int, ...]


def walk(items: Sequence[Item]) -> list[Walked | None]:
    """All tokens of a block; None is padding."""
    numbers: dict[str, int] = {}
    tokens: list[Walked | None] = []
    for name, content in items:
        if name == "padding":
            tokens += [None] * int(str(content))
            continue
        instances = content if isinstance(content, list) else [content]
        for instance in instances:
            number = numbers.get(name, 0)
            numbers[name] = number + 1
            inner = [Walked((), ())] * instance if isinstance(instance, int) else walk(instance)
            size = sum(token is not None for token in inner)
            at = 0
            for token in inner:
                tokens.append(token and Walked(((name, number, at), *token.path), (size, *token.sizes)))
                at += token is not None
    return tokens


def text_of(items: list[Item], indent: str) -> str:
    """The layout as text."""
    lines = []
    for name, content in items:
        if isinstance(content, tuple):
            lines.append(f"{indent}{name}\n{text_of(list(content), indent + '    ')}")
        else:
            lines.append(f"{indent}{name} : {content}\n")
    return "".join(lines)


SIZES = st.integers(0, 3)
LEAVES = st.tuples(st.sampled_from(["a", "b"]), st.one_of(SIZES, st.lists(SIZES, max_size=3)))
PADDING = st.tuples(st.just("padding"), SIZES)
INNER = st.lists(st.one_of(LEAVES, PADDING), min_size=1, max_size=3).map(tuple)
GROUPS = st.tuples(st.sampled_from(["g", "h"]), INNER)
LAYOUTS = st.lists(st.one_of(LEAVES, PADDING, GROUPS), min_size=1, max_size=5)


def axis_of(items: list[Item]) -> Axis:
    """The bound axis of a layout."""
    text = f"layout\n{text_of(items, '    ')}    z : 1\nrules\n    z sees z : all\n"
    return bound(text).variants[0].keys


@settings(max_examples=150, deadline=None)
@given(LAYOUTS)
def test_columns_are_what_a_walk_finds(items: list[Item]) -> None:
    axis = axis_of(items)
    tokens = walk([*items, ("z", 1)])

    assert axis.length == len(tokens)
    real = 0
    for slot, token in enumerate(tokens):
        path = token.path if token is not None else ()
        assert axis.path_of(slot) == path
        assert bool(axis.padding[slot]) == (token is None)
        sizes = token.sizes if token is not None else ()
        held = {name: (number, at, size) for (name, number, at), size in zip(path, sizes, strict=True)}
        for region in axis.regions:
            kinds = (CoordinateKind.NUMBER, CoordinateKind.AT, CoordinateKind.SIZE)
            found = tuple(axis.value(kind, region, slot) for kind in kinds)
            assert found == held.get(region, (None, None, None))
        assert axis.value(CoordinateKind.AT, None, slot) == (path[-1][2] if path else None)
        assert axis.value(CoordinateKind.AT, "everything", slot) == (real if token is not None else None)
        real += token is not None


Path = tuple[tuple[str, int, int], ...]


def parent_of(path: Path, region: str) -> tuple[tuple[str, int], ...] | None:
    """The numbers of the regions around the token's instance of `region`; None if it has none."""
    names = [name for name, _, _ in path]
    if region not in names:
        return None
    return tuple((name, number) for name, number, _ in path[: names.index(region)])


@settings(max_examples=60, deadline=None)
@given(LAYOUTS)
def test_parents_and_siblings(items: list[Item]) -> None:
    axis = axis_of(items)
    paths = [axis.path_of(slot) for slot in range(axis.length)]
    for region in axis.regions:
        parents = [parent_of(path, region) for path in paths]
        siblings = axis.siblings(region)
        for i, parent in enumerate(parents):
            same = [parent is not None and parent == other for other in parents]
            assert ((siblings == siblings[i]) & (siblings >= 0)).tolist() == same
        for around in axis.encloses(region):
            expected = [dict(parent).get(around, -1) if parent is not None else -1 for parent in parents]
            assert axis.enclosing(region, around).tolist() == expected


def test_grid_coordinates() -> None:
    axis = (
        bound("layout\n    a : 1\n    v : [grid(2, 2, 3), grid(1, 2, 1)]\nrules\n    a sees a : all\n").variants[0].keys
    )
    columns = [axis.column(kind) for kind in (CoordinateKind.T, CoordinateKind.Y, CoordinateKind.X)]
    expected = [*np.ndindex(2, 2, 3), *np.ndindex(1, 2, 1)]

    assert [tuple(int(column.values[slot]) for column in columns) for slot in range(1, 15)] == expected
    assert all(column.present is not None and not column.present[0] and column.present[1:].all() for column in columns)


def test_a_picked_axis_keeps_the_numbers_of_the_whole() -> None:
    text = "layout\n    a : [3, 2]\nqueries are a where at == 1\nrules\n    a sees a : all\n"
    axis = bound(text).variants[0].queries

    assert axis.length == 2
    assert axis.column(CoordinateKind.INDEX).values.tolist() == [0, 1]
    assert axis.column(CoordinateKind.POS).values.tolist() == [1, 4]
    assert axis.column(CoordinateKind.NUMBER, "a").values.tolist() == [0, 1]
    assert axis.column(CoordinateKind.SIZE, "a").values.tolist() == [3, 2]
