"""Hypothesis strategies shared by the compiler's tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

DenseMask = NDArray[np.bool_]


@st.composite
def dense_masks(draw: st.DrawFn, rows: int | None = None, columns: int | None = None, largest: int = 40) -> DenseMask:
    """Small boolean masks: noise of any density, or rectangles, which make long runs and full tiles."""
    height = draw(st.integers(0, largest)) if rows is None else rows
    width = draw(st.integers(0, largest)) if columns is None else columns
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    if draw(st.booleans()):
        return generator.random((height, width)) < draw(st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]))
    mask = np.zeros((height, width), np.bool_)
    for _ in range(draw(st.integers(0, 6))):
        top, bottom = sorted(generator.integers(0, height + 1, 2))
        left, right = sorted(generator.integers(0, width + 1, 2))
        mask[top:bottom, left:right] ^= True
    return mask


@st.composite
def mask_pairs(draw: st.DrawFn) -> tuple[DenseMask, DenseMask]:
    """Two masks of one shape."""
    rows, columns = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    return draw(dense_masks(rows, columns)), draw(dense_masks(rows, columns))
