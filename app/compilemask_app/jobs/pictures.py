"""From a text to a picture: runs the compiler and keeps what the screens need.

The mask comes first, so that it can be drawn while its tiles are made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from compilemask.intervals.interval_set import Intervals
from compilemask.intervals.lowering import Lowered
from compilemask.tiles.tile_map import TileMap
from compilemask_app.drawing.regions import regions_of
from compilemask_app.drawing.sampling import sampled_mask, sampled_tiles
from compilemask_app.jobs.compile_job import CompileRequest
from compilemask_app.picture import Choice, Figures, MaskPicture, Picture, Reason

if TYPE_CHECKING:
    from compilemask.pipeline import CompiledMask

KEPT = 4
"""Compiled masks kept, so that another tile size or head of the same text needs no compilation."""


class Pictures:
    """Makes pictures, remembering the last few compiled masks."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[CompiledMask, float]] = {}
        self._one_at_a_time = threading.Lock()

    def __call__(self, request: CompileRequest) -> MaskPicture:
        """Compile a text. Raises MaskFileError with all findings."""
        with self._one_at_a_time:
            compiled, elapsed_ms = self._compiled(request)
        return picture_from(compiled, request, elapsed_ms)

    def _compiled(self, request: CompileRequest) -> tuple[CompiledMask, float]:
        key = (request.name, request.text, str(request.folder), repr(request.parameters))
        if key not in self._kept:
            from compilemask.pipeline import compile_text

            started = time.perf_counter()
            compiled = compile_text(
                request.text, name=request.name, folder=request.folder, params=dict(request.parameters)
            )
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (compiled, milliseconds_since(started))
        return self._kept[key]


def milliseconds_since(started: float) -> float:
    """Since a reading of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000


def picture_from(compiled: CompiledMask, request: CompileRequest, elapsed_ms: float) -> MaskPicture:
    """The picture of a compiled mask; sample, head and tile size as asked, within what there is."""
    choice = Choice(
        min(request.choice.batch, compiled.batch - 1),
        min(request.choice.head, compiled.heads - 1),
        request.choice.block_m,
        request.choice.block_n,
    )
    lowered = compiled.kept[compiled.number_of(choice.batch, choice.head)]
    variant = compiled.program.variant_of(choice.batch, choice.head)
    return MaskPicture(
        revision=request.revision,
        name=compiled.name,
        title=compiled.title,
        query_length=compiled.query_length,
        key_length=compiled.key_length,
        batch=compiled.batch,
        heads=compiled.heads,
        choice=choice,
        lowered=lowered,
        mask_pixels=sampled_mask(lowered, partial(compiled.rows_of, choice.batch, choice.head)),
        density=density_of(lowered),
        queries=regions_of(variant.queries),
        keys=regions_of(variant.keys),
        compile_ms=elapsed_ms,
        explain=_explainer(compiled, choice),
        finish=_finished,
        same_as=_same_masks(compiled, choice),
        diagnostics=compiled.diagnostics,
        query_order=compiled.order.queries,
        key_order=compiled.order.keys,
        compiled=compiled,
    )


def _finished(mask: MaskPicture) -> Picture:
    """With tiles and figures, and the descriptor made, which counts among the figures."""
    compiled, choice = mask.compiled, mask.choice
    assert compiled is not None
    tiles = compiled.tiles(choice.block_m, choice.block_n, choice.batch, choice.head)
    descriptor = compiled.descriptor(choice.block_m, choice.block_n)
    return Picture(
        **{item.name: getattr(mask, item.name) for item in fields(MaskPicture)},
        tiles=tiles,
        tile_pixels=sampled_tiles(tiles),
        figures=figures_of(mask.lowered, tiles, descriptor.nbytes),
        make_rows=partial(compiled.rows_of, choice.batch, choice.head),
    )


def _explainer(compiled: CompiledMask, choice: Choice) -> Callable[[int, int], Reason]:
    def explain(query: int, key: int) -> Reason:
        found = compiled.explain(query, key, choice.batch, choice.head)
        return Reason(found.visible, found.sentence(), found.line())

    return explain


def _same_masks(compiled: CompiledMask, choice: Choice) -> tuple[tuple[int, int], ...]:
    """(sample, head) pairs that share the mask that is looked at, itself left out; at most a few."""
    table = compiled.program.variant
    here = table[choice.batch % len(table)][choice.head % len(table[0])]
    pairs = [(b, h) for b, row in enumerate(table) for h, variant in enumerate(row) if variant == here]
    return tuple(pair for pair in pairs if pair != (choice.batch, choice.head))[:8]


def density_of(lowered: Lowered) -> float:
    """The visible share of all cells; 0 of none."""
    cells = lowered.intervals.rows * lowered.intervals.columns
    return lowered.intervals.visible / cells if cells else 0.0


def figures_of(lowered: Lowered, tiles: TileMap, descriptor_bytes: int | None) -> Figures:
    """The counts that the statistics panel shows; runs are counted as the mask is kept."""
    runs = lowered.runs_per_query()
    per_tile_row = tiles.visited_per_query_tile()
    return Figures(
        visible=lowered.intervals.visible,
        density=density_of(lowered),
        max_runs_per_row=int(runs.max(initial=0)),
        mean_runs_per_row=float(runs.mean()) if len(runs) else 0.0,
        empty_rows=int((~lowered.seeing_queries()).sum()),
        unseen_keys=int((~lowered.seen_keys()).sum()),
        tiles_empty=tiles.empty,
        tiles_partial=tiles.partial,
        tiles_full=tiles.full,
        distinct_partial=tiles.distinct_partial,
        useful=useful_share(lowered.intervals, tiles),
        heaviest=int(per_tile_row.max(initial=0)),
        lightest=int(per_tile_row.min(initial=per_tile_row.max(initial=0))),
        descriptor_bytes=descriptor_bytes,
        stored=lowered.order.moves,
    )


def useful_share(mask: Intervals, tiles: TileMap) -> float:
    """Visible cells over the cells of all visited tiles, as a kernel computes them (whole tiles)."""
    computed = tiles.visited * tiles.block_m * tiles.block_n
    return mask.visible / computed if computed else 1.0
