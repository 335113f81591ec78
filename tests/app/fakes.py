"""Pictures from dense masks, so that the screens can be tested without the compiler behind them."""

from __future__ import annotations

import re

import numpy as np
from compilemask_app.drawing.regions import Regions
from compilemask_app.drawing.sampling import sampled, sampled_tiles
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.jobs.pictures import density_of, figures_of
from compilemask_app.picture import Choice, Picture, Reason
from numpy.typing import NDArray

from compilemask.errors import MaskFileError
from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.intervals.solve import Form
from compilemask.source import Diagnostic, Severity, Source, Span
from compilemask.tiles.build import build_tile_map


def picture_from(
    rows: Intervals, *, revision: int = 0, choice: Choice | None = None, names: tuple[str, ...] = ("left", "right")
) -> Picture:
    """A picture of any mask; the axes are cut into as many equal regions as there are names."""
    choice = choice or Choice(block_m=16, block_n=16)
    tiles = build_tile_map(rows, choice.block_m, choice.block_n)
    lowered = Lowered(Form.ROW, rows)
    return Picture(
        revision=revision,
        name="fake",
        title="A fake mask",
        query_length=rows.rows,
        key_length=rows.columns,
        batch=1,
        heads=1,
        choice=choice,
        lowered=lowered,
        density=density_of(lowered),
        make_rows=lambda: rows,
        tiles=tiles,
        mask_pixels=sampled(rows),
        tile_pixels=sampled_tiles(tiles),
        figures=figures_of(lowered, tiles, None),
        queries=equal_regions(rows.rows, names),
        keys=equal_regions(rows.columns, names),
        compile_ms=1.0,
        explain=lambda query, key: Reason(rows.contains(query, key), "rule 1, line 6", 6),
    )


def equal_regions(length: int, names: tuple[str, ...]) -> Regions:
    """`names` one after another, each as long as the next."""
    starts = np.arange(len(names), dtype=np.int64) * length // len(names)
    return Regions(length, starts, lambda stretch: names[stretch])


def causal(length: int) -> Intervals:
    """Each query sees itself and all keys before it."""
    ends = np.arange(1, length + 1, dtype=np.int64)
    return Intervals.from_bounds(length, np.zeros(length, dtype=np.int64), ends)


def dense_causal(length: int) -> NDArray[np.bool_]:
    """The same, dense."""
    return np.tril(np.ones((length, length), dtype=np.bool_))


def compile_fake(request: CompileRequest) -> Picture:
    """Causal of `param length = N`; a text with the word `wrong` does not compile."""
    source = Source(request.name, request.text)
    for number, line in enumerate(request.text.splitlines(), start=1):
        if "wrong" in line:
            column = line.index("wrong") + 1
            span = Span(source, number, column, number, column + 5)
            raise MaskFileError([Diagnostic(Severity.ERROR, "unknown", "unknown word `wrong`", span, "take it out")])
    found = re.search(r"length\s*=\s*(\d+)", request.text)
    return picture_from(causal(int(found.group(1)) if found else 64), revision=request.revision, choice=request.choice)
