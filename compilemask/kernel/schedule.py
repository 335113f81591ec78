"""Which persistent program works on which query tiles, and in which order: made on the host, once per call shape.

Heads go through the GPU in groups whose keys and values fit into L2 together. Query tiles that alone are a good part
of one program's share start first, for all heads; then group after group, heavy tiles first; the lightest of all heads
come last and fill what is left uneven. Each next item goes to the program that has least to do so far (longest
processing time first).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor
from compilemask.kernel.device_tensors import work_per_row

RECORD = 12
PARTIAL_COST = 1.13  # a masked tile in units of an unmasked one
ITEM_COST = 2.0  # starting and ending an item, in the same units
L2_FOR_KEYS = 24 << 20  # bytes of K and V that heads running together may hold in L2
HEAVY_SHARE = 0.1  # of one program's work: such items start first
LIGHT_SHARE = 0.05  # of all work: the lightest items, which need few keys, are dealt last


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
    return max(1, min(batch_heads, L2_FOR_KEYS // max(key_length * head_dims * itemsize, 1)))


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
    order = _order(cost, owners, shape)
    program = deal(cost[order], shape.programs)
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


def _order(cost: NDArray[np.float64], owners: NDArray[np.int64], shape: CallShape) -> NDArray[np.int64]:
    """Positions in the order in which items are dealt."""
    heavy = cost > HEAVY_SHARE * cost.sum() / shape.programs
    lightest = np.argsort(cost, kind="stable")
    light = lightest[np.cumsum(cost[lightest]) < LIGHT_SHARE * cost.sum()]
    group = np.where(heavy, -1, owners // shape.head_group)
    group[light] = shape.batch * shape.heads
    tile = np.arange(len(cost)) % (len(cost) // (shape.batch * shape.heads))
    return np.lexsort((owners, tile, -cost, group))


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
