"""The compiled mask: intervals made at once, tiles and descriptors when asked for."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor import Descriptor, build_descriptor
from compilemask.descriptor.registry import register
from compilemask.errors import TooLargeError, UsageError
from compilemask.intervals import Intervals
from compilemask.intervals.layers import Layer
from compilemask.intervals.lowering import Lowered, in_callers_order, in_order
from compilemask.intervals.order import UNMOVED, TokenOrder
from compilemask.intervals.solve import Form
from compilemask.language.program import Program
from compilemask.pipeline.arguments import integer
from compilemask.pipeline.best_order import Candidate
from compilemask.pipeline.explanation import Explanation, explain
from compilemask.pipeline.read_only import read_only
from compilemask.pipeline.statistics import Statistics, tile_statistics
from compilemask.pipeline.stored import StoredMask
from compilemask.source import Diagnostic
from compilemask.tiles import TileMap, layered_tile_map
from compilemask.tiles.limits import check_blocks, few_enough


class CompiledMask:
    """A mask with all sizes known. Immutable, its arrays too; derived things are made once and kept.

    `variant` [batch or 1, heads or 1] is the place in `kept` (and `variants`) of each batch entry and head.
    Intervals and cells use the caller's token numbers; tile maps and descriptors are in the kernel's order.
    `number` stands for the mask in operators that take numbers only.
    `tried_orders`: what `order best` compared, the caller's own order first; empty where it was not asked for.
    """

    def __init__(
        self,
        program: Program,
        kept: tuple[Lowered, ...],
        diagnostics: tuple[Diagnostic, ...],
        order: TokenOrder,
        tried_orders: tuple[Candidate, ...],
        compile_ms: float,
    ) -> None:
        self.program = program
        self.kept = kept
        self.diagnostics = diagnostics
        self.order = order
        self.tried_orders = tried_orders
        variant: NDArray[np.int32] = np.array(program.variant, np.int32)
        self.variant = variant.reshape(program.batch, program.heads)
        self.number = register(self)
        self._compile_ms = compile_ms
        self._rows: dict[int, Intervals] = {}
        self._columns: dict[int, Intervals] = {}
        self._tiles: dict[tuple[int, int, int], TileMap] = {}
        self._descriptors: dict[tuple[int, int], Descriptor] = {}
        self._protect()

    def with_findings(self, found: tuple[Diagnostic, ...]) -> CompiledMask:
        """A mask with further warnings or notes; what was made of this one so far serves both."""
        if not found:
            return self
        other = copy.copy(self)
        other.diagnostics = (*self.diagnostics, *found)
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy, or a mask read from a pickle, is a mask of its own: it gets its own number."""
        self.__dict__.update(state)
        self.number = register(self)
        self._protect()

    def _protect(self) -> None:
        """Arrays of a pickle or a copy can be written to; those made later are protected as they are made."""
        for lowered in self.kept:
            read_only((lowered.intervals, lowered.layers, lowered.order))
        for made in (self._rows, self._columns, self._tiles, self._descriptors):
            read_only(tuple(made.values()))
        read_only((self.variant, self.order))

    def __repr__(self) -> str:
        return f"CompiledMask({self.name!r}, {self.query_length} queries x {self.key_length} keys)"

    @property
    def name(self) -> str:
        """The file's name without folder and suffix."""
        return Path(self.program.name).stem

    @property
    def title(self) -> str:
        """What the file calls itself; may be empty."""
        return self.program.title

    @property
    def query_length(self) -> int:
        """Number of queries, padding included."""
        return self.program.query_length

    @property
    def key_length(self) -> int:
        """Number of keys, padding included."""
        return self.program.key_length

    @property
    def batch(self) -> int:
        """Batch entries that the mask tells apart; 1 serves every batch."""
        return self.program.batch

    @property
    def heads(self) -> int:
        """Heads that the mask tells apart; 1 serves every number of heads."""
        return self.program.heads

    @property
    def compile_ms(self) -> float:
        """Milliseconds from text to intervals, and on to the descriptors made so far."""
        return self._compile_ms

    @property
    def variants(self) -> tuple[Intervals, ...]:
        """Row form of every distinct mask."""
        return tuple(self._rows_of(number) for number in range(len(self.kept)))

    @property
    def rows(self) -> Intervals:
        """Keys of every query of batch 0, head 0."""
        return self.rows_of(0, 0)

    def number_of(self, batch: int = 0, head: int = 0) -> int:
        """The distinct mask of one batch entry and head; UsageError outside of what the mask tells apart."""
        batch, head = integer("batch", batch), integer("head", head)
        for what, number, count in (("batch", batch, self.batch), ("head", head, self.heads)):
            if number < 0 or 1 < count <= number:
                served = f"has {count:,}, numbered 0 to {count - 1:,}" if count > 1 else "serves every number from 0 on"
                raise UsageError(f"{what} {number}: {self.name} {served}")
        return int(self.variant[batch if self.batch > 1 else 0, head if self.heads > 1 else 0])

    def form_of(self, batch: int = 0, head: int = 0) -> Form:
        """In which form this mask has fewer runs and is kept."""
        return self.kept[self.number_of(batch, head)].form

    def rows_of(self, batch: int = 0, head: int = 0) -> Intervals:
        """Keys of every query."""
        return self._rows_of(self.number_of(batch, head))

    def columns_of(self, batch: int = 0, head: int = 0) -> Intervals:
        """Queries of every key."""
        number = self.number_of(batch, head)
        if number not in self._columns:
            with _in_callers_order(self.kept[number]):
                self._columns[number] = read_only(self._callers(number).columns())
        return self._columns[number]

    def dense(self, batch: int = 0, head: int = 0) -> NDArray[np.bool_]:
        """Boolean [queries, keys]; the caller answers for its size."""
        lowered = self._callers(self.number_of(batch, head))
        with _in_callers_order(lowered):
            dense = lowered.intervals_in(lowered.form).to_dense()
        return dense if lowered.form is Form.ROW else dense.T

    def tiles(self, block_m: int = 128, block_n: int = 128, batch: int = 0, head: int = 0) -> TileMap:
        """The tile map, queries and keys in the kernel's order. UsageError for tiles of no or more than 256 tokens."""
        return self.tiles_of(self.number_of(batch, head), block_m, block_n)

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        """What a kernel reads. UsageError for tiles of no or more than 256 tokens."""
        if (block_m, block_n) not in self._descriptors:
            # one by one, so that the limits of all of them end it before all of them are in memory
            maps = list(few_enough(self.tiles_of(number, block_m, block_n) for number in range(len(self.kept))))
            begin = time.perf_counter()
            order = self.order
            descriptor = build_descriptor(maps, self.variant, order.queries, order.keys)
            self._descriptors[block_m, block_n] = read_only(descriptor)
            self._compile_ms += 1000 * (time.perf_counter() - begin)
        return self._descriptors[block_m, block_n]

    def statistics(self, block_m: int = 128, block_n: int = 128) -> Statistics:
        """Counts over all batch entries and heads."""
        descriptor = self.descriptor(block_m, block_n)
        uses = np.bincount(self.variant.reshape(-1), minlength=len(self.kept)).tolist()
        visible = sum(one.intervals.visible * use for one, use in zip(self.kept, uses, strict=True))
        cells = self.query_length * self.key_length * sum(uses)
        runs = [one.runs_per_query() for one in self.kept]
        return Statistics(
            self.query_length,
            self.key_length,
            visible,
            visible / cells if cells else 0.0,
            max(int(one.max(initial=0)) for one in runs),
            float(np.mean([one.mean() if one.size else 0.0 for one in runs])),
            max(int((~one.seeing_queries()).sum()) for one in self.kept),
            max(int((~one.seen_keys()).sum()) for one in self.kept),
            tile_statistics([self.tiles_of(n, block_m, block_n) for n in range(len(self.kept))], uses, visible),
            descriptor.nbytes,
            self.compile_ms,
        )

    @property
    def query_order(self) -> NDArray[np.int64]:
        """The kernel's token order: slot i holds query `query_order[i]` of the text. 0, 1, 2, ... without an order."""
        return _slots(self.order.queries, self.query_length)

    @property
    def key_order(self) -> NDArray[np.int64]:
        """The same of the keys."""
        return _slots(self.order.keys, self.key_length)

    @cached_property
    def stored(self) -> StoredMask:
        """This mask for tensors that are in its token order already, so that a call moves nothing."""
        return StoredMask(copy.copy(self))  # of a copy: two that hold each other would outlive their last use

    def explain(self, query: int, key: int, batch: int = 0, head: int = 0) -> Explanation:
        """Why a query sees a key or not, by which rule. UsageError for a cell outside of the mask."""
        self.number_of(batch, head)
        return explain(self.program, integer("query", query), integer("key", key), batch, head)

    def _rows_of(self, number: int) -> Intervals:
        if number not in self._rows:
            with _in_callers_order(self.kept[number]):
                self._rows[number] = read_only(self._callers(number).rows())
        return self._rows[number]

    def _callers(self, number: int) -> Lowered:
        return in_callers_order(self.kept[number], self.program.variants[number])

    def tiles_of(self, number: int, block_m: int = 128, block_n: int = 128) -> TileMap:
        """The tile map of one distinct mask."""
        check_blocks(block_m, block_n)
        key = (number, block_m, block_n)
        if key not in self._tiles:
            begin = time.perf_counter()
            lowered = self.kept[number]
            if not lowered.layers:
                lowered = in_order(lowered, self.program.variants[number], self.order)
            self._tiles[key] = read_only(tiles_in_order(lowered, self.order, block_m, block_n))
            self._compile_ms += 1000 * (time.perf_counter() - begin)
        return self._tiles[key]


def _slots(order: NDArray[np.int32] | None, length: int) -> NDArray[np.int64]:
    return np.arange(length) if order is None else order.astype(np.int64)


@contextmanager
def _in_callers_order(lowered: Lowered) -> Iterator[None]:
    """Say what works where a mask that is kept in the kernel's order has too many runs in the caller's."""
    try:
        yield
    except TooLargeError as error:
        if not lowered.order.moves:
            raise
        kept = f"as the text orders its tokens this mask has too many runs to list ({error})"
        works = (
            f"in the kernel's order it has {lowered.intervals.runs:,}: tiles, statistics, explain and attention work"
        )
        raise TooLargeError(f"{kept}; {works}, and a shorter mask can be listed") from None


def tiles_in_order(lowered: Lowered, order: TokenOrder, block_m: int, block_n: int) -> TileMap:
    """The tile map of a mask whose queries and keys are put in the kernel's order."""
    intervals, layers, rest = lowered.intervals, lowered.layers, UNMOVED
    if lowered.order is not order:
        rest = order
        if lowered.order.moves:
            intervals, layers = lowered.intervals_in(lowered.form), ()
    if lowered.form is Form.COLUMN:
        return _tile_map(intervals, layers, block_n, block_m, rest.turned()).transpose()
    return _tile_map(intervals, layers, block_m, block_n, rest)


def _tile_map(
    intervals: Intervals, layers: tuple[Layer, ...], block_m: int, block_n: int, order: TokenOrder
) -> TileMap:
    """The map of a mask in row form, or of the layers that it is the union of, in an order."""
    masks: list[Layer] = list(layers) or [intervals]
    if order.queries is not None:
        masks = [mask.permute_rows(order.queries) for mask in masks]
    return layered_tile_map(masks, block_m, block_n, order.keys)
