"""Tile maps that would take gigabytes are refused in words; the mask itself can be looked at all the same."""

from __future__ import annotations

import numpy as np
import pytest

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
