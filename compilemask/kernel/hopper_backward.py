"""Backward kernel for Hopper (sm_90a) in Gluon: one pass over scheduled key tiles that makes dQ, dK and dV.

One program per multiprocessor works through its items; an item is one tile of 128 keys of one key head, walked by
segments, one per query head that sees it, in steps of 64 queries.
    warps 0-3   consumer, keys 0-63      dK, dV of its keys in registers; dQ of the first half of the head_dim
    warps 4-7   consumer, keys 64-127    the same; dQ of the second half
    warp  8     producer: copies K, V, then Q, dO and the query terms of every step into shared memory with TMA
    warp  9     adder: adds the dQ of every step to memory with TMA (warps 10-11 only fill the warpgroup)

dQ is summed over key tiles in no fixed order, so it is summed in integers: every query has a unit that its dQ cannot
overflow 31 bits of (see `hopper_backward_terms`), and integer sums do not depend on the order. dK and dV are summed by
one program in the order of the lists. The bits are therefore the same on every run.
"""

from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_backward_consumer import consume
from compilemask.kernel.hopper_backward_program import (
    STAGES,
    STEP,
    TERMS,
    Config,
    Exchange,
    Handover,
    KeyTile,
    Masks,
    Program,
    StepRing,
    Work,
)

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared


ADD = ir.DESCRIPTOR_REDUCE_KIND.ADD


@builtin
def _reduce_tile(descriptor, coordinates, source, _semantic=None):
    """`async_atomic_add`, which Gluon has since Triton 3.9; its operation is older."""
    coordinates = _semantic._convert_to_ir_values(coordinates, require_i64=False)
    _semantic.builder.create_async_tma_reduce(ADD, descriptor.handle, coordinates, source.handle)


add_tile = getattr(tma, "async_atomic_add", None) or _reduce_tile


@aggregate
class Lists:
    """Query tiles of 128 rows that the segments refer to."""

    full_runs: gl.tensor  # int32 [runs, 2]: first tile and end of each run of FULL tiles
    partial_tiles: gl.tensor  # int32 [entries]: tile of each PARTIAL entry
    heads: gl.tensor


@aggregate
class Producer:
    """Copies K and V of every item, then Q, dO and query terms of every step."""

    queries: tma.tensor_descriptor
    douts: tma.tensor_descriptor
    keys: tma.tensor_descriptor
    values: tma.tensor_descriptor
    terms: tma.tensor_descriptor
    program: Program

    @gluon.jit
    def start(self, item, before):
        """K and V of an item; `before` items came before it."""
        config = self.program.config
        tile = self.program.tile
        mbarrier.wait(tile.free, (before & 1) ^ 1)
        mbarrier.expect(tile.ready, 128 * (config.HEAD_DIM + config.HEAD_DIM_V) * 2)
        for part in gl.static_range(2):
            rows = [item.key_batch, item.key_head, item.key + 64 * part, 0]
            load_tile(self.keys, rows, tile.ready, tile.keys.index(part))
            load_tile(self.values, rows, tile.ready, tile.values.index(part))

    @gluon.jit
    def step(self, batch, head, flat_head, row, step):
        config = self.program.config
        steps = self.program.steps
        slot = step % STAGES
        mbarrier.wait(steps.free.index(slot), ((step // STAGES) & 1) ^ 1)
        mbarrier.expect(steps.query_ready.index(slot), STEP * config.HEAD_DIM * 2 + TERMS * STEP * 4)
        load_tile(self.queries, [batch, head, row, 0], steps.query_ready.index(slot), steps.queries.index(slot))
        load_tile(self.terms, [flat_head, 0, row], steps.query_ready.index(slot), steps.terms.index(slot))
        mbarrier.expect(steps.dout_ready.index(slot), STEP * config.HEAD_DIM_V * 2)
        load_tile(self.douts, [batch, head, row, 0], steps.dout_ready.index(slot), steps.douts.index(slot))


@aggregate
class Adder:
    """Adds the dQ of every step to memory."""

    sums: tma.tensor_descriptor
    program: Program

    @gluon.jit
    def start(self, item, before):
        pass

    @gluon.jit
    def step(self, batch, head, flat_head, row, step):
        handover = self.program.handover
        HALF: gl.constexpr = self.program.config.HEAD_DIM // 2
        for part in gl.static_range(2):
            mbarrier.wait(handover.ready.index(part), step & 1)
            add_tile(self.sums, [flat_head, row, part * HALF], handover.halves.index(part))
        tma.store_wait(0)
        for part in gl.static_range(2):
            mbarrier.arrive(handover.free.index(part), count=1)


@gluon.jit
def _walk_segment(role, lists, batch, segment, step):
    """The role's work for all queries of a segment, PARTIAL tiles first; returns the steps so far."""
    head = segment.head
    flat_head = batch * lists.heads + head
    # The masks are always true: Triton 3.6 and 3.7 drop the loop-carried value of what only bounds other loops.
    for i in range(0, 2 * segment.partials):
        tile = gl.load(lists.partial_tiles + segment.partial + (i >> 1), mask=i < 2 * segment.partials, other=0)
        role.step(batch, head, flat_head, tile * 128 + (i & 1) * STEP, step)
        step += 1
    for r in range(segment.run, segment.runs_end):
        first = gl.load(lists.full_runs + 2 * r, mask=(r >= segment.run) & (r < segment.runs_end), other=0)
        last = gl.load(lists.full_runs + 2 * r + 1)
        for i in range(0, 2 * (last - first)):
            role.step(batch, head, flat_head, first * 128 + i * STEP, step)
            step += 1
    return step


@gluon.jit
def _walk(role, lists, work):
    """The role's work for all items of a program; a role is a Producer or an Adder."""
    step = 0
    for index in range(work.first, work.end):
        item = work.item(index)
        role.start(item, index - work.first)
        for s in range(item.segment, item.segments_end):
            step = _walk_segment(role, lists, item.batch, work.segment(s), step)


@gluon.jit
def _barriers(shape: gl.constexpr):
    return gl.allocate_shared_memory(gl.int64, shape, mbarrier.MBarrierLayout())


@gluon.jit
def _init_barriers(program):
    mbarrier.init(program.tile.ready, count=1)
    mbarrier.init(program.tile.free, count=2)
    for slot in gl.static_range(STAGES):
        mbarrier.init(program.steps.query_ready.index(slot), count=1)
        mbarrier.init(program.steps.dout_ready.index(slot), count=1)
        mbarrier.init(program.steps.free.index(slot), count=2)
    for place in gl.static_range(4):
        mbarrier.init(program.exchange.ready.index(place), count=1)
    for part in gl.static_range(2):
        mbarrier.init(program.handover.ready.index(part), count=1)
        mbarrier.init(program.handover.free.index(part), count=1)
    fence_async_shared()


@gluon.jit
def _share(q_desc, do_desc, k_desc, v_desc, terms_desc, dq_desc, work, scale_log2, config):
    """Shared memory of a program and the barriers between its roles."""
    DTYPE: gl.constexpr = config.DTYPE
    HEAD_DIM: gl.constexpr = config.HEAD_DIM
    HEAD_DIM_V: gl.constexpr = config.HEAD_DIM_V
    keys = gl.allocate_shared_memory(DTYPE, [2, 1, 1, 64, HEAD_DIM], k_desc.layout)
    values = gl.allocate_shared_memory(DTYPE, [2, 1, 1, 64, HEAD_DIM_V], v_desc.layout)
    queries = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, STEP, HEAD_DIM], q_desc.layout)
    douts = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, STEP, HEAD_DIM_V], do_desc.layout)
    terms = gl.allocate_shared_memory(gl.float32, [STAGES, 1, TERMS, STEP], terms_desc.layout)
    dscores = gl.allocate_shared_memory(DTYPE, [4, 64, STEP], gl.NVMMASharedLayout(128, 16, 2))
    halves = gl.allocate_shared_memory(gl.int32, [2, 1, STEP, HEAD_DIM // 2], dq_desc.layout)
    tile = KeyTile(keys=keys, values=values, ready=_barriers([1]), free=_barriers([1]))
    steps = StepRing(
        queries=queries,
        douts=douts,
        terms=terms,
        query_ready=_barriers([STAGES, 1]),
        dout_ready=_barriers([STAGES, 1]),
        free=_barriers([STAGES, 1]),
    )
    exchange = Exchange(dscores=dscores, ready=_barriers([4, 1]))
    handover = Handover(halves=halves, ready=_barriers([2, 1]), free=_barriers([2, 1]))
    program = Program(
        tile=tile, steps=steps, exchange=exchange, handover=handover, work=work, scale_log2=scale_log2, config=config
    )
    _init_barriers(program)
    return program


@gluon.jit(do_not_specialize=["heads", "key_length"])
def hopper_attention_backward(
    q_desc, do_desc, k_desc, v_desc, terms_desc, dq_desc, dk, dv, records, item_offsets, full_runs,
    partial_tiles, partial_patterns, pattern_table, heads, key_length, scale_log2,
    HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, WIDTH: gl.constexpr, WIDTH_V: gl.constexpr,
    CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr,
):  # fmt: skip
    """Maps take boxes of 64 rows. `dk`, `dv` are contiguous [batch * key heads, keys, WIDTH or WIDTH_V]; dq_desc maps
    int32 sums [batch * heads, queries, HEAD_DIM] that start at zero."""
    config = Config(
        HEAD_DIM=HEAD_DIM, HEAD_DIM_V=HEAD_DIM_V, WIDTH=WIDTH, WIDTH_V=WIDTH_V, DTYPE=q_desc.dtype,
        SCORES=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, STEP, 16]),
        DKEY=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 16]),
        DVALUE=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM_V, 16]),
        DQUERY=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM // 2, 16]),
    )  # fmt: skip
    first = gl.load(item_offsets + gl.program_id(0))
    work = Work(records=records, first=first, end=gl.load(item_offsets + gl.program_id(0) + 1))
    program = _share(q_desc, do_desc, k_desc, v_desc, terms_desc, dq_desc, work, scale_log2, config)
    masks = Masks(patterns=partial_patterns, words=pattern_table)
    lists = Lists(full_runs=full_runs, partial_tiles=partial_tiles, heads=heads)
    producer = Producer(queries=q_desc, douts=do_desc, keys=k_desc, values=v_desc, terms=terms_desc, program=program)
    adder = Adder(sums=dq_desc, program=program)
    gl.warp_specialize(
        [
            (consume, (program, masks, dk, dv, key_length, 0)),
            (consume, (program, masks, dk, dv, key_length, 1)),
            (_walk, (producer, lists, work)),
            (_walk, (adder, lists, work)),
        ],
        [4, 1, 1],
        [CONSUMER_REGISTERS, PRODUCER_REGISTERS, PRODUCER_REGISTERS],
    )
