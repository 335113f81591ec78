"""Every example file: intervals, both forms, tiles and descriptor against the definition, cell by cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compilemask.intervals import lowering
from compilemask.intervals.plan import Plan
from compilemask.intervals.solve import Form, Solver
from compilemask.language import meaning
from compilemask.pipeline import CompiledMask, compile_file
from tests import oracles

EXAMPLES = sorted((Path(__file__).parent.parent / "language" / "examples").glob("*.mask"))
BLOCKS = ((16, 16), (7, 12))
CELLS = 800


def in_columns(solver: Solver, painted: list[lowering._Painted]) -> tuple[Form, list[Plan], bool]:
    """Every rule planned in column form, whatever it costs."""
    return Form.COLUMN, [solver.plan(one.term, one.queries, one.keys, Form.COLUMN) for one in painted], False


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_stage_agrees_with_the_definition(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compile_file(path)
    dense = definition(compiled)
    for number, mask in enumerate(dense):
        lowered = compiled.kept[number]
        lowered.intervals.check()
        np.testing.assert_array_equal(lowered.rows().to_dense(), mask)
        assert lowered.columns().transpose() == lowered.rows()

    monkeypatch.setattr(lowering, "_cheaper_form", in_columns)
    for number, variant in enumerate(compiled.program.variants):
        columns = lowering.lower_variant(variant).columns()
        columns.check()
        np.testing.assert_array_equal(columns.to_dense(), dense[number].T)

    check_tiles(compiled, dense)


def definition(compiled: CompiledMask) -> list[oracles.Mask]:
    """The dense mask of every variant: cell by cell where it is small, else sampled against the definition."""
    program = compiled.program
    found: dict[int, oracles.Mask] = {}
    for batch, head in np.ndindex(program.batch, program.heads):
        number = program.variant[batch][head]
        if number in found:
            continue
        if program.query_length * program.key_length <= CELLS:
            found[number] = meaning.dense(program, batch, head)
            continue
        found[number] = compiled.dense(batch, head)
        generator = np.random.default_rng(number)
        queries = generator.integers(0, program.query_length, CELLS).tolist()
        keys = generator.integers(0, program.key_length, CELLS).tolist()
        expected = [meaning.visible(program, q, k, batch, head) for q, k in zip(queries, keys, strict=True)]
        np.testing.assert_array_equal(found[number][queries, keys], expected)
    return [found[number] for number in range(len(program.variants))]


def check_tiles(compiled: CompiledMask, dense: list[oracles.Mask]) -> None:
    """Tile maps and both lists of the descriptor, in the kernel's order."""
    for m, n in BLOCKS:
        descriptor = compiled.descriptor(m, n)
        queries, keys = descriptor.query_order, descriptor.key_order
        for batch in range(compiled.batch):
            for head in range(compiled.heads):
                number = compiled.number_of(batch, head)
                mask = dense[number]
                mask = mask if queries is None else mask[queries]
                mask = mask if keys is None else mask[:, keys]
                tiles = compiled.tiles(m, n, batch, head)
                np.testing.assert_array_equal(tiles.kinds(), oracles.tile_kinds(mask, m, n))
                np.testing.assert_array_equal(tiles.to_dense(), mask)
                for by_key in (False, True):
                    np.testing.assert_array_equal(oracles.drawn_cells(descriptor, number, by_key), mask)
