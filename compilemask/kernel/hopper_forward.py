"""Forward kernel for Hopper (sm_90a) in Gluon: a persistent, warp-specialised walk over scheduled query tiles.

One program per multiprocessor works through its items; an item is one query tile of 64 * PARTS rows of one head.
    each of PARTS warpgroups   consumer of 64 rows
    one warp of the last       producer: copies Q, K and V tiles into shared memory with TMA
Every ring slot has two barriers: `ready` counts the bytes that TMA wrote, `free` one arrival per consumer. The K and V
rings run on across items: slot = (tiles before this item + step) % stages, so the next item's keys arrive while the
consumers still finish this one. An item's FULL tiles come first, then its PARTIAL tiles.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
)

from compilemask.kernel.hopper_consumer import consume
from compilemask.kernel.hopper_items import any_unsound, asked_again, load_item, slot_of, turn_of

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared


@gluon.jit
def _fill(descriptor, batch, head, row, step, ready, free, buffer, STAGES: gl.constexpr, BYTES: gl.constexpr):
    slot = slot_of(step, STAGES)
    mbarrier.wait(free.index(slot), turn_of(step, STAGES) ^ 1)
    mbarrier.expect(ready.index(slot), BYTES)
    load_tile(descriptor, [batch, head, row, 0], ready.index(slot), buffer.index(slot))


@gluon.jit
def _fetch(
    sources, step, filled, PARTS: gl.constexpr, AGAIN: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr,
    HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, OUTPUT_IN_QUERY: gl.constexpr,
):  # fmt: skip
    """Tiles of all items, or with AGAIN of those that were not sound; returns the tiles and items so far."""
    (
        q_desc, k_desc, v_desc, q_smem, k_smem, v_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        full_runs, partial_tiles, items, asks, first_item, last_item, _, _,
    ) = sources  # fmt: skip
    K_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM * 2
    V_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM_V * 2
    final = gl.maximum(last_item - 1, 0)
    batch, head, kb, kh, row, partial, partials, run, runs_end, tiles = load_item(items, gl.minimum(first_item, final))
    for item in range(first_item, last_item):
        # the record after this one is on its way while this item is worked on
        (
            next_batch,
            next_head,
            next_kb,
            next_kh,
            next_row,
            next_partial,
            next_partials,
            next_run,
            next_end,
            next_tiles,
        ) = load_item(items, gl.minimum(item + 1, final))
        wanted = tiles > 0
        if OUTPUT_IN_QUERY:
            wanted = tiles >= 0
        if AGAIN:
            wanted = wanted & asked_again(asks, item, PARTS)
        if wanted:
            mbarrier.wait(q_free, (filled & 1) ^ 1)
            mbarrier.expect(q_ready, PARTS * 64 * HEAD_DIM * 2)
            for part in gl.static_range(PARTS):
                load_tile(q_desc, [batch, head, row + 64 * part, 0], q_ready, q_smem.index(part))
            # The masks are always true: Triton 3.6 and 3.7 drop the loop-carried value of what only bounds other loops.
            for r in range(run, runs_end):
                first = gl.load(full_runs + 2 * r, mask=(r >= run) & (r < runs_end), other=0)
                last = gl.load(full_runs + 2 * r + 1)
                for i in range(0, last - first):
                    key = (first + i) * BLOCK_N
                    _fill(k_desc, kb, kh, key, step, k_ready, k_free, k_smem, STAGES, K_BYTES)
                    _fill(v_desc, kb, kh, key, step, v_ready, v_free, v_smem, STAGES, V_BYTES)
                    step += 1
            for i in range(0, partials):
                key = gl.load(partial_tiles + partial + i, mask=i < partials, other=0) * BLOCK_N
                _fill(k_desc, kb, kh, key, step, k_ready, k_free, k_smem, STAGES, K_BYTES)
                _fill(v_desc, kb, kh, key, step, v_ready, v_free, v_smem, STAGES, V_BYTES)
                step += 1
            filled += 1
        batch = next_batch
        head = next_head
        kb = next_kb
        kh = next_kh
        row = next_row
        partial = next_partial
        partials = next_partials
        run = next_run
        runs_end = next_end
        tiles = next_tiles
    return step, filled


@gluon.jit
def _produce(
    sources, PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr,
    STAGES: gl.constexpr, OUTPUT_IN_QUERY: gl.constexpr,
):  # fmt: skip
    walked, unsound_smem = sources[-2], sources[-1]
    zero = gl.to_tensor(0)
    step, filled = _fetch(sources, zero, zero, PARTS, False, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, OUTPUT_IN_QUERY)
    if any_unsound(walked, unsound_smem, PARTS, 1):
        _fetch(sources, step, filled, PARTS, True, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, OUTPUT_IN_QUERY)


@gluon.jit(do_not_specialize=["heads", "query_length"])
def hopper_attention_forward(
    q_desc, k_desc, v_desc, o_desc, lse, items, item_offsets, asks, full_runs, partial_tiles, partial_patterns,
    pattern_table, heads, query_length, scale_log2,
    PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr,
    Q_IN_REGISTERS: gl.constexpr, OUTPUT_IN_QUERY: gl.constexpr, CONSUMER_REGISTERS: gl.constexpr,
    PRODUCER_REGISTERS: gl.constexpr,
):  # fmt: skip
    """q_desc and o_desc take boxes of 64 rows, k_desc and v_desc of BLOCK_N; lse is contiguous [batch, heads, rows].

    `asks`, int32 [items, PARTS], is scratch: which rows have to be walked again.
    """
    DTYPE: gl.constexpr = q_desc.dtype
    BARRIER: gl.constexpr = mbarrier.MBarrierLayout()
    program = gl.program_id(0)
    first_item = gl.load(item_offsets + program)
    last_item = gl.load(item_offsets + program + 1)
    q_smem = gl.allocate_shared_memory(DTYPE, [PARTS, 1, 1, 64, HEAD_DIM], q_desc.layout)
    o_smem = q_smem
    if not OUTPUT_IN_QUERY:
        o_smem = gl.allocate_shared_memory(DTYPE, [PARTS, 1, 1, 64, HEAD_DIM_V], o_desc.layout)
    k_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM], k_desc.layout)
    v_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM_V], v_desc.layout)
    q_ready = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    q_free = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    k_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    k_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    v_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    v_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    walked = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    unsound_smem = gl.allocate_shared_memory(gl.int32, [PARTS, 128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    mbarrier.init(walked, count=PARTS)
    mbarrier.init(q_ready, count=1)
    mbarrier.init(q_free, count=PARTS)
    for slot in gl.static_range(STAGES):
        mbarrier.init(k_ready.index(slot), count=1)
        mbarrier.init(k_free.index(slot), count=PARTS)
        mbarrier.init(v_ready.index(slot), count=1)
        mbarrier.init(v_free.index(slot), count=PARTS)
    fence_async_shared()
    shared = (
        o_desc, lse, q_smem, k_smem, v_smem, o_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        partial_patterns, pattern_table, items, asks, first_item, last_item, heads, query_length, scale_log2, walked,
        unsound_smem,
    )  # fmt: skip
    sources = (
        q_desc, k_desc, v_desc, q_smem, k_smem, v_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        full_runs, partial_tiles, items, asks, first_item, last_item, walked, unsound_smem,
    )  # fmt: skip
    # constants must be written into the call: in a named tuple they would become tensors
    if PARTS == 2:
        gl.warp_specialize(
            [
                (consume, (shared, 0, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY)),
                (consume, (shared, 1, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY)),
                (_produce, (sources, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, OUTPUT_IN_QUERY)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (shared, 0, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY)),
                (consume, (shared, 1, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY)),
                (consume, (shared, 2, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY)),
                (_produce, (sources, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, OUTPUT_IN_QUERY)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )
