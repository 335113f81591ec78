"""Masks kept as unions of few different rows: the same mask, and the same tile map, as the list of all runs gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from compilemask import pipeline
from compilemask.errors import MaskFileError
from compilemask.intervals import Intervals, boxes, grid_requests, join, layers, lowering, plan, requests, specials
from compilemask.intervals.layers import Repeated
from compilemask.intervals.solve import Form
from compilemask.language import effort
from compilemask.language.binder import bind
from compilemask.language.parser import parse
from compilemask.pipeline.compiled import tiles_in_order
from compilemask.pipeline.order import token_order
from compilemask.source import Source
from compilemask.tiles import build_tile_map
from tests.intervals.random_programs import mask_texts
from tests.intervals.test_random_programs import definition, in_columns
from tests.tiles.test_layered import check_equal


@contextmanager
def small_masks_too() -> Iterator[None]:
    """Layers of masks of any size, rows of a kind told from one another however few they are, and small portions."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(join, "RUNS_REPEATED", 0)
        for module in (join, layers, boxes, specials):
            changed.setattr(module, "ROWS_A_KIND", 1)
        changed.setattr(layers, "RUNS_A_KEPT_RUN", 0)
        changed.setattr(join, "RUNS_AT_ONCE", 3)
        changed.setattr(join, "RUNS_A_REQUEST", 0)
        changed.setattr(requests, "REQUESTS_AT_ONCE", 2)
        changed.setattr(grid_requests, "CELLS_AT_ONCE", 5)
        yield


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mask_texts(), st.sampled_from([(3, 4), (8, 5), (16, 16)]), st.booleans())
def test_layers_of_random_files_are_the_mask_of_the_definition(
    text: str, blocks: tuple[int, int], columns: bool
) -> None:
    try:
        program = bind(parse(Source("random", text)))
    except MaskFileError:
        return  # the generator does not know every rule of the binder
    expected = definition(program)
    if expected is None:
        return
    variant = program.variants[0]
    with small_masks_too(), patch.object(lowering, "_cheaper_form", in_columns if columns else lowering._cheaper_form):
        lowered = lowering.lower_variant(variant)

    assert lowered.rows() == Intervals.from_dense(expected)
    if lowered.layers:
        assert layers.united(lowered.layers) == lowered.intervals
    order = token_order(variant)
    dense = expected if order.queries is None else expected[order.queries]
    dense = dense if order.keys is None else dense[:, order.keys]
    check_equal(tiles_in_order(lowered, order, *blocks), build_tile_map(Intervals.from_dense(dense), *blocks))


AXIAL = """
layout
    text  : 5
    image : grid(32, 40)
rules
    image      sees image : same y or same x
    everything sees text  : all
order image stored by (y // 4, x // 4)
"""


def test_rows_and_columns_of_an_image_are_kept_as_the_different_rows_of_each() -> None:
    compiled = pipeline.compile_text(AXIAL)
    (kept,) = compiled.kept

    assert kept.form is Form.ROW
    assert sorted(layer.different.rows for layer in kept.layers if isinstance(layer, Repeated)) == [33, 41]
    check_equal(compiled.tiles(16, 16), build_tile_map(compiled.order.move(compiled.rows), 16, 16))


@pytest.mark.parametrize("blocks", [(64, 64), (128, 64), (128, 128), (64, 128)])
@pytest.mark.parametrize("order", ["", "order image stored by (y // 8, x // 8)", "order everything stored by pos % 7"])
def test_layers_of_ragged_images_give_the_tiles_of_their_cells(order: str, blocks: tuple[int, int]) -> None:
    text = AXIAL[: AXIAL.index("order")].replace("grid(32, 40)", "grid(37, 43)")
    compiled = pipeline.compile_text(text + order + "\n")
    (kept,) = compiled.kept
    dense = meaning_of_axial(5, 37, 43)

    assert len(kept.layers) == 2
    np.testing.assert_array_equal(compiled.dense(), dense)
    dense = dense if compiled.order.queries is None else dense[compiled.order.queries][:, compiled.order.keys]
    check_equal(compiled.tiles(*blocks), build_tile_map(Intervals.from_dense(dense), *blocks))


def meaning_of_axial(text: int, height: int, width: int) -> NDArray[np.bool_]:
    """An image token sees its row and its column; everybody sees the text."""
    y, x = np.divmod(np.arange(height * width), width)
    dense = np.zeros((text + y.size, text + y.size), np.bool_)
    dense[text:, text:] = (y[:, None] == y) | (x[:, None] == x)
    dense[:, :text] = True
    return dense


def test_what_a_later_rule_hides_is_not_in_the_layers() -> None:
    hidden = "    image cannot see image : window(behind=3, ahead=3)\n    image sees image : self\norder"
    with small_masks_too():
        compiled = pipeline.compile_text(AXIAL.replace("order", hidden))
    (kept,) = compiled.kept

    assert len(kept.layers) > 1
    assert layers.united(kept.layers) == kept.intervals == compiled.rows
    assert not any(compiled.rows.contains(row, row + 1) for row in range(5, 1284))
    check_equal(compiled.tiles(16, 16), build_tile_map(compiled.order.move(compiled.rows), 16, 16))


BLOCKS = """
layout
    token : 64 * 32
rules
    token sees token : random(count=8, seed=1) by (pos // 32)
"""


def test_queries_of_one_block_draw_once_and_are_refused_by_all_their_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pipeline.compile_text(BLOCKS).rows

    assert rows == rows.select(np.arange(rows.rows) // 32 * 32)
    assert rows.runs > 6 * rows.rows
    monkeypatch.setattr(plan, "MOST_RUNS", rows.runs - 1)
    with pytest.raises(MaskFileError, match=f"some {rows.runs:,} runs"):
        pipeline.compile_text(BLOCKS)


def test_masks_of_one_run_a_row_are_told_by_their_different_rows() -> None:
    mask = np.zeros((40, 7), np.bool_)
    mask[2:30:2, 1:4] = True
    found = Repeated.among(Intervals.from_dense(mask))

    assert found is not None
    assert found.different.rows == 2
    assert found.mask() == Intervals.from_dense(mask)
    mask[20, 6] = True
    assert Repeated.among(Intervals.from_dense(mask)) is None


def test_copying_rows_and_putting_runs_in_counts_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Repeated(Intervals.from_dense(np.arange(64)[None, :] % 2 == 0), np.zeros(100, np.int32))
    whole, few = many.mask(), Intervals.from_bounds(64, np.arange(100) % 64, np.arange(100) % 64 + 1)
    monkeypatch.setattr(effort, "MOST_STEPS", 6000)
    for work in (many.mask, lambda: whole.union(few)):
        with effort.limited(), pytest.raises(MaskFileError, match="steps to compile"):
            work()
