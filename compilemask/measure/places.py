"""The distinct masks of a program, each where it is met first, and what its cells are called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor
from compilemask.language.axis import Axis
from compilemask.language.program import Variant
from compilemask.measure.naming import token_name
from compilemask.measure.report import WrongCell
from compilemask.pipeline import CompiledMask

Slots = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One distinct mask of a program, by the first sample and head that have it.

    `number` is its variant in the descriptor; `query_order[slot]` is the caller's query in a slot of the kernel.
    """

    compiled: CompiledMask
    variant: Variant
    number: int
    batch: int
    head: int
    query_order: Slots
    key_order: Slots

    @property
    def prefix(self) -> str:
        """Sample and head, to put before what was compared; empty where one mask serves all."""
        return f"batch {self.batch} head {self.head}: " if len(self.compiled.program.variants) > 1 else ""

    def wrong(self, query: int, key: int, block: tuple[int, int], expected: str, found: str) -> WrongCell:
        """The record of a cell given by the caller's token numbers; -1 where a whole row or column is meant.

        The tile is counted in the kernel's order.
        """
        tile = _tile_of(self.query_order, query, block[0]), _tile_of(self.key_order, key, block[1])
        names = _name_of(self.variant.queries, query), _name_of(self.variant.keys, key)
        return WrongCell(self.batch, self.head, query, key, *names, tile, expected, found)


def _tile_of(order: Slots, token: int, block: int) -> int:
    return int(np.flatnonzero(order == token)[0]) // block if token >= 0 else -1


def _name_of(axis: Axis, token: int) -> str:
    return token_name(axis, token) if token >= 0 else ""


def places(compiled: CompiledMask, descriptor: Descriptor) -> list[Place]:
    """One place per distinct mask."""
    table = np.asarray(compiled.program.variant)
    orders = [
        np.arange(length, dtype=np.int64) if order is None else order.astype(np.int64)
        for order, length in (
            (descriptor.query_order, compiled.query_length),
            (descriptor.key_order, compiled.key_length),
        )
    ]
    found = []
    for number in range(len(compiled.program.variants)):
        batch, head = np.argwhere(table == number)[0].tolist()
        rows, columns = descriptor.variant.shape
        stored = int(descriptor.variant[batch if rows > 1 else 0, head if columns > 1 else 0])
        variant = compiled.program.variants[number]
        found.append(Place(compiled, variant, stored, batch, head, orders[0], orders[1]))
    return found
