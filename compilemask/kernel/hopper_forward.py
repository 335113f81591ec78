"""Forward kernel for Hopper (sm_90a) in Gluon: a persistent, warp-specialised walk over scheduled query tiles.

One program per multiprocessor works through its work tiles; a work tile is 64 * PARTS query rows of one head.
    each of PARTS warpgroups   consumer of 64 rows
    one warp of the last       producer: copies Q, K and V tiles into shared memory with TMA
Every ring slot has two barriers: `ready` counts the bytes that TMA wrote, `free` one arrival per consumer. The K and V
rings run on across work tiles: slot = (key tiles before this work tile + step) % stages, so the next one's keys arrive
while the consumers still finish this one. A work tile's FULL key tiles come first, then its PARTIAL ones.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_consumer import consume
from compilemask.kernel.hopper_program import Config, Masks, Output, Program, Queries
from compilemask.kernel.hopper_ring import Ring, load_tile
from compilemask.kernel.hopper_work import Retries, WorkList


@aggregate
class Sources:
    """What the producer reads."""

    queries: tma.tensor_descriptor  # boxes of 64 rows
    keys: tma.tensor_descriptor  # boxes of BLOCK_N rows
    values: tma.tensor_descriptor
    full_runs: gl.tensor  # int32 [runs, 2]: first key tile and end of each run of FULL tiles
    partial_tiles: gl.tensor  # int32 [entries]: key tile of each PARTIAL tile


@gluon.jit
def _fill_queries(program, descriptor, tile, filled):
    config = program.config
    queries = program.queries
    mbarrier.wait(queries.free, (filled & 1) ^ 1)
    mbarrier.expect(queries.ready, config.PARTS * 64 * config.HEAD_DIM * 2)
    for part in gl.static_range(config.PARTS):
        rows = [tile.batch, tile.head, tile.row + 64 * part, 0]
        load_tile(descriptor, rows, queries.ready, queries.tiles.index(part))


@gluon.jit
def _fill_key_tile(program, sources, tile, number, step):
    """K and V of key tile `number`."""
    key = number * program.config.BLOCK_N
    program.keys.slot(step).fill(sources.keys, tile.key_batch, tile.key_head, key)
    program.values.slot(step).fill(sources.values, tile.key_batch, tile.key_head, key)


@gluon.jit
def _fill_keys(program, sources, tile, step):
    """K and V of all key tiles of a work tile; returns the steps so far."""
    # The masks are always true: Triton 3.6 and 3.7 drop the loop-carried value of what only bounds other loops.
    for r in range(tile.run, tile.runs_end):
        first = gl.load(sources.full_runs + 2 * r, mask=(r >= tile.run) & (r < tile.runs_end), other=0)
        last = gl.load(sources.full_runs + 2 * r + 1)
        for i in range(0, last - first):
            _fill_key_tile(program, sources, tile, first + i, step)
            step += 1
    for i in range(0, tile.partials):
        number = gl.load(sources.partial_tiles + tile.partial + i, mask=i < tile.partials, other=0)
        _fill_key_tile(program, sources, tile, number, step)
        step += 1
    return step


@gluon.jit
def _fetch(program, sources, step, filled, RETRY: gl.constexpr):
    """All work tiles, or with RETRY those that failed; returns the key tiles and Q tiles so far."""
    tile = program.work.load(program.work.first)
    for index in range(program.work.first, program.work.end):
        # the record after this one is on its way while this work tile is copied
        next_tile = program.work.load(index + 1)
        wanted = tile.tiles > 0
        if program.config.OUTPUT_IN_QUERY:
            wanted = tile.tiles >= 0
        if RETRY:
            wanted = wanted & program.retries.has(index)
        if wanted:
            _fill_queries(program, sources.queries, tile, filled)
            step = _fill_keys(program, sources, tile, step)
            filled += 1
        tile = next_tile
    return step, filled


@gluon.jit
def _produce(program, sources):
    zero = gl.to_tensor(0)
    step, filled = _fetch(program, sources, zero, zero, False)
    if program.retries.any(1):
        _fetch(program, sources, step, filled, True)


@gluon.jit
def _barriers(shape: gl.constexpr):
    return gl.allocate_shared_memory(gl.int64, shape, mbarrier.MBarrierLayout())


@gluon.jit
def _share(q_smem, k_smem, v_smem, work, wanted, scale_log2, config, STAGES: gl.constexpr):
    """Makes the barriers between the roles of a program."""
    program = Program(
        queries=Queries(tiles=q_smem, ready=_barriers([1]), free=_barriers([1])),
        keys=Ring(tiles=k_smem, ready=_barriers([STAGES, 1]), free=_barriers([STAGES, 1]), STAGES=STAGES),
        values=Ring(tiles=v_smem, ready=_barriers([STAGES, 1]), free=_barriers([STAGES, 1]), STAGES=STAGES),
        work=work,
        retries=Retries(
            wanted=wanted,
            walked=_barriers([1]),
            counts=gl.allocate_shared_memory(gl.int32, [config.PARTS, 128], gl.SwizzledSharedLayout(1, 1, 1, [0])),
            PARTS=config.PARTS,
        ),
        scale_log2=scale_log2,
        config=config,
    )
    mbarrier.init(program.retries.walked, count=config.PARTS)
    mbarrier.init(program.queries.ready, count=1)
    mbarrier.init(program.queries.free, count=config.PARTS)
    for slot in gl.static_range(STAGES):
        program.keys.init_slot(slot, config.PARTS)
        program.values.init_slot(slot, config.PARTS)
    fence_async_shared()
    return program


@gluon.jit
def _run(program, masks, out, sources, CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr):
    """Starts the roles: consumers, and one warp of producer after them."""
    if program.config.PARTS == 2:
        gl.warp_specialize(
            [
                (consume, (program, masks, out, 0)),
                (consume, (program, masks, out, 1)),
                (_produce, (program, sources)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (program, masks, out, 0)),
                (consume, (program, masks, out, 1)),
                (consume, (program, masks, out, 2)),
                (_produce, (program, sources)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )


@gluon.jit(do_not_specialize=["heads", "query_length"])
def hopper_attention_forward(
    q_desc, k_desc, v_desc, o_desc, lse, work_tiles, work_offsets, retries, full_runs, partial_tiles, partial_patterns,
    pattern_table, heads, query_length, scale_log2,
    PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr,
    Q_IN_REGISTERS: gl.constexpr, OUTPUT_IN_QUERY: gl.constexpr, CONSUMER_REGISTERS: gl.constexpr,
    PRODUCER_REGISTERS: gl.constexpr,
):  # fmt: skip
    """q_desc and o_desc take boxes of 64 rows, k_desc and v_desc of BLOCK_N; lse is contiguous [batch, heads, rows].

    `retries`, int32 [work tiles, PARTS], is scratch: which rows have to be walked again.
    """
    config = Config(
        PARTS=PARTS, BLOCK_N=BLOCK_N, HEAD_DIM=HEAD_DIM, HEAD_DIM_V=HEAD_DIM_V, DTYPE=q_desc.dtype,
        Q_IN_REGISTERS=Q_IN_REGISTERS, OUTPUT_IN_QUERY=OUTPUT_IN_QUERY,
        SCORES=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16]),
        OUTPUT=gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM_V, 16]),
    )  # fmt: skip
    first = gl.load(work_offsets + gl.program_id(0))
    work = WorkList(records=work_tiles, first=first, end=gl.load(work_offsets + gl.program_id(0) + 1))
    q_smem = gl.allocate_shared_memory(config.DTYPE, [PARTS, 1, 1, 64, HEAD_DIM], q_desc.layout)
    o_smem = q_smem
    if not OUTPUT_IN_QUERY:
        o_smem = gl.allocate_shared_memory(config.DTYPE, [PARTS, 1, 1, 64, HEAD_DIM_V], o_desc.layout)
    k_smem = gl.allocate_shared_memory(config.DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM], k_desc.layout)
    v_smem = gl.allocate_shared_memory(config.DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM_V], v_desc.layout)
    program = _share(q_smem, k_smem, v_smem, work, retries, scale_log2, config, STAGES)
    sources = Sources(queries=q_desc, keys=k_desc, values=v_desc, full_runs=full_runs, partial_tiles=partial_tiles)
    masks = Masks(patterns=partial_patterns, words=pattern_table)
    out = Output(descriptor=o_desc, lse=lse, staging=o_smem, heads=heads, query_length=query_length)
    _run(program, masks, out, sources, CONSUMER_REGISTERS, PRODUCER_REGISTERS)
