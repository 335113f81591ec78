"""A plot in characters: points with spread over a logarithmic length axis, one letter per series."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2, log10

GUTTER = 8


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a length, and how far it spreads to either side."""

    length: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one implementation; `mark` stands for it in the plot."""

    name: str
    mark: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Rows of text and, for each, the series that a character belongs to (-1: none)."""

    lines: tuple[str, ...]
    owners: tuple[tuple[int, ...], ...]


def plot(series: tuple[Series, ...], width: int, height: int) -> Plot:
    """Values upwards from 0, lengths to the right; the spread as a thin bar behind the mark."""
    columns, rows = width - GUTTER, height - 2
    points = [point for one in series for point in one.points]
    if not points or columns < 10 or rows < 3:
        return Plot(("nothing to plot yet",), ((-1,) * 19,))
    step = _step(max(point.high for point in points))
    top = step * ceil(max(point.high for point in points) / step) or step
    left, right = min(point.length for point in points), max(point.length for point in points)
    cells = [[" "] * columns for _ in range(rows)]
    owner = [[-1] * columns for _ in range(rows)]

    def row_of(value: float) -> int:
        return min(rows - 1, max(0, round((1 - value / top) * (rows - 1))))

    for layer in ("spread", "mark"):
        for number, one in enumerate(series):
            for point in one.points:
                column = _column(point.length, left, right, columns)
                span = range(row_of(point.high), row_of(point.low) + 1) if layer == "spread" else (row_of(point.value),)
                if layer == "mark":
                    column = _free(cells[span[0]], column)
                for row in span:
                    cells[row][column] = "│" if layer == "spread" else one.mark
                    owner[row][column] = number
    ticks = {row_of(step * number): step * number for number in range(round(top / step) + 1)}
    lines, owners = [], []
    for row in range(rows):
        label = f"{ticks[row]:>{GUTTER - 2},.4g} ┤" if row in ticks else " " * (GUTTER - 1) + "│"
        lines.append(label + "".join(cells[row]))
        owners.append((-1,) * GUTTER + tuple(owner[row]))
    lines.append(" " * (GUTTER - 1) + "└" + "─" * columns)
    lines.append(_length_labels(sorted({point.length for point in points}), left, right, columns))
    owners += [(-1,) * width, (-1,) * width]
    return Plot(tuple(lines), tuple(owners))


def _free(cells: list[str], column: int) -> int:
    """The column, or one of the next few where another mark stands there already."""
    return next((near for near in range(column, min(len(cells), column + 6)) if cells[near] in " │"), column)


def _column(length: int, left: int, right: int, columns: int) -> int:
    if left == right:
        return columns // 2
    return 2 + round((log2(length) - log2(left)) / (log2(right) - log2(left)) * (columns - 8))


def _length_labels(lengths: list[int], left: int, right: int, columns: int) -> str:
    line = [" "] * (GUTTER + columns)
    free = 0
    for length in lengths:
        text = f"{length // 1024}K" if length >= 1024 and length % 1024 == 0 else f"{length:,}"
        place = GUTTER + max(0, _column(length, left, right, columns) - len(text) // 2)
        if place >= free and place + len(text) <= len(line):
            line[place : place + len(text)] = text
            free = place + len(text) + 1
    return "".join(line)


def _step(most: float) -> float:
    """1, 2 or 5 times a power of ten, of which the most takes four or a few more."""
    rough = most / 4 if most > 0 else 1.0
    scale = 10.0 ** floor(log10(rough))
    return max((scale * times for times in (1, 2, 5) if scale * times <= rough), default=scale)
