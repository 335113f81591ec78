"""Which persistent program works on which key tiles in the Hopper backward kernel, made on the host.

An item is one key tile of one key head; its segments are the query heads that see the tile. Items are dealt as those
of the forward schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.descriptor import Descriptor, TileLists
from compilemask.kernel.device_tensors import work_per_row
from compilemask.kernel.schedule import CallShape, share_out

RECORD = 8
PARTIAL_COST = 1.1  # a masked tile in units of an unmasked one
ITEM_COST = 2.0  # starting and ending an item, in the same units


@dataclass(frozen=True, slots=True, eq=False)
class BackwardSchedule:
    """`records[offsets[p]:offsets[p + 1]]` are the items of program p; segments follow after all items.

    An item holds batch, matrix of dK and dV (batch * key heads + key head), batch and head of K and V in memory, first
    key, first segment and end of its segments, as record numbers.
    A segment holds head, first partial entry, partial entries, first full run, end of the full runs, listed tiles and
    the pattern of its first entry; the segments of a program's items follow each other.
    A record that reads as an item without segments lies between the two, and one of zeros after the last segment: the
    record after the last one may be read.
    """

    records: NDArray[np.int32]  # [items + 1 + segments + 1, RECORD]
    offsets: NDArray[np.int32]  # [programs + 1]


def make_backward_schedule(descriptor: Descriptor, shape: CallShape) -> BackwardSchedule:
    """Items of every key tile of every key head, dealt to the programs."""
    lists = descriptor.by_key
    tiles = -(-descriptor.key_length // descriptor.block_n)
    group = shape.heads // shape.kv_heads
    partials = np.diff(lists.partial_offsets).astype(np.int64)
    work = work_per_row(lists)
    variant = np.broadcast_to(descriptor.variant, (shape.batch, shape.heads)).reshape(-1, group)
    rows = variant[:, None, :] * tiles + np.arange(tiles)[None, :, None]  # [matrix, tile, member]
    cost = (work + (PARTIAL_COST - 1.0) * partials)[rows].sum(2).ravel() + ITEM_COST
    owner = np.repeat(np.arange(shape.batch * shape.kv_heads), tiles)
    order, program = share_out(cost, owner, shape.programs, shape.head_group)
    order = order[np.argsort(program, kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(program, minlength=shape.programs))])
    rows = rows.reshape(-1, group)[order]  # [item, member]
    seen = work[rows] > 0
    ends = np.cumsum(seen.sum(1))
    matrix, tile = np.divmod(order, tiles)
    batch, key_head = np.divmod(matrix, shape.kv_heads)
    members = key_head[:, None] * group + np.arange(group)[None, :]
    segments = _segments(lists, rows[seen], members[seen], work)
    first_segment = len(order) + 1
    items = np.zeros((first_segment, RECORD), np.int32)
    items[:-1, 0] = batch
    items[:-1, 1] = matrix
    items[:-1, 2] = 0 if shape.key_batch_shared else batch
    items[:-1, 3] = 0 if shape.key_head_shared else key_head
    items[:-1, 4] = tile * descriptor.block_n
    items[:-1, 5] = first_segment + ends - seen.sum(1)
    items[:-1, 6] = first_segment + ends
    items[-1, 5:7] = first_segment + len(segments) - 1
    return BackwardSchedule(np.concatenate([items, segments]), offsets.astype(np.int32))


def _segments(
    lists: TileLists, row: NDArray[np.int64], head: NDArray[np.int64], work: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Records of list rows, each walked for one query head."""
    partials = np.diff(lists.partial_offsets)[row]
    segments = np.zeros((len(row) + 1, RECORD), np.int32)
    segments[:-1, 0] = head
    segments[:-1, 1] = lists.partial_offsets[row]
    segments[:-1, 2] = partials
    segments[:-1, 3] = lists.full_offsets[row]
    segments[:-1, 4] = lists.full_offsets[row + 1]
    segments[:-1, 5] = work[row]
    begins = lists.partial_offsets[row][partials > 0]
    segments[:-1, 6][partials > 0] = lists.partial_patterns[begins]
    return segments
