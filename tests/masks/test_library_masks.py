"""Every library mask against its predicate: the slow definition, intervals, tile maps and descriptors."""

from __future__ import annotations

from random import Random

import pytest

from compilemask import library, pipeline
from compilemask.source import Severity
from tests.masks.comparison import KERNEL_TILES, TINY_TILES, check, check_meaning
from tests.masks.predicates import REGISTRY


def test_every_library_mask_has_a_predicate() -> None:
    assert sorted(REGISTRY) == library.names()
    assert len(REGISTRY) >= 60


@pytest.mark.parametrize("name", library.names())
def test_the_defaults_have_the_density_of_the_header_and_no_warning(name: str) -> None:
    compiled = pipeline.compile(name)
    visible = sum(
        compiled.rows_of(batch, head).visible for batch in range(compiled.batch) for head in range(compiled.heads)
    )
    share = 100 * visible / (compiled.batch * compiled.heads * compiled.query_length * compiled.key_length)
    assert library.header(name).density == f"{share:.3g} %"
    warnings = [found for found in compiled.diagnostics if found.severity is not Severity.NOTE]
    assert not [found.message for found in warnings if found.code != "not-tile-friendly"]


@pytest.mark.parametrize("name", library.names())
def test_small_masks_mean_what_the_predicate_says(name: str) -> None:
    predicate = REGISTRY[name]
    for size in (1, 7, 16):
        parameters = predicate.draw(Random(f"{name} {size}"), size)
        compiled = pipeline.compile(name, params=parameters)
        expected = predicate.cells(parameters)
        check_meaning(compiled, expected)
        check(compiled, expected, TINY_TILES)


@pytest.mark.parametrize("size", [31, 111, 257])
@pytest.mark.parametrize("name", library.names())
def test_masks_of_any_length_compile_to_the_predicate(name: str, size: int) -> None:
    predicate = REGISTRY[name]
    parameters = predicate.draw(Random(f"{name} {size}"), size)
    check(pipeline.compile(name, params=parameters), predicate.cells(parameters), KERNEL_TILES)


@pytest.mark.parametrize("size", [757, 1000, 1021])
@pytest.mark.parametrize("name", library.names())
def test_long_masks_compile_to_the_predicate(name: str, size: int) -> None:
    predicate = REGISTRY[name]
    parameters = predicate.draw(Random(f"{name} long {size}"), size)
    check(pipeline.compile(name, params=parameters), predicate.cells(parameters), KERNEL_TILES)
