"""The levels of a layout while it is read: rows are instances of one level, pieces the runs of some lines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import Column, CoordinateKind
from compilemask.language.column_parts import Values

Ints = NDArray[np.int64]


@dataclass(slots=True)
class InstanceTable:
    """The instances of one name while the layout is read."""

    number: list[Ints] = field(default_factory=list)
    parent: list[Ints] = field(default_factory=list)
    count: list[Ints] = field(default_factory=list)
    instances: int = 0


@dataclass(slots=True)
class Block:
    """One block of lines, for all its rows: how many instances each name has, and where they lie in the tables."""

    first_parent: int
    next_number: dict[str, Ints] = field(default_factory=dict)
    entries: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Piece:
    """Runs, in written order of their level; `row` is the instance of the level above that each belongs to."""

    row: Ints
    length: Ints
    leaf: Ints
    shape: Ints
    inside: dict[str, Ints]


@dataclass(frozen=True, slots=True)
class Rows:
    """All instances of one level: how many, and per enclosing region the number of the instance that holds each."""

    total: int
    numbers: dict[str, Ints]

    def take(self, rows: Ints) -> Rows:
        """The level below: these rows, each once per child."""
        return Rows(len(rows), {name: values[rows] for name, values in self.numbers.items()})


class RowFrame:
    """Rows as a frame of expressions, whose only coordinates are the numbers of the enclosing regions."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def column(self, kind: CoordinateKind, region: str | None) -> Column:
        return Column(self.rows.numbers[region or ""], None)

    def select(self, selector: ir.Selector, slots: Ints) -> NDArray[np.bool_]:
        raise EvaluationError("a coordinate by region cannot be used in a layout")

    def total(self, expression: ir.RunningTotal) -> Values:
        raise EvaluationError("`cumsum` of a coordinate cannot be used in a layout")


def row_words(rows: Rows, row: int) -> str:
    """One row as people find it: `group[2], turn[0]`."""
    return ", ".join(f"{name}[{int(numbers[row])}]" for name, numbers in rows.numbers.items()) or "the layout"


def joined(parts: list[Ints]) -> Ints:
    """The arrays one after another."""
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def merged(pieces: list[Piece], rows: int) -> Piece:
    """Pieces of one block, one after another within every row."""
    if not pieces:
        return Piece(joined([]), joined([]), joined([]), np.zeros((0, 3), dtype=np.int64), {})
    row = joined([piece.row for piece in pieces])
    order = np.argsort(row, kind="stable") if rows > 1 else np.arange(len(row))
    inside: dict[str, Ints] = {}
    begin = 0
    for piece in pieces:
        for name, instances in piece.inside.items():
            whole = inside.setdefault(name, np.full(len(row), -1, dtype=np.int64))
            whole[begin : begin + len(instances)] = instances
        begin += len(piece.row)
    inside = {name: whole[order] for name, whole in inside.items()}
    shape = np.concatenate([piece.shape for piece in pieces])[order]
    return Piece(
        row[order],
        joined([piece.length for piece in pieces])[order],
        joined([piece.leaf for piece in pieces])[order],
        shape,
        inside,
    )
