"""Long runs that many rows share are moved once; the moved mask is that of its cells."""

from __future__ import annotations

import numpy as np
import pytest

from compilemask.intervals import Intervals
from compilemask.intervals.moving import MovedColumns


@pytest.mark.parametrize("seed", range(4))
def test_shared_long_runs_are_moved_like_their_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = 63, 1000
    mask = rng.random((rows, columns)) < 0.3
    mask[:40] = False
    mask[:20, 100:900] = True
    mask[20:30] = True
    mask[30:34, 500:600] = True
    mask[31, 503] = False
    order = rng.permutation(columns) if seed % 2 else np.arange(columns).reshape(50, 20).T.reshape(-1)
    still = Intervals.from_dense(mask)
    own, _, _ = still.pieces(MovedColumns(order))
    assert still.pieces_made(order) == own.size
    moved = still.permute_columns(order)
    moved.check()
    assert moved == Intervals.from_dense(mask[:, order])


def test_too_many_long_runs_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = 1000
    mask = np.repeat(np.tri(40, columns, 900, dtype=np.bool_), 20, axis=0)  # 40 different runs, each in 20 rows
    order = np.random.default_rng(3).permutation(columns)
    still, moved = Intervals.from_dense(mask), Intervals.from_dense(mask[:, order])
    looked_at, left = MovedColumns(order), MovedColumns(order)

    assert looked_at.made(still.starts, still.ends) == moved.runs
    monkeypatch.setattr("compilemask.intervals.moving.MOST_MOVED", int(mask[::20].sum()) - 1)
    assert left.made(still.starts, still.ends) > moved.runs
    assert not left._long
    assert still.permute_columns(order) == moved


@pytest.mark.parametrize("columns", [1, 2, 63, 1000])
def test_columns_that_come_backwards_cut_no_run(columns: int) -> None:
    rng = np.random.default_rng(columns)
    mask = rng.random((63, columns)) < 0.4
    mask[:30, 1:] |= mask[:30, :-1]
    still = Intervals.from_dense(mask)

    assert still.pieces_made(np.arange(columns)[::-1]) == still.runs
    mixed = np.concatenate((np.arange(columns)[columns // 2 :: -1], np.arange(columns // 2 + 1, columns)))
    for order in (np.arange(columns)[::-1], mixed, np.roll(mixed, 7)):
        moved = still.permute_columns(order)
        moved.check()
        assert moved == Intervals.from_dense(mask[:, order])


def test_masks_clipped_to_one_run_a_row_are_those_of_their_cells() -> None:
    rng = np.random.default_rng(7)
    mask = rng.random((111, 63)) < 0.4
    low, high = rng.integers(0, 63, 111), rng.integers(0, 64, 111)
    window = (np.arange(63) >= low[:, None]) & (np.arange(63) < high[:, None])
    one, other = Intervals.from_dense(mask), Intervals.from_dense(window)
    assert one.intersection(other) == other.intersection(one) == Intervals.from_dense(mask & window)
    assert one.intersection(Intervals.empty(111, 63)) == Intervals.empty(111, 63)
