"""Gathering runs in portions gives the mask of all runs, in whatever order they come."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from compilemask.intervals import gathering
from compilemask.intervals.gathering import Gathering
from compilemask.intervals.interval_set import Intervals


@pytest.fixture(params=[(1, 8), (20, 60), (1 << 18, 1 << 21)], autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many runs out of order wait for one another."""
    monkeypatch.setattr(gathering, "LEAST_WAITING", request.param[0])
    monkeypatch.setattr(gathering, "MOST_WAITING", request.param[1])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("order", ["any", "rows ascend", "all ascends", "rows descend"])
def test_portions_in_any_order_give_the_mask_of_all_runs(order: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, columns, count = int(random.integers(1, 40)), int(random.integers(1, 50)), int(random.integers(0, 300))
    row = random.integers(0, rows, count)
    start = random.integers(0, columns, count)
    end = np.minimum(start + random.integers(1, 5, count), columns)
    if order != "any":
        by = np.lexsort((start, row)) if order == "all ascends" else np.argsort(row, kind="stable")
        by = by[::-1] if order == "rows descend" else by
        row, start, end = row[by], start[by], end[by]

    collected = Gathering(rows, columns, count)
    cuts = [0, *sorted(random.integers(0, count + 1, 6).tolist()), count]
    for first, last in pairwise(cuts):
        collected.add(row[first:last], start[first:last], end[first:last])
    mask = collected.mask()

    mask.check()
    assert mask == Intervals.from_runs(rows, columns, row, start, end)
