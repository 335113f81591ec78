"""The cases from practice: exactly the right matrix, and the same kind at other sizes."""

from __future__ import annotations

from random import Random

import pytest

from tests.cases import dense_sequences, dense_structures
from tests.cases.case import DenseCase, four
from tests.masks.comparison import KERNEL_TILES, TINY_TILES, check, check_meaning

CASES = (*dense_sequences.CASES, *dense_structures.CASES)
KINDS = [case for case in CASES if case.kind is not None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_case_comes_out_exactly(case: DenseCase) -> None:
    compiled = case.compile()
    check_meaning(compiled, case.cells())
    check(compiled, case.cells(), (*KERNEL_TILES, *TINY_TILES))


@pytest.mark.parametrize("size", [1, 12, 37, 211])
@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_the_kind_comes_out_at_other_sizes(case: DenseCase, size: int) -> None:
    assert case.kind is not None
    assert case.draw is not None
    parameters = case.draw(Random(f"{case.name} {size}"), size)
    check(case.compile(parameters), four(case.kind(**parameters)), (*KERNEL_TILES, (5, 3)))
