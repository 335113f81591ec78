"""Some queries and some keys of a mask, small enough for the interpreter and for float64, in the mask's token order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor import build_descriptor
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import register
from compilemask.intervals import Intervals
from compilemask.intervals.order import Permutation, TokenOrder, inverse
from compilemask.measure import sampling
from compilemask.measure.groups import Group, groups
from compilemask.measure.oracle import BlockOracle
from compilemask.measure.places import Place
from compilemask.tiles import TileMap, build_tile_map

INTERPRETED_SIZE = 160
"""Queries and keys that the interpreter is given at most."""

PIECE = 32
GROUPED_SAMPLES, GROUPED_HEADS = 2, 4
"""Samples and query heads of the call that groups heads."""


@dataclass(frozen=True, slots=True, eq=False)
class ReducedVariant:
    """One distinct mask on the chosen tokens: what it means, and the runs that the compiler derived of it.

    `rows` are in the mask's token order; None where all tokens were chosen, as the compiler's own tiles serve then.
    """

    place: Place
    cells: NDArray[np.bool_]  # [queries, keys], in the caller's order
    rows: Intervals | None

    def tiles(self, block_m: int, block_n: int) -> TileMap:
        """Its tile map, in the mask's token order."""
        if self.rows is not None:
            return build_tile_map(self.rows, block_m, block_n)
        return self.place.compiled.tiles(block_m, block_n, self.place.batch, self.place.head)


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ReducedMask:
    """A mask of its own: some tokens of some samples and heads of a mask, in its order.

    `queries` and `keys` are the caller's token numbers, ascending; slot i of the kernel holds the query
    `queries[order.queries[i]]`, and likewise for keys. `table` [samples, heads] tells which of `variants` a sample and
    head of `group` has; an axis of length 1 serves all. `number` stands for the mask in operators.
    """

    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    order: TokenOrder
    variants: tuple[ReducedVariant, ...]
    table: NDArray[np.int32]
    group: Group
    number: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", register(self))

    @property
    def query_length(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def key_length(self) -> int:
        """Number of keys."""
        return len(self.keys)

    @property
    def is_whole(self) -> bool:
        """Whether it has all queries and all keys of the mask that it was taken from."""
        compiled = self.variants[0].place.compiled
        return (self.query_length, self.key_length) == (compiled.query_length, compiled.key_length)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """What the meaning says, [samples, heads, queries, keys], in the caller's order."""
        return np.stack([variant.cells for variant in self.variants])[self.table]

    @property
    def prefix(self) -> str:
        """Which samples and heads of the mask it has, to put before a scope; empty where all are alike."""
        samples, heads = self.table.shape
        words = [f"batch {', '.join(map(str, self.group.samples))}"] if samples > 1 else []
        words += [f"head {', '.join(map(str, self.group.heads))}"] if heads > 1 else []
        return f"{' '.join(words)}: " if words else ""

    def place(self, sample: int, head: int) -> Place:
        """Which sample and head of the mask one of a call stands for."""
        samples, heads = self.table.shape
        row, column = sample % samples, head % heads
        variant = self.variants[int(self.table[row, column])]
        return replace(variant.place, batch=self.group.samples[row], head=self.group.heads[column])

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        """Its descriptor."""
        maps = [variant.tiles(block_m, block_n) for variant in self.variants]
        return build_descriptor(maps, self.table, self.order.queries, self.order.keys)


def reduced_masks(places: Sequence[Place], numbers: int, size: int) -> list[ReducedMask]:
    """At most `size` queries and keys of a mask, a few samples and heads at a time.

    `places` has one place per distinct mask, in the order of their numbers; the first `numbers` are each in one of the
    reduced masks.
    """
    return [_reduced(places, group, (size, size)) for group in groups(_table(places), numbers)]


def grouped_mask(places: Sequence[Place], queries: int, keys: int) -> ReducedMask:
    """At most so many queries and keys, for a call of two samples and four query heads, two of them per key head.

    Where the mask tells two heads a and b apart they are a, b, b, a, so that no two pairs are alike.
    """
    first = groups(_table(places), 1)[0]
    heads = first.heads
    turn = heads if len(heads) == 1 else (*heads, *reversed(heads)) if len(heads) == 2 else (*heads, *heads)
    return _reduced(places, Group(first.samples[:GROUPED_SAMPLES], turn[:GROUPED_HEADS]), (queries, keys))


def _table(places: Sequence[Place]) -> NDArray[np.int32]:
    """[samples, heads] numbers of distinct masks."""
    return np.asarray(places[0].compiled.program.variant, np.int32)


def _reduced(places: Sequence[Place], group: Group, sizes: tuple[int, int]) -> ReducedMask:
    used, own = np.unique(_table(places)[np.ix_(group.samples, group.heads)], return_inverse=True)
    chosen, order = [places[number] for number in used.tolist()], places[0].compiled.order
    queries = sampling.pieces([place.variant.queries for place in chosen], order.queries, sizes[0], PIECE)
    keys = sampling.pieces([place.variant.keys for place in chosen], order.keys, sizes[1], PIECE)
    kept = TokenOrder(_order_of(queries, order.queries), _order_of(keys, order.keys))
    variants = tuple(_variant(place, queries, keys, kept) for place in chosen)
    table = own.reshape(len(group.samples), len(group.heads)).astype(np.int32)
    return ReducedMask(queries, keys, kept, variants, table, group)


def _order_of(tokens: NDArray[np.int64], order: Permutation | None) -> Permutation | None:
    """The places of some tokens, ascending ones, in the order that all tokens have; None if nothing moves."""
    slots = inverse(order)
    if slots is None:
        return None
    found = np.argsort(slots[tokens]).astype(np.int32)
    return None if (np.diff(found) > 0).all() else found


def _variant(place: Place, queries: NDArray[np.int64], keys: NDArray[np.int64], order: TokenOrder) -> ReducedVariant:
    cells, compiled = BlockOracle(place.variant).cells(queries, keys), place.compiled
    if (len(queries), len(keys)) == (compiled.query_length, compiled.key_length):
        return ReducedVariant(place, cells, None)
    rows = compiled.rows_of(place.batch, place.head).select(queries).transpose().select(keys).transpose()
    return ReducedVariant(place, cells, order.move(rows))
