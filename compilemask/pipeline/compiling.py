"""The way from a mask file, a library name or a text to a compiled mask."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilemask import library
from compilemask.errors import MaskFileError, UsageError
from compilemask.intervals import specials  # noqa: F401  # with this module, not with the first mask that needs it
from compilemask.intervals.lowering import lower
from compilemask.language import effort
from compilemask.language.binder import bind
from compilemask.language.further import with_further_errors
from compilemask.language.parser import parse_once
from compilemask.language.program import Program
from compilemask.pipeline.arguments import (
    checked_parameters,
    checked_path,
    checked_samples,
    checked_text,
    not_a_mask,
)
from compilemask.pipeline.best_order import Candidate, best, candidates
from compilemask.pipeline.compiled import CompiledMask
from compilemask.pipeline.findings import findings, fragments, is_fragmented
from compilemask.pipeline.order import token_order
from compilemask.pipeline.order_findings import order_findings
from compilemask.source import Diagnostic, Severity, Source
from compilemask.text_files import read_text

if TYPE_CHECKING:
    from compilemask.language.builder import Mask

Samples = Sequence[Mapping[str, Any]]

RUNS_TRIED = 1 << 18  # orders are tried for the hint of a warning only where that takes no time to speak of


def compile(  # noqa: A001
    mask: str | Path | Mask,
    *,
    params: Mapping[str, Any] | None = None,
    samples: Samples | None = None,
    **parameters: Any,
) -> CompiledMask:
    """Compile a mask file, a mask of the library or a mask built in Python.

    `mask` is a path, a library name or a `compilemask.language.builder.Mask`. Parameters are given by name, as keywords
    or in `params` (names that collide with the arguments of this function); `samples` gives some of them per batch
    entry. What the text is warned of is in `diagnostics` of the mask; `compilemask.compile` says it as Python warnings,
    MaskWarning, too.

    Raises:
        MaskFileError: the file or its sizes are wrong; it holds every finding.
        UsageError: there is no such mask, a parameter is given twice, or an argument is of the wrong kind.
    """
    given = _joined(params, parameters)
    if isinstance(mask, str | Path):
        return compile_file(library.locate(mask), params=given, samples=samples)
    from compilemask.language.builder import Mask

    if not isinstance(mask, Mask):
        raise not_a_mask(mask)
    return _compiled(Source("<python>", mask.text()), "python", given, samples, None)


def compile_file(
    path: Path, *, params: Mapping[str, Any] | None = None, samples: Samples | None = None
) -> CompiledMask:
    """Compile the file at `path`. Raises as `compile` does."""
    path = checked_path("path", path)
    return _compiled(Source(str(path), read_text(path)), path.stem, params, samples, path.parent)


def compile_text(
    text: str,
    *,
    name: str = "<text>",
    params: Mapping[str, Any] | None = None,
    samples: Samples | None = None,
    folder: Path | None = None,
    **parameters: Any,
) -> CompiledMask:
    """Compile a text; `folder` is where its `include` and `from` files lie. Raises as `compile` does."""
    source, where = Source(str(name), checked_text(text)), None if folder is None else checked_path("folder", folder)
    return _compiled(source, Path(source.name).stem, _joined(params, parameters), samples, where)


def compile_program(program: Program, begin: float | None = None) -> CompiledMask:
    """Compile a bound program; `begin` is when its compilation began (time.perf_counter)."""
    begin = time.perf_counter() if begin is None else begin
    order = token_order(program.variants[0])
    kept = lower(program, order)
    tried: tuple[Candidate, ...] = ()
    if any(one.selector is None for one in program.variants[0].orders):
        tried = candidates(program.variants, kept)
        order = best(tried).order
    found = (*program.diagnostics, *findings(program, kept), *order_findings(program, kept, order, tried))
    compiled = CompiledMask(program, kept, found, order, tried, 1000 * (time.perf_counter() - begin))
    return compiled.with_findings(_fragments(compiled))


def _fragments(compiled: CompiledMask) -> tuple[Diagnostic, ...]:
    """A warning for the first mask that leaves a kernel nothing to skip and nothing to take whole."""
    for number, lowered in enumerate(compiled.kept):
        if is_fragmented(lowered):
            better = None
            try:
                tiles = compiled.tiles_of(number)
            except MaskFileError as error:  # the mask can be looked at all the same
                return tuple(dataclasses.replace(one, severity=Severity.WARNING) for one in error.diagnostics)
            if not compiled.order.moves and lowered.intervals.runs <= RUNS_TRIED:
                chosen = best(candidates((compiled.program.variants[number],), (lowered,)))
                better = chosen if chosen.visited is not None and chosen.visited < tiles.visited else None
            found = fragments(lowered, tiles, better)
            if found is not None:
                return (found,)
    return ()


def _compiled(
    source: Source, name: str, params: Mapping[str, Any] | None, samples: Samples | None, folder: Path | None
) -> CompiledMask:
    begin = time.perf_counter()
    params, samples = checked_parameters(params), checked_samples(samples)
    try:
        file = parse_once(source)
    except MaskFileError as error:
        raise MaskFileError(with_further_errors(error.diagnostics, source, params, samples, folder)) from None
    with effort.limited():
        return compile_program(bind(file, params, samples, folder), begin)


def _joined(params: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    given = checked_parameters(params)
    twice = sorted(set(given) & set(keywords))
    if twice:
        raise UsageError(f"parameter {twice[0]} is given twice: as a keyword and in params")
    return {**given, **keywords}
