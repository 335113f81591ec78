"""The rules of a file as a matrix: rows look, columns are seen, a cell holds the relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from compilemask.language import syntax
from compilemask_app.composing import HEADS
from compilemask_app.composing.text_edits import (
    TextEdit,
    inserting_below,
    replacing,
    source_text,
)


class Cover(IntEnum):
    """How much of a region a selector takes."""

    NONE = 0
    PART = 1
    WHOLE = 2


@dataclass(frozen=True, slots=True)
class RegionEntry:
    """A leaf region of an axis: its name, the regions around it, and where it is declared."""

    name: str
    around: tuple[str, ...]
    leaf: syntax.Leaf


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that speaks of a cell; `partly` where it takes only some of the tokens of a side."""

    rule: syntax.Rule
    partly: bool

    @property
    def how(self) -> str:
        """The relation as written."""
        return source_text(self.rule.how.span)

    @property
    def resets(self) -> bool:
        """Whether it hides the whole cell, whatever rules before it showed."""
        return not self.rule.shows and not self.partly and self.how == "all"


@dataclass(frozen=True, slots=True)
class RegionMatrix:
    """Regions of both axes, and the rules per cell in the order in which they run."""

    rows: tuple[RegionEntry, ...]
    columns: tuple[RegionEntry, ...]
    cells: dict[tuple[int, int], tuple[Applied, ...]]
    limits: tuple[str, ...]
    file: syntax.File

    @property
    def two_sided(self) -> bool:
        """Whether queries and keys have layouts of their own, so that a row and a column are never one region."""
        return any(
            isinstance(statement, syntax.Layout) and statement.axis == "keys" for statement in self.file.statements
        )

    def region(self, row: int, column: int) -> RegionEntry:
        """The region that is changed from a place: that of the row, or of the column on its head."""
        return self.columns[column] if row == HEADS else self.rows[row]

    def title(self, row: int, column: int) -> str:
        """The name of that region, with its side where there are two layouts."""
        side = "keys" if row == HEADS else "queries"
        return f"{self.region(row, column).name}{f' of the {side}' if self.two_sided else ''}"

    def at(self, row: int, column: int) -> tuple[Applied, ...]:
        """The rules of a cell, the last one wins."""
        return self.cells.get((row, column), ())

    def effective(self, row: int, column: int) -> tuple[Applied, ...]:
        """The rules of a cell that still matter: those after the last one that hides all of it."""
        rules = self.at(row, column)
        resets = [place for place, applied in enumerate(rules) if applied.resets]
        return rules[resets[-1] + 1 :] if resets else rules

    def summary(self, row: int, column: int) -> str:
        """A cell in a word or two: the relation, `…` where it takes a part, `+n` where more rules speak."""
        rules = self.effective(row, column)
        if not rules or rules[-1].how == "none":
            return "·"
        last = rules[-1]
        shown = last.how if last.rule.shows else f"not {last.how}"
        more = f" +{len(rules) - 1}" if len(rules) > 1 else ""
        return f"{shown}{'…' if last.partly else ''}{more}"


def matrix_of(file: syntax.File) -> RegionMatrix:
    """The matrix of a syntax tree; a file without regions gives an empty one."""
    rows = tuple(_regions(file, ("layout", "queries")))
    columns = tuple(_regions(file, ("layout", "keys")))
    rules = [line for statement in file.statements if isinstance(statement, syntax.Rules) for line in statement.rules]
    cells: dict[tuple[int, int], tuple[Applied, ...]] = {}
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            found = tuple(
                Applied(rule, min(who, whom) is Cover.PART)
                for rule in rules
                if isinstance(rule, syntax.Rule)
                and (who := cover(rule.who, row)) is not Cover.NONE
                and (whom := cover(rule.whom, column)) is not Cover.NONE
            )
            if found:
                cells[i, j] = found
    limits = tuple(source_text(rule.how.span) for rule in rules if isinstance(rule, syntax.Limit))
    return RegionMatrix(rows, columns, cells, limits, file)


def _regions(file: syntax.File, axes: tuple[str, ...]) -> Iterator[RegionEntry]:
    seen: set[tuple[str, ...]] = set()
    for statement in file.statements:
        if isinstance(statement, syntax.Layout) and statement.axis in axes:
            for entry in _leaves(statement.items, ()):
                if (key := (*entry.around, entry.name)) not in seen:
                    seen.add(key)
                    yield entry


def _leaves(items: tuple[syntax.Item, ...], around: tuple[str, ...]) -> Iterator[RegionEntry]:
    for item in items:
        if isinstance(item, syntax.Leaf):
            yield RegionEntry(item.name, around, item)
        elif isinstance(item, syntax.Group):
            yield from _leaves(item.items, (*around, item.name))


def cover(selector: syntax.Selector, region: RegionEntry) -> Cover:
    """How much of a region a selector takes."""
    match selector:
        case syntax.Everything():
            return Cover.WHOLE
        case syntax.RegionPath(names=names):
            path = (*region.around, region.name)
            inside = names[-1] in path and all(name in path for name in names)
            return Cover.WHOLE if inside else Cover.NONE
        case syntax.Numbered(path=of) | syntax.Range(path=of) | syntax.Ends(of=of) | syntax.Where(of=of):
            return min(Cover.PART, cover(of, region))
        case syntax.Union(parts=parts):
            return max((cover(part, region) for part in parts), default=Cover.NONE)
        case _:
            return Cover.NONE


def add_region(after: RegionEntry, name: str, size: str) -> TextEdit:
    """A region below another one, as deep as it."""
    indent = " " * (after.leaf.span.column - 1)
    return inserting_below(after.leaf.span.end_line - 1, f"{indent}{name} : {size}")


def resize_region(region: RegionEntry, size: str) -> TextEdit:
    """Another size."""
    return replacing(region.leaf.size.span, size)


def size_text(region: RegionEntry) -> str:
    """The size as written."""
    return source_text(region.leaf.size.span)
