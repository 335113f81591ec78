"""Cases about tile maps, batches, heads and very long sequences."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask import pipeline
from compilemask.errors import UsageError
from compilemask.pipeline import CompiledMask
from compilemask.tiles import TileMap
from tests.cases.dense_structures import GROWING, MIXED_HEADS


def counts(tiles: TileMap) -> tuple[int, int, int]:
    """(empty, partial, full) tiles, from the lists: a dense map of a million tokens would be large."""
    rows, columns = -(-tiles.query_length // tiles.block_m), -(-tiles.key_length // tiles.block_n)
    full = int((tiles.full_runs[:, 1] - tiles.full_runs[:, 0]).sum())
    partial = tiles.partial_tiles.size
    return rows * columns - full - partial, partial, full


@pytest.mark.parametrize(
    ("tile", "kinds"),
    [
        (16, [[1, 0], [2, 1]]),
        (8, [[1, 0, 0, 0], [2, 1, 0, 0], [2, 2, 1, 0], [2, 2, 2, 1]]),
        (4, (2 * np.tri(8, dtype=int)).tolist()),
    ],
)
def test_partial_tiles_keep_the_rule_below_them(tile: int, kinds: list[list[int]]) -> None:
    compiled = pipeline.compile("block_causal", length=32, block=4)
    assert compiled.tiles(tile, tile).kinds().tolist() == kinds
    assert compiled.rows.visible == 576


def test_ragged_tiles_are_judged_on_their_cells() -> None:
    documents = pipeline.compile("document_cross", query_lengths=[7, 13], key_lengths=[11, 17])
    assert documents.tiles(8, 8).kinds().tolist() == [[1, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 2]]
    whole = pipeline.compile("document_cross", query_lengths=[20], key_lengths=[28])
    assert whole.tiles(8, 8).kinds().tolist() == [[2] * 4] * 3


def test_equal_heads_share_one_mask() -> None:
    compiled = pipeline.compile_text(MIXED_HEADS, name="heads.mask")
    variant = compiled.variant[0]
    assert variant[0] == variant[2]
    assert len(set(variant.tolist())) == 3
    assert compiled.rows_of(0, 3).visible == 0


def test_a_sample_and_a_head_are_shown_as_asked() -> None:
    compiled = pipeline.compile_text(GROWING, name="growing.mask")
    assert (compiled.batch, compiled.heads) == (2, 3)
    assert (compiled.variant[:, 0] == compiled.variant[:, 1]).all()
    assert (compiled.variant[:, 0] != compiled.variant[:, 2]).all()
    assert compiled.variant[0, 2] != compiled.variant[1, 2]


@pytest.mark.parametrize(
    ("mask", "length", "parameters", "expected"),
    [
        ("causal", 96_000, {}, (280_875, 750, 280_875)),
        ("causal", 2**20, {}, (33_550_336, 8_192, 33_550_336)),
        ("sliding_window", 2**20, {"size": 4096}, (None, 8192 + 8192 - 32, 31 * 8192 - 31 * 32 // 2)),
    ],
)
def test_a_million_tokens_are_counted_from_runs(
    mask: str, length: int, parameters: dict[str, int], expected: tuple[int | None, int, int]
) -> None:
    empty, partial, full = counts(pipeline.compile(mask, params={"length": length} | parameters).tiles(128, 128))
    assert (partial, full) == expected[1:]
    assert expected[0] in (None, empty)


def _pseudo_random_lengths(count: int) -> list[int]:
    state, lengths = 12345, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        lengths.append(16384 + state % 16384)
    return lengths


def test_packed_documents_of_one_training_step() -> None:
    compiled = pipeline.compile("document_causal", documents=_pseudo_random_lengths(32))
    _, partial, full = counts(compiled.tiles(128, 128))
    assert (compiled.query_length, partial, full) == (805_808, 18_430, 628_895)


@pytest.mark.parametrize(
    ("length", "visible"),
    [(320, 7860), (256, 6396), (192, 4728), (128, 2956), (127, 2928), (1, 1), (4097, 104_403), (65_537, 1_670_953)],
)
def test_one_rule_at_many_lengths(length: int, visible: int) -> None:
    compiled = pipeline.compile("chunked_local", length=length, chunk=50, left=[0])
    assert compiled.rows.visible == visible


def test_a_compiled_mask_owns_its_tables() -> None:
    documents = np.array([16, 16])
    compiled = pipeline.compile("document_full", documents=documents)
    before = compiled.dense()
    documents[:] = 8, 24
    assert (compiled.dense() == before).all()
    assert (compiled.tiles(12, 12).kinds() > 0).sum() == 7


def _frame(compiled: CompiledMask, row: int, column: int) -> list[str]:
    """What a screen of 24 x 80 cells shows, from the runs of its rows only."""
    rows = compiled.rows
    lines = []
    for query in range(row, min(row + 24, rows.rows)):
        line = np.zeros(min(column + 80, rows.columns) - column, bool)
        for run in range(rows.offsets[query], rows.offsets[query + 1]):
            line[max(0, rows.starts[run] - column) : max(0, rows.ends[run] - column)] = True
        lines.append("".join("#" if cell else "." for cell in line))
    return lines


def test_a_frame_needs_only_its_own_rows() -> None:
    compiled = pipeline.compile("sliding_window", length=10**6, size=4096)
    last = _frame(compiled, 999_990, 999_960)
    assert (len(last), {len(line) for line in last}) == (10, {40})
    assert _frame(compiled, 500_000, 499_960)[0] == "#" * 41 + "." * 39
    assert _frame(compiled, 500_000, 495_900)[0] == "." * 5 + "#" * 75


@pytest.mark.parametrize(("batch", "head"), [(2, 0), (-1, 0), (0, 3), (0, -1)])
def test_a_sample_and_a_head_outside_are_refused(batch: int, head: int) -> None:
    compiled = pipeline.compile_text(GROWING, name="growing.mask")
    with pytest.raises(UsageError, match=r"growing has [23], numbered 0 to [12]"):
        compiled.rows_of(batch, head)
