"""Rings of shared memory between the producer and the consumers of the Hopper forward kernel."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

from compilemask.kernel.gluon_aggregate import aggregate

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared


@gluon.constexpr_function
def _log2(count):
    return count.bit_length() - 1


@aggregate
class Ring:
    """STAGES slots of one tile; step s uses slot s % STAGES, whose barriers complete once per round."""

    tiles: gl.shared_memory_descriptor  # [STAGES, 1, 1, rows, columns]
    ready: gl.shared_memory_descriptor  # barriers [STAGES, 1]: TMA has written all bytes
    free: gl.shared_memory_descriptor  # barriers [STAGES, 1]: one arrival per consumer
    STAGES: gl.constexpr  # a power of two

    @gluon.jit
    def init_slot(self, index, CONSUMERS: gl.constexpr):
        mbarrier.init(self.ready.index(index), count=1)
        mbarrier.init(self.free.index(index), count=CONSUMERS)

    @gluon.jit
    def slot(self, step):
        """The slot of a step; `%` would cost 30 instructions: the compiler can't know that steps are not negative."""
        gl.static_assert((self.STAGES & (self.STAGES - 1)) == 0)
        return Slot(ring=self, step=step, index=step & (self.STAGES - 1))


@aggregate
class Slot:
    """The place of one step in a ring."""

    ring: Ring
    step: gl.tensor
    index: gl.tensor

    @gluon.jit
    def phase(self):
        """The parity that the step's barriers have when they complete."""
        return (self.step >> _log2(self.ring.STAGES)) & 1

    @gluon.jit
    def fill(self, descriptor, batch, head, row):
        """Producer: copies the rows from `row` on as soon as all consumers have released the slot."""
        mbarrier.wait(self.ring.free.index(self.index), self.phase() ^ 1)
        mbarrier.expect(self.ring.ready.index(self.index), descriptor.block_type.nbytes)
        tile = self.ring.tiles.index(self.index)
        load_tile(descriptor, [batch, head, row, 0], self.ring.ready.index(self.index), tile)

    @gluon.jit
    def wait(self, pred=True):
        """Consumer: until the tile has landed; not at all without `pred`."""
        mbarrier.wait(self.ring.ready.index(self.index), self.phase(), pred=pred)

    @gluon.jit
    def tile(self):
        """[rows, columns] in shared memory."""
        tile = self.ring.tiles.index(self.index)
        return tile.reshape([tile.shape[2], tile.shape[3]])

    @gluon.jit
    def release(self):
        """Consumer: has read the tile."""
        mbarrier.arrive(self.ring.free.index(self.index), count=1)
