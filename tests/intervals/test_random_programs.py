"""Random mask files: the lowering in row and in column form against the definition, cell by cell."""

from __future__ import annotations

from contextlib import suppress
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, given, settings

from compilemask.errors import MaskFileError
from compilemask.intervals import Intervals, lowering
from compilemask.intervals.plan import Plan
from compilemask.intervals.solve import Form, Solver
from compilemask.language import meaning
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.binder import bind
from compilemask.language.parser import parse
from compilemask.language.program import Program
from compilemask.source import Source
from tests.intervals.random_programs import mask_texts


def in_columns(solver: Solver, painted: list[lowering._Painted]) -> tuple[Form, list[Plan], bool]:
    """Every rule planned in column form, whatever it costs."""
    return Form.COLUMN, [solver.plan(one.term, one.queries, one.keys, Form.COLUMN) for one in painted], False


def definition(program: Program) -> np.ndarray | None:
    """The mask cell by cell; None where a rule has no value for a cell."""
    try:
        return meaning.dense(program)
    except (EvaluationError, MaskFileError):
        return None


def lowered(program: Program) -> tuple[Intervals, Intervals]:
    """Rows by the form that costs less, and columns by the column form."""
    rows = lowering.lower_variant(program.variants[0]).rows()
    with patch.object(lowering, "_cheaper_form", in_columns):
        return rows, lowering.lower_variant(program.variants[0]).columns()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mask_texts())
def test_both_forms_agree_with_the_definition(text: str) -> None:
    try:
        program = bind(parse(Source("random", text)))
    except MaskFileError:
        return  # the generator does not know every rule of the binder
    expected = definition(program)
    if expected is None:
        with suppress(MaskFileError):  # the compiler may never look at the cell that has no value
            lowered(program)
        return

    rows, columns = lowered(program)

    rows.check()
    columns.check()
    np.testing.assert_array_equal(rows.to_dense(), expected)
    assert columns.transpose() == rows
