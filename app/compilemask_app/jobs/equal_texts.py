"""Which of several ways to change a text makes the same mask as the last one, in fewest lines. Run in a thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from compilemask.errors import CompileMaskError
from compilemask.language import syntax
from compilemask.language.binder import bind
from compilemask.language.parser import parse
from compilemask.pipeline import CompiledMask, compile_text
from compilemask.source import Source
from compilemask_app.composing.renaming import walk
from compilemask_app.composing.text_edits import TextEdit, applied, replacing

if TYPE_CHECKING:
    from compilemask_app.jobs.compile_job import CompileRequest

GROWN, MOST_TOKENS = (8, 2), 1 << 16
"""Sizes are also compared so many times as large, the first that gives at most so many tokens."""


def shortest(request: CompileRequest, ways: tuple[tuple[TextEdit, ...], ...]) -> tuple[TextEdit, ...]:
    """The first of the ways, of which the last is right, whose mask is that of the last one cell by cell.

    At the sizes of now and at larger ones, as a window that is longer than a region now may show less than all of a
    longer region.
    """
    *others, sure = [(edits, replace(request, text=applied(request.text, list(edits)))) for edits in ways]
    for edits, tried in others:
        if equal_masks(tried, sure[1]):
            return edits
    return sure[0]


def equal_masks(one: CompileRequest, other: CompileRequest) -> bool:
    """Whether two texts make the same mask, at the sizes of now and at larger ones."""
    return _equal(one, other) and all(_equal(*pair) for pair in _grown(one, other))


def same_mask(before: CompiledMask, after: CompiledMask) -> bool:
    """Whether two masks show the same cells, in every sample and head."""
    if before.variant.shape != after.variant.shape:
        return False
    return before.variants == after.variants and np.array_equal(before.variant, after.variant)


def _equal(one: CompileRequest, other: CompileRequest) -> bool:
    try:
        return same_mask(compiled(one), compiled(other))
    except CompileMaskError:
        return False


def compiled(request: CompileRequest) -> CompiledMask:
    """The mask of a text. Raises MaskFileError."""
    return compile_text(request.text, name=request.name, params=dict(request.parameters), folder=request.folder)


def _grown(one: CompileRequest, other: CompileRequest) -> Iterator[tuple[CompileRequest, CompileRequest]]:
    """Both texts with larger sizes, if there are any that they take."""
    for factor in GROWN:
        larger = replace(one, text=_times(one.text, factor)), replace(other, text=_times(other.text, factor))
        if _is_small(larger[0]):
            yield larger
            return


def _times(text: str, factor: int) -> str:
    """The text with every number of its parameters and layouts so many times as large."""
    file = parse(Source("text", text))
    sized = tuple(one for one in file.statements if isinstance(one, (syntax.Parameters, syntax.Layout)))
    numbers = [node for node in walk(sized) if isinstance(node, syntax.Literal) and type(node.value) is int]
    return applied(text, [replacing(node.span, str(int(node.value) * factor)) for node in numbers])


def _is_small(request: CompileRequest) -> bool:
    try:
        program = bind(parse(Source("text", request.text)), dict(request.parameters), folder=request.folder)
    except CompileMaskError:
        return False
    return max(program.query_length, program.key_length) <= MOST_TOKENS
