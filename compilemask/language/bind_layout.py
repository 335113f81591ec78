"""Layouts: sizes are evaluated, instances numbered, and the runs of an axis put in their written order.

The regions of one level are bound for all instances of the level above at once, so that thousands of packed samples
cost a few array operations.
"""

from __future__ import annotations

import contextlib

import numpy as np

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import RegionTable, Runs
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_layout_rows import (
    Block,
    InstanceTable,
    Ints,
    Piece,
    RowFrame,
    Rows,
    joined,
    merged,
    row_words,
)
from compilemask.language.bind_scope import AxisNames, Context, Mode, Scope
from compilemask.language.column_parts import Values, pack
from compilemask.language.column_values import evaluate
from compilemask.language.findings import RejectError, reject
from compilemask.language.shown_arithmetic import Known, arithmetic_text, constant_in
from compilemask.language.values import Grid, ListValue, Value, describe
from compilemask.source import Span

MOST_TOKENS = 2**21
MOST_INSTANCES = 2**20
MOST_NESTING = 8


def axis_names(name: str, items: tuple[syntax.Item, ...]) -> AxisNames:
    """The region names of a layout, from its text."""
    paths: list[tuple[str, ...]] = []
    grids = _collect(items, (), paths)
    return AxisNames(name, tuple(paths), grids)


def _collect(items: tuple[syntax.Item, ...], outer: tuple[str, ...], paths: list[tuple[str, ...]]) -> bool:
    grids = False
    for item in items:
        if isinstance(item, syntax.Leaf | syntax.Group) and item.name in outer:
            raise reject("region-in-itself", f"`{item.name}` stands inside of a region `{item.name}`", item.span)
        if isinstance(item, syntax.Leaf):
            paths.append((*outer, item.name))
            grids |= _mentions_grid(item.size)
        elif isinstance(item, syntax.Group):
            if len(outer) >= MOST_NESTING:
                hint = "leave out a level that holds one region only"
                raise reject("too-deep", f"regions are nested more than {MOST_NESTING} deep", item.span, hint)
            grids |= _collect(item.items, (*outer, item.name), paths)
    return grids


def _mentions_grid(node: syntax.Expression) -> bool:
    match node:
        case syntax.Call(_, "grid", _):
            return True
        case syntax.ListOf(_, items):
            return any(_mentions_grid(item) for item in items)
        case syntax.Binary(_, _, left, right) | syntax.Conditional(_, left, _, right):
            return _mentions_grid(left) or _mentions_grid(right)
        case syntax.Index(_, value, _):
            return _mentions_grid(value)
    return isinstance(node, syntax.Name | syntax.Call)


class LayoutBinder:
    """Reads one layout into runs."""

    def __init__(self, scope: Scope, layout: syntax.Layout) -> None:
        self.scope = scope
        self.layout = layout
        self.tables: dict[str, InstanceTable] = {}
        self.leaves = 0
        self.parents = 0
        self.tokens = 0
        self.instances = 0

    def runs(self) -> Runs:
        """The runs of the axis."""
        names = self.scope.axis_names["queries" if self.layout.axis != "keys" else "keys"]
        rows = Rows(1, {})
        piece = self._block(self.layout.items, rows)
        regions = {}
        for name, table in self.tables.items():
            inside = piece.inside.get(name)
            regions[name] = RegionTable(
                inside if inside is not None else np.full(len(piece.length), -1, dtype=np.int64),
                joined(table.number),
                joined(table.count),
                joined(table.parent),
            )
        for name in names.regions - set(regions):
            regions[name] = RegionTable(
                np.full(len(piece.length), -1, dtype=np.int64), joined([]), joined([]), joined([])
            )
        return Runs(piece.length, piece.leaf, piece.shape, names.paths, regions)

    # ------------------------------------------------------------ levels

    def _block(self, items: tuple[syntax.Item, ...], rows: Rows) -> Piece:
        block = Block(self.parents)
        self.parents += rows.total
        pieces = []
        failed = len(items)
        for item in items:
            with self.scope.findings.catching():
                pieces.append(self._item(item, rows, block))
                failed -= 1
        if failed:
            raise RejectError(None)
        for name, place in block.entries:
            table = self.tables[name]
            table.count[place] = block.next_number[name][table.parent[place] - block.first_parent]
        self._check_names(pieces)
        return merged(pieces, rows.total)

    def _check_names(self, pieces: list[Piece]) -> None:
        """Every run says for every name in which instance it lies: many names over many runs would not fit."""
        names, runs = len(self.tables), sum(len(piece.row) for piece in pieces)
        if names * runs > MOST_INSTANCES * MOST_NESTING * 2:
            raise reject(
                "too-many-instances",
                f"{names:,} names of regions over {runs:,} instances are more than fit",
                self.layout.span,
                "one name with a list of sizes stands for many regions: `document : [300, 200, 524]`",
            )

    def _item(self, item: syntax.Item, rows: Rows, block: Block) -> Piece:
        match item:
            case syntax.Padding(_, size):
                return self._padding(size, rows)
            case syntax.Leaf():
                return self._leaf(item, rows, block)
            case syntax.Group():
                return self._group(item, rows, block)
        raise AssertionError(item)

    def _new_instances(self, name: str, counts: Ints, rows: Rows, block: Block, span: Span) -> tuple[Ints, Ints, Ints]:
        """Number `counts[row]` new instances per row: their rows, numbers and ids."""
        self._count_instances(counts, span)
        begun = block.next_number.get(name, np.zeros(rows.total, dtype=np.int64))
        block.next_number[name] = begun + counts
        owner = np.repeat(np.arange(rows.total, dtype=np.int64), counts)
        within = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        number = begun[owner] + within
        table = self.tables.setdefault(name, InstanceTable())
        ids = table.instances + np.arange(len(owner), dtype=np.int64)
        table.instances += len(owner)
        table.number.append(number)
        table.parent.append(owner + block.first_parent)
        block.entries.append((name, len(table.count)))
        table.count.append(number)
        return owner, number, ids

    def _group(self, item: syntax.Group, rows: Rows, block: Block) -> Piece:
        counts = np.ones(rows.total, dtype=np.int64)
        if item.repeat is not None:
            counts = self._sizes(item.repeat, rows, f"the number of `{item.name}`")
        owner, number, ids = self._new_instances(item.name, counts, rows, block, item.span)
        below = rows.take(owner)
        below.numbers[item.name] = number
        piece = self._block(item.items, below)
        piece.inside[item.name] = np.where(piece.leaf >= 0, ids[piece.row], -1)
        piece.row = owner[piece.row]
        return piece

    def _leaf(self, item: syntax.Leaf, rows: Rows, block: Block) -> Piece:
        leaf = self.leaves
        self.leaves += 1
        counts, lengths, shapes = self._leaf_sizes(item, rows)
        if isinstance(item.size, syntax.Literal) and item.size.value == 0:
            self.scope.findings.warn("always-empty", f"`{item.name}` is always empty", item.span)
        owner, _, ids = self._new_instances(item.name, counts, rows, block, item.span)
        self._count_tokens(lengths, item.size)
        return Piece(owner, lengths, np.full(len(lengths), leaf, dtype=np.int64), shapes, {item.name: ids})

    def _padding(self, size: syntax.Expression, rows: Rows) -> Piece:
        lengths = self._sizes(size, rows, "padding")
        self._count_instances(np.ones(rows.total, dtype=np.int64), size.span)
        self._count_tokens(lengths, size)
        shape = np.full((len(lengths), 3), -1, dtype=np.int64)
        return Piece(
            np.arange(rows.total, dtype=np.int64), lengths, np.full(len(lengths), -1, dtype=np.int64), shape, {}
        )

    def _count_instances(self, counts: Ints, span: Span) -> None:
        largest = int(counts.max(initial=0))
        self.instances += int(counts.sum()) if largest <= MOST_INSTANCES else largest
        if self.instances > MOST_INSTANCES:
            raise reject(
                "too-many-instances",
                f"{self.instances:,} instances of regions, at most {MOST_INSTANCES:,} are allowed",
                span,
            )

    def _count_tokens(self, lengths: Ints, node: syntax.Expression) -> None:
        longest = int(lengths.max(initial=0))
        self.tokens += int(lengths.sum()) if longest < 2**40 else longest
        if self.tokens > MOST_TOKENS:
            how = arithmetic_text(self.scope, node, self.tokens, constant_in(self.scope, Context(Mode.LAYOUT)))
            raise reject(
                "too-many-tokens",
                f"`{how}`: an axis has at most {MOST_TOKENS:,} tokens"
                if len(lengths) == 1 and self.tokens == longest
                else f"the {self.layout.axis} would have {self.tokens:,} tokens, at most {MOST_TOKENS:,} are allowed",
                node.span,
            )

    # ------------------------------------------------------------ sizes

    def _evaluate(self, node: syntax.Expression, rows: Rows) -> Values:
        context = Context(Mode.LAYOUT, regions=tuple(rows.numbers))
        bound = expression(self.scope, node, context)
        if isinstance(bound, ir.Constant):
            return pack([bound.value])
        try:
            return evaluate(bound, RowFrame(rows), np.arange(rows.total, dtype=np.int64))
        except EvaluationError as error:
            which = "" if error.slot is None else f", for {row_words(rows, error.slot)}"
            raise reject("evaluation", f"{error.message}{which}", node.span, error.hint) from None

    def _known(self, rows: Rows, row: int) -> Known:
        """The values of the parts of a size, in one row."""

        def known(node: syntax.Expression) -> Value | None:
            with contextlib.suppress(RejectError, EvaluationError):
                bound = expression(self.scope, node, Context(Mode.LAYOUT, regions=tuple(rows.numbers)))
                if isinstance(bound, ir.Constant):
                    return bound.value
                found = evaluate(bound, RowFrame(rows), np.array([row], np.int64))
                return None if found.present is not None else found.values.tolist()[0]
            return None

        return known

    def _sizes(self, node: syntax.Expression, rows: Rows, what: str) -> Ints:
        found = self._evaluate(node, rows)
        if found.values.dtype != np.int64 or found.present is not None:
            shown = describe(found.values.tolist()[0]) if len(found.values) else "nothing"
            raise reject("size-not-a-number", f"{what} is {shown}, expected a number", node.span)
        sizes = (
            np.broadcast_to(found.values.astype(np.int64), (rows.total,)) if len(found.values) == 1 else found.values
        )
        self._check_negative(sizes.astype(np.int64), node, rows, what)
        return sizes.astype(np.int64)

    def _check_negative(self, sizes: Ints, node: syntax.Expression, rows: Rows, what: str) -> None:
        if len(sizes) and int(sizes.min()) < 0:
            row = int(np.argmin(sizes))
            which = f" in {row_words(rows, row)}" if rows.numbers and len(sizes) == rows.total else ""
            text = arithmetic_text(self.scope, node, int(sizes[row]), self._known(rows, row))
            raise reject("negative-size", f"{what} has a negative size{which}: {text}", node.span)

    def _leaf_sizes(self, item: syntax.Leaf, rows: Rows) -> tuple[Ints, Ints, Ints]:
        """Instances per row, then the length and the shape of every instance."""
        found = self._evaluate(item.size, rows)
        what = f"`{item.name}`"
        if found.values.dtype == np.int64 and found.present is None:
            sizes = np.resize(found.values.astype(np.int64), rows.total)
            self._check_negative(sizes, item.size, rows, what)
            return np.ones(rows.total, dtype=np.int64), sizes, np.full((rows.total, 3), -1, dtype=np.int64)
        per_row = [self._entries(value, item) for value in found.values.tolist()]
        if len(per_row) == 1:
            per_row = per_row * rows.total
        counts = np.array([len(lengths) for lengths, _ in per_row], dtype=np.int64)
        lengths = joined([lengths for lengths, _ in per_row])
        if len(lengths) and int(lengths.min()) < 0:
            place = int(np.argmin(lengths))
            raise reject(
                "negative-size",
                f"{what} has a negative size in its list: entry {place} is {int(lengths[place])}",
                item.size.span,
            )
        shapes = np.concatenate([shape for _, shape in per_row]) if per_row else np.zeros((0, 3), dtype=np.int64)
        return counts, lengths, shapes

    def _entries(self, value: Value, item: syntax.Leaf) -> tuple[Ints, Ints]:
        """Lengths and shapes of the instances that one value of a size stands for."""
        entries: tuple[Value, ...] = value.items if isinstance(value, ListValue) else (value,)
        if isinstance(value, ListValue) and value.array is not None and value.array.dtype == np.int64:
            return value.array.astype(np.int64), np.full((len(value), 3), -1, dtype=np.int64)
        lengths = np.zeros(len(entries), dtype=np.int64)
        shapes = np.full((len(entries), 3), -1, dtype=np.int64)
        for place, entry in enumerate(entries):
            if isinstance(entry, Grid):
                length = 1
                for extent in entry.shape:
                    length *= extent
                lengths[place] = min(length, 2**40)
                shapes[place, 3 - len(entry.shape) :] = entry.shape
            elif type(entry) is int:
                lengths[place] = entry
            else:
                what = "the size" if not isinstance(value, ListValue) else f"entry {place} of the sizes"
                hint = (
                    "a list of lists belongs to `repeat`: `sizes[number of the outer region]`"
                    if isinstance(entry, ListValue)
                    else None
                )
                raise reject(
                    "size-not-a-number",
                    f"{what} of `{item.name}` is {describe(entry)}, expected a number or a grid",
                    item.size.span,
                    hint,
                )
        return lengths, shapes
