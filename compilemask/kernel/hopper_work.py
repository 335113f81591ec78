"""The work of one program of the Hopper forward kernel: its tiles, and which of them it has to walk a second time."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

from compilemask.kernel.gluon_aggregate import aggregate

RECORD = gl.constexpr(12)  # int32 fields of a work tile, see compilemask.kernel.schedule


@aggregate
class WorkTile:
    """64 * PARTS query rows of one head, and the key tiles that they see."""

    batch: gl.tensor
    head: gl.tensor
    key_batch: gl.tensor  # batch and head of K and V in memory
    key_head: gl.tensor
    row: gl.tensor  # first of the tile
    partial: gl.tensor  # first entry of the PARTIAL tiles
    partials: gl.tensor
    run: gl.tensor  # first run of FULL tiles
    runs_end: gl.tensor
    tiles: gl.tensor  # key tiles, FULL and PARTIAL


@aggregate
class WorkList:
    """The work tiles `first` to `end` - 1 of all records."""

    records: gl.tensor  # int32 [work tiles, RECORD]
    first: gl.tensor
    end: gl.tensor

    @gluon.jit
    def load(self, index):
        """Work tile `index`, or the last one if that lies behind it."""
        base = self.records + gl.minimum(index, gl.maximum(self.end - 1, 0)) * RECORD
        return WorkTile(
            batch=gl.load(base),
            head=gl.load(base + 1),
            key_batch=gl.load(base + 2),
            key_head=gl.load(base + 3),
            row=gl.load(base + 4),
            partial=gl.load(base + 5),
            partials=gl.load(base + 6),
            run=gl.load(base + 7),
            runs_end=gl.load(base + 8),
            tiles=gl.load(base + 9),
        )


@aggregate
class Retries:
    """Work tiles that failed, as the fast path left its range: the slow path walks them again after all others.

    A consumer notes them one by one in global memory, and tells all roles of the program how many there are.
    """

    wanted: gl.tensor  # int32 [work tiles, PARTS], scratch
    counts: gl.shared_memory_descriptor  # int32 [PARTS, 128]
    walked: gl.shared_memory_descriptor  # barrier: one arrival per consumer, after its last work tile
    PARTS: gl.constexpr

    @gluon.jit
    def note(self, index, PART: gl.constexpr, stored):
        """Notes whether the rows of PART have to be walked again, as they were not stored; 1 if so."""
        place = self.wanted + index * self.PARTS + PART
        again = gl.where(stored, 0, 1)
        gl.store(place, again)
        return again

    @gluon.jit
    def publish(self, PART: gl.constexpr, count):
        """A consumer's number of failed work tiles, for all roles of the program."""
        LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
        self.counts.index(PART).store(gl.full([128], 0, gl.int32, LAYOUT) + count)
        mbarrier.arrive(self.walked, count=1)

    @gluon.jit
    def any(self, WARPS: gl.constexpr):
        """Waits for all consumers: whether any of them failed somewhere. The caller has WARPS warps."""
        LAYOUT: gl.constexpr = gl.BlockedLayout([4 // WARPS], [32], [WARPS], [0])
        mbarrier.wait(self.walked, 0)
        counts = self.counts.index(0).load(LAYOUT)
        for part in gl.static_range(1, self.PARTS):
            counts += self.counts.index(part).load(LAYOUT)
        return gl.max(counts, 0) > 0

    @gluon.jit
    def has(self, index):
        """Whether some consumer failed at this work tile."""
        count = gl.load(self.wanted + index * self.PARTS)
        for part in gl.static_range(1, self.PARTS):
            count += gl.load(self.wanted + index * self.PARTS + part)
        return count > 0
