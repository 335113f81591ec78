"""Rulers: region names and token numbers along the upper and the left edge of a map."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask_app.drawing.regions import Regions
from compilemask_app.drawing.viewport import Viewport

GUTTER = 11
"""Columns of the left ruler; the last one is the axis."""

COLUMNS_OF_A_NAME = 6
ROWS_OF_A_NAME = 2
"""With the number below it."""


@dataclass(frozen=True, slots=True)
class Label:
    """Text at a terminal column or row; `strong` for region names."""

    place: int
    text: str
    strong: bool


def top_labels(regions: Regions, view: Viewport, columns: int) -> tuple[list[Label], list[Label]]:
    """(region names, token numbers) along the upper edge, none overlapping another."""
    names: list[Label] = []
    numbers: list[Label] = []
    free_name = free_number = 0
    across = view.tokens_across(columns)
    last = min(view.key_length, view.key_start + across)
    used = max(1, min(columns, view.column_of(max(view.key_start, last - 1)) + 1))
    regions = regions.fitting(view.key_start, last, max(1, used // COLUMNS_OF_A_NAME))
    for stretch, begin, end in _stretches(regions, view.key_start, across):
        left = max(0, view.column_of(begin))
        right = min(columns, view.column_of(end))
        text = regions.name(stretch) if right - left >= 3 else ""
        if left >= free_name and text:
            names.append(Label(left, f"╷{shorten(text, right - left - 1)}"[: right - left], True))
            free_name = right
        number = f"╵{max(begin, view.key_start):,}"
        if left >= free_number and left + len(number) <= columns:
            numbers.append(Label(left, number, False))
            free_number = left + len(number) + 1
    _fill_numbers(numbers, view, columns)
    return names, numbers


def _fill_numbers(numbers: list[Label], view: Viewport, columns: int) -> None:
    """Token numbers in the gaps, every 10 columns or so."""
    taken = [(label.place, label.place + len(label.text) + 1) for label in numbers]
    step = 12
    for column in range(step, columns - 8, step):
        cell = view.cell_at(column, 0)
        if cell is None:
            continue
        text = f"╵{cell[1]:,}"
        if column + len(text) <= columns and all(column + len(text) + 1 <= a or column >= b for a, b in taken):
            numbers.append(Label(column, text, False))
            taken.append((column, column + len(text) + 1))
    numbers.sort(key=lambda label: label.place)


def left_labels(regions: Regions, view: Viewport, rows: int) -> dict[int, Label]:
    """Row -> label: the name where a region begins, its first token's number below, and numbers every few rows."""
    labels: dict[int, Label] = {}
    down = view.tokens_down(rows)
    last = min(view.query_length, view.query_start + down)
    used = max(1, min(rows, view.row_of(max(view.query_start, last - 1)) + 1))
    regions = regions.fitting(view.query_start, last, max(1, used // ROWS_OF_A_NAME))
    stretches = _stretches(regions, view.query_start, down)
    named = len(stretches) <= used
    for stretch, begin, end in stretches if named else []:
        top = max(0, view.row_of(begin))
        bottom = min(rows, max(top + 1, view.row_of(end)))
        if top >= rows:
            break
        text = regions.name(stretch)
        if text and top not in labels:
            labels[top] = Label(top, shorten(text, GUTTER - 1), True)
        if top + 1 < bottom:
            labels[top + 1] = Label(top + 1, f"{max(begin, view.query_start):,}", False)
    for row in range(4 if named else 0, rows, 4):
        if not any(near in labels for near in (row - 1, row, row + 1)) and (cell := view.cell_at(0, row)):
            labels[row] = Label(row, f"{cell[0]:,}", False)
    return labels


def shorten(text: str, width: int) -> str:
    """A name in at most `width` characters; the number of an instance stays, `docum…[12]`, alone if need be."""
    if len(text) <= width:
        return text
    bracket = text.find("[")
    number = text[bracket:] if bracket > 0 else ""
    keep = width - 1 - len(number)
    if number and keep < 1 and len(number) <= width:
        return number
    return f"{text[:keep]}…{number}" if keep >= 1 else f"{text[: max(0, width - 1)]}…"[:width]


def _stretches(regions: Regions, first: int, tokens: int) -> list[tuple[int, int, int]]:
    """(stretch, begin, end) of those in a window; only as many as could be labelled."""
    if not len(regions.starts):
        return []
    last = min(regions.length, first + tokens)
    low, high = regions.at(first), regions.at(max(first, last - 1))
    step = max(1, (high - low + 1) // 400)
    ends = [*regions.starts[low + 1 : high + 1].tolist(), regions.length]
    found = []
    for offset in range(0, high - low + 1, step):
        begin = int(regions.starts[low + offset])
        if begin < last:
            found.append((low + offset, begin, int(ends[offset])))
    return found
