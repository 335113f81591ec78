"""Which persistent program works on which query tiles, and in which order: made on the host, once per call shape.

Heads go through the GPU in small groups, so that their keys and values stay in L2, heavy tiles first; each next item
goes to the program that has least to do so far (longest processing time first). What that leaves uneven in the end is
levelled by dealing some items out of their group: the lightest of all heads last, the heaviest of all heads first.
How many is tried out, as few as will do.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor
from compilemask.kernel.device_tensors import work_per_row

RECORD = 12
PARTIAL_COST = 1.13  # a masked tile in units of an unmasked one
ITEM_COST = 2.0  # starting and ending an item, in the same units
L2_FOR_KEYS = 9 << 20  # bytes of K and V of the heads that run together
EVEN_ENOUGH = 1.01  # work of the busiest program in units of what nobody could avoid


@dataclass(frozen=True, slots=True)
class CallShape:
    """What a schedule depends on beside the mask."""

    batch: int
    heads: int
    kv_heads: int
    key_batch_shared: bool  # keys are one batch entry (head) seen by all: a stride of 0
    key_head_shared: bool
    programs: int
    head_group: int


@dataclass(frozen=True, slots=True)
class Levelling:
    """Which items are dealt out of their group: `light` of all work last, and first what exceeds `heavy` of a program's
    share."""

    light: float
    heavy: float = math.inf


LEVELLINGS = (
    Levelling(0.05), Levelling(0.1), Levelling(0.0), Levelling(0.2), Levelling(0.3), Levelling(0.05, 0.25),
    Levelling(0.05, 0.1), Levelling(0.3, 0.1),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """`items[offsets[p]:offsets[p + 1]]` is the work of program p.

    A record holds batch, head, key batch, key head, first query row, first partial entry, partial entries, first full
    run, end of the full runs, listed tiles, and two fields of padding.
    """

    items: NDArray[np.int32]  # [items, RECORD]
    offsets: NDArray[np.int32]  # [programs + 1]


def head_group(key_length: int, head_dims: int, itemsize: int, batch_heads: int) -> int:
    """How many heads run side by side so that their K and V stay in L2. `head_dims` is head_dim + V head_dim."""
    most = max(1, L2_FOR_KEYS // max(key_length * head_dims * itemsize, 1))
    return -(-batch_heads // -(-batch_heads // most))  # groups of one size


def make_schedule(descriptor: Descriptor, shape: CallShape) -> Schedule:
    """Items of every query tile of every head, dealt to the programs."""
    lists = descriptor.by_query
    tiles = -(-descriptor.query_length // descriptor.block_m)
    partials = np.diff(lists.partial_offsets)
    work = work_per_row(lists)
    row_cost = work + (PARTIAL_COST - 1.0) * partials + ITEM_COST
    batch_head = np.arange(shape.batch * shape.heads)
    variant = np.broadcast_to(descriptor.variant, (shape.batch, shape.heads)).ravel()
    rows = (variant[:, None] * tiles + np.arange(tiles)).ravel()
    owners = np.repeat(batch_head, tiles)
    cost = row_cost[rows]
    order, program = share_out(cost, owners, shape.programs, shape.head_group)
    order = order[np.argsort(program, kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(program, minlength=shape.programs))])
    rows, owners = rows[order], owners[order]
    batch, head = np.divmod(owners, shape.heads)
    items = np.zeros((len(order), RECORD), np.int32)
    items[:, 0] = batch
    items[:, 1] = head
    items[:, 2] = 0 if shape.key_batch_shared else batch
    items[:, 3] = 0 if shape.key_head_shared else head // (shape.heads // shape.kv_heads)
    items[:, 4] = rows % tiles * descriptor.block_m
    items[:, 5] = lists.partial_offsets[rows]
    items[:, 6] = partials[rows]
    items[:, 7] = lists.full_offsets[rows]
    items[:, 8] = lists.full_offsets[rows + 1]
    items[:, 9] = work[rows]
    return Schedule(items, offsets.astype(np.int32))


def share_out(
    cost: NDArray[np.float64], owner: NDArray[np.int64], programs: int, head_group: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the items in the order in which they are dealt, and the program of each.

    `cost` and `owner` (head of the whole batch) are those of all tiles of the first head, then of the next, and so on.
    """
    unavoidable = max(cost.sum() / programs, cost.max(initial=0.0))
    tried = []
    for levelling in LEVELLINGS:
        order = _order(cost, owner, programs, head_group, levelling)
        program = deal(cost[order], programs)
        busiest = np.bincount(program, cost[order]).max(initial=0.0)
        tried.append((busiest, order, program))
        if busiest <= EVEN_ENOUGH * unavoidable:
            break
    _, order, program = min(tried, key=lambda attempt: attempt[0])
    return order, program


def _order(
    cost: NDArray[np.float64], owner: NDArray[np.int64], programs: int, head_group: int, levelling: Levelling
) -> NDArray[np.int64]:
    """Positions in the order in which items are dealt."""
    total = cost.sum()
    group = owner // head_group + 1
    group[cost * programs > levelling.heavy * total] = 0
    lightest = np.argsort(cost, kind="stable")
    group[lightest[np.cumsum(cost[lightest]) < levelling.light * total]] = owner[-1] + 2
    tile = np.arange(len(cost)) % np.count_nonzero(owner == owner[0])
    return np.lexsort((owner, tile, -cost, group))


def deal(cost: NDArray[np.float64], programs: int) -> NDArray[np.int64]:
    """Program of each item, every item going to the program that is free first."""
    loads = [(0.0, program) for program in range(programs)]
    replace = heapq.heapreplace
    dealt = []
    for item_cost in cost.tolist():
        load, program = loads[0]
        replace(loads, (load + item_cost, program))
        dealt.append(program)
    return np.array(dealt, np.int64)
