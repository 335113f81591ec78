"""Tile maps that would take gigabytes are refused in words; the mask itself can be looked at all the same."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask.descriptor import build_descriptor
from compilemask.errors import MaskFileError
from compilemask.intervals import Intervals
from compilemask.pipeline import compile_text
from compilemask.tiles import build_tile_map, limits

NOISE = Intervals.from_dense(np.random.default_rng(5).random((40, 60)) < 0.5)


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("MOST_PIECES_A_ROW", 99, "a row of 8 x 8 tiles has [0-9]+ pieces of runs, at most 99"),
        ("MOST_PIECES", 300, "more than 300 pieces in this order of tokens"),
        ("MOST_PARTIAL", 30, "more than 30 8 x 8 tiles are partial"),
        ("MOST_PATTERNS", 30, "more than 30 partial 8 x 8 tiles differ"),
    ],
)
@pytest.mark.parametrize(
    "order", [None, np.random.default_rng(6).permutation(60)], ids=["as it is", "in another order"]
)
def test_every_limit_has_words(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str, order: np.ndarray | None
) -> None:
    whole = build_tile_map(NOISE, 8, 8, order)
    assert whole.partial_tiles.size == 40

    monkeypatch.setattr(limits, limit, most)
    monkeypatch.setattr("compilemask.tiles.build.RUNS_AT_ONCE", 100)
    with pytest.raises(MaskFileError, match=words):
        build_tile_map(NOISE, 8, 8, order)


TEXT_OF_HEADS = """
param seen per head = [3, 13, 23]
heads 3
layout
    token : 40
rules
    token sees token : causal or k.pos == seen
"""


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("MOST_PARTIAL_TOGETHER", 17, "in all different samples and heads together, more than 17 partial 8 x 8 tiles"),
        ("MOST_PATTERNS_TOGETHER", 7, r"more than 7 partial 8 x 8 tiles that differ within their mask \(2.09e-07 GiB"),
        ("MOST_PATTERN_BYTES", 7 * 32, r"more than 7 partial 8 x 8 tiles that differ within their mask"),
    ],
)
def test_all_heads_together_have_limits_in_words(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str
) -> None:
    compiled = compile_text(TEXT_OF_HEADS)
    assert compiled.descriptor(8, 8).variants == 3
    maps = [compiled.tiles(8, 8, head=head) for head in range(3)]
    assert [one.distinct_partial for one in maps] == [2, 3, 3]
    again = compile_text(TEXT_OF_HEADS)

    monkeypatch.setattr(limits, limit, most)
    with pytest.raises(MaskFileError, match=words):
        again.descriptor(8, 8)
    with pytest.raises(MaskFileError, match=words):
        build_descriptor(maps, compiled.variant)
    assert again.tiles(8, 8, head=2).partial == maps[2].partial


def test_a_mask_of_too_many_tiles_is_warned_of_and_can_be_looked_at() -> None:
    compiled = compile_text(
        "queries\n    a : 50\nkeys\n    b : 200_000\nalign start\nrules\n    a sees b : same (pos % 2)\n"
    )

    assert [found.code for found in compiled.diagnostics] == ["too-many-tiles"]
    assert compiled.rows.row(3)[:2] == ((1, 2), (3, 4))
    with pytest.raises(MaskFileError, match="pieces of runs"):
        compiled.tiles()


def test_an_order_that_cuts_long_runs_into_tokens_is_planned_in_that_order() -> None:
    text = "layout\n    token : 65536\nrules\n    token sees token : causal\norder token stored by pos % 128\n"
    compiled = compile_text(text)

    assert not [found for found in compiled.diagnostics if found.code == "too-many-tiles"]
    assert compiled.rows.row(9) == ((0, 10),)
    # 128 residues of 4 tiles each; a tile sees those of all residues that begin no later
    assert compiled.tiles().visited == 128 * 128 * (1 + 2 + 3 + 4)


def test_too_many_pieces_of_short_runs_are_refused_before_any_tile_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    order = np.random.default_rng(6).permutation(60)
    monkeypatch.setattr(limits, "MOST_PIECES", 300)
    monkeypatch.setattr("compilemask.tiles.build._judge", never)
    with pytest.raises(MaskFileError, match="more than 300 pieces"):
        build_tile_map(NOISE, 8, 8, order)
