"""A picture of a mask for papers: PNG, SVG or PDF, from runs and never from a dense matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compilemask.files import replacing
from compilemask.measure.bins import bin_bounds, shares
from compilemask.measure.naming import stretches
from compilemask.pipeline import CompiledMask
from compilemask.source import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from compilemask.language.axis import Axis

PIXELS = 640
LABELS = 24


def write(compiled: CompiledMask, output: Path, batch: int = 0, head: int = 0, form: str | None = None) -> None:
    """Draw one batch entry and head as `form`: png, svg or pdf; None: the suffix of `output` says which."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    queries, keys = compiled.query_length, compiled.key_length
    variant = compiled.program.variant_of(batch, head)
    share = shares(compiled, batch, head, bin_bounds(queries, PIXELS), bin_bounds(keys, PIXELS))
    # One visible cell must not fade out: any share above 0 is drawn as at least a quarter.
    shade = np.where(share > 0, 0.25 + 0.75 * share, 0.0)
    figure = Figure(figsize=(6, 6 * min(2.0, max(0.25, queries / max(keys, 1)))), dpi=150, layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    extent = (0, keys, queries, 0)
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1, extent=extent, interpolation="nearest", aspect="auto")
    _label(axes, variant.queries, vertical=True)
    _label(axes, variant.keys, vertical=False)
    axes.set_ylabel("queries")
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("keys")
    title = printable(compiled.title or compiled.name)  # the name of a file need not be text
    axes.set_title(title, parse_math=False)  # and a title may hold dollars
    with replacing(output) as file:
        figure.savefig(file, format=form or output.suffix[1:].lower())


def _label(axes: Axes, axis: Axis, *, vertical: bool) -> None:
    """Region names where regions begin, as many as can be read."""
    found = stretches(axis, bin_bounds(axis.length, LABELS).tolist())
    places, names = [stretch.start for stretch in found], [stretch.name for stretch in found]
    if vertical:
        axes.set_yticks(places, names, fontsize=6)
    else:
        axes.xaxis.tick_top()
        axes.set_xticks(places, names, fontsize=6, rotation=90)
