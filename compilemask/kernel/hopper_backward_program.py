"""What the roles of one program of the Hopper backward kernel share: its work, and shared memory with its barriers."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_pieces import pattern_number, pattern_words

RECORD = gl.constexpr(8)  # int32 fields of an item and of a segment, see compilemask.kernel.hopper_backward_schedule
STEP = gl.constexpr(64)  # queries
PATTERN_ROWS = gl.constexpr(128)
TERMS = gl.constexpr(4)  # rows of the query terms: LSE in powers of two, delta, unit of dQ, nothing
STAGES = gl.constexpr(2)


@builtin
def _viewed(memory, dtype, shape, layout, _semantic=None):
    """Shared memory as another shape; the method lost its underscore in Triton 3.9."""
    view = getattr(memory, "reinterpret", None) or memory._reinterpret
    return view(dtype, shape, layout, _semantic=_semantic)


@aggregate
class Config:
    """What a program is compiled for."""

    HEAD_DIM: gl.constexpr
    HEAD_DIM_V: gl.constexpr
    WIDTH: gl.constexpr  # of dK in memory
    WIDTH_V: gl.constexpr
    DTYPE: gl.constexpr
    SCORES: gl.constexpr  # layouts of the accumulators [64 keys, 64 queries],
    DKEY: gl.constexpr  # [64 keys, HEAD_DIM],
    DVALUE: gl.constexpr  # [64 keys, HEAD_DIM_V]
    DQUERY: gl.constexpr  # and [64 queries, HEAD_DIM // 2]


@aggregate
class Item:
    """128 keys of one key head, and the segments that see them."""

    batch: gl.tensor
    matrix: gl.tensor  # of dK and dV
    key_batch: gl.tensor  # batch and head of K and V in memory
    key_head: gl.tensor
    key: gl.tensor  # first of the tile
    segment: gl.tensor
    segments_end: gl.tensor


@aggregate
class Segment:
    """One query head that sees an item's keys, and its query tiles."""

    head: gl.tensor
    partial: gl.tensor  # first entry of the PARTIAL tiles
    partials: gl.tensor
    run: gl.tensor  # first run of FULL tiles
    runs_end: gl.tensor
    tiles: gl.tensor  # query tiles, PARTIAL and FULL
    first_pattern: gl.tensor


@aggregate
class Work:
    """The items `first` to `end` - 1 of all records."""

    records: gl.tensor  # int32 [records, RECORD]
    first: gl.tensor
    end: gl.tensor

    @gluon.jit
    def item(self, index):
        base = self.records + index * RECORD
        return Item(
            batch=gl.load(base),
            matrix=gl.load(base + 1),
            key_batch=gl.load(base + 2),
            key_head=gl.load(base + 3),
            key=gl.load(base + 4),
            segment=gl.load(base + 5),
            segments_end=gl.load(base + 6),
        )

    @gluon.jit
    def segment(self, index):
        base = self.records + index * RECORD
        return Segment(
            head=gl.load(base),
            partial=gl.load(base + 1),
            partials=gl.load(base + 2),
            run=gl.load(base + 3),
            runs_end=gl.load(base + 4),
            tiles=gl.load(base + 5),
            first_pattern=gl.load(base + 6),
        )


@aggregate
class KeyTile:
    """K and V of one item; the barriers complete once per item."""

    keys: gl.shared_memory_descriptor  # [2, 1, 1, 64, HEAD_DIM]
    values: gl.shared_memory_descriptor  # [2, 1, 1, 64, HEAD_DIM_V]
    ready: gl.shared_memory_descriptor
    free: gl.shared_memory_descriptor  # one arrival per consumer


@aggregate
class StepRing:
    """Q, dO and query terms of STAGES steps."""

    queries: gl.shared_memory_descriptor  # [STAGES, 1, 1, STEP, HEAD_DIM]
    douts: gl.shared_memory_descriptor  # [STAGES, 1, 1, STEP, HEAD_DIM_V]
    terms: gl.shared_memory_descriptor  # float32 [STAGES, 1, TERMS, STEP]
    query_ready: gl.shared_memory_descriptor  # with the terms
    dout_ready: gl.shared_memory_descriptor
    free: gl.shared_memory_descriptor  # one arrival per consumer

    @gluon.jit
    def release(self, step):
        mbarrier.arrive(self.free.index(step % STAGES), count=1)

    @gluon.jit
    def term(self, slot, ROW: gl.constexpr, LAYOUT: gl.constexpr):
        """One row of a step's query terms."""
        rows = _viewed(self.terms.index(slot), gl.float32, [TERMS, STEP], gl.SwizzledSharedLayout(1, 1, 1, [0]))
        return rows.index(ROW).load(LAYOUT)


@aggregate
class Exchange:
    """dS of both consumers in two steps: place step % 2 * 2 + consumer."""

    dscores: gl.shared_memory_descriptor  # [4, 64, STEP]
    ready: gl.shared_memory_descriptor  # barriers [4, 1]

    @gluon.jit
    def store(self, dscores, step, PART: gl.constexpr):
        # the other consumer has read what this overwrites: its dS of the step before came after its dQ of the one
        # before that
        self.dscores.index(step % 2 * 2 + PART).store(dscores)
        fence_async_shared()

    @gluon.jit
    def announce(self, step, PART: gl.constexpr):
        """Tells the other consumer that this one's dS is there."""
        mbarrier.arrive(self.ready.index(step % 2 * 2 + PART), count=1)


@aggregate
class Handover:
    """dQ of one step on its way from the consumers, half of the head_dim each, to the adder."""

    halves: gl.shared_memory_descriptor  # int32 [2, 1, STEP, HEAD_DIM // 2]
    ready: gl.shared_memory_descriptor  # barriers [2, 1]
    free: gl.shared_memory_descriptor


@aggregate
class Masks:
    """Bits of the PARTIAL tiles."""

    patterns: gl.tensor  # int32 [entries]: number of each PARTIAL tile's pattern
    words: gl.tensor  # int32 [patterns, 2, 128, 4], see compilemask.kernel.hopper_patterns

    @gluon.jit
    def number(self, entry, any_partial, config):
        return pattern_number(self.patterns, entry, any_partial, STEP, config.SCORES)

    @gluon.jit
    def words_of(self, half, PART: gl.constexpr, config):
        """Words of a step: half a pattern, 2 * number + half."""
        return pattern_words(self.words, half, PART, PATTERN_ROWS, STEP, config.SCORES)


@aggregate
class Program:
    """One program: its work and the shared memory between its roles."""

    tile: KeyTile
    steps: StepRing
    exchange: Exchange
    handover: Handover
    work: Work
    scale_log2: gl.tensor  # of the scores, in powers of two
    config: Config
