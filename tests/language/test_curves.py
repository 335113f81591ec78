"""Curves of many points at once, against the same functions of one point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.language import effort, functions
from compilemask.language.curves import HILBERT_BITS, hilbert, morton
from compilemask.language.program import Function
from compilemask.pipeline import compile_text


@pytest.mark.parametrize("largest", [0, 1, 2, 3, 16, 255, 256, 257, 1447, (1 << HILBERT_BITS) - 1])
def test_places_are_those_of_single_points(largest: int) -> None:
    random = np.random.default_rng(largest)
    x, y, z = random.integers(0, largest + 1, (3, 60))
    x[0], y[0] = 0, largest
    for function, curve, parts in (
        (Function.HILBERT, hilbert, [y, x]),
        (Function.MORTON, morton, [y, x]),
        (Function.MORTON, morton, [z, y, x]),
    ):
        places = curve(parts)
        assert places is not None
        assert places.tolist() == [functions.call(function, point) for point in np.stack(parts, axis=1).tolist()]


def test_neighbours_on_the_hilbert_curve_are_neighbours_on_the_grid() -> None:
    y, x = (part.ravel() for part in np.indices((512, 512)))
    place = hilbert([y, x])
    assert place is not None
    order = np.argsort(place)
    assert (np.sort(place) == np.arange(512 * 512)).all()
    assert (np.abs(np.diff(y[order])) + np.abs(np.diff(x[order])) == 1).all()


Curve = Callable[..., NDArray[np.int64] | None]


@pytest.mark.parametrize("curve", [hilbert, morton])
def test_points_that_are_not_there_may_lie_anywhere(curve: Curve) -> None:
    y, x, live = np.array([3, -7, 1 << 40]), np.array([5, 2, -1]), np.array([True, False, False])
    found, expected = curve([y, x], live), curve([np.array([3]), np.array([5])])
    assert found is not None
    assert expected is not None
    assert found[0] == expected[0]
    assert curve([y, x]) is None


def test_curves_count_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "layout\n    image : grid(40, 40)\nrules\n    image sees image : causal by hilbert(y, x)\n"
    monkeypatch.setattr(effort, "MOST_STEPS", 40 * 40 * effort.A_CURVE)
    with pytest.raises(MaskFileError, match="steps to compile"):
        compile_text(text)
