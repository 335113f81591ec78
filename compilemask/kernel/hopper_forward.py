"""Forward kernel for Hopper (sm_90a) in Gluon: a persistent, warp-specialised walk over scheduled query tiles.

One program per multiprocessor works through its items; an item is one query tile of 64 * PARTS rows of one head.
    each of PARTS warpgroups   consumer of 64 rows
    one warp of the last       producer: copies Q, K and V tiles into shared memory with TMA
Every ring slot has two barriers: `ready` counts the bytes that TMA wrote, `free` one arrival per consumer. The K and V
rings run on across items: slot = (tiles before this item + step) % stages, so the next item's keys arrive while the
consumers still finish this one. An item's PARTIAL tiles come first, then its FULL tiles.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from compilemask.kernel.hopper_pieces import (
    bias_of,
    pack_weights,
    pattern_number,
    pattern_words,
    rescale,
    softmax_step,
    sum_in_thread,
    unpack_weights,
)

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

RECORD = gl.constexpr(12)  # int32 fields of an item, see compilemask.kernel.schedule
LN_2 = gl.constexpr(0.6931471805599453)


@gluon.jit
def load_item(items, index):
    """batch, head, key batch, key head, first row, first partial, partials, first run, last run, tiles."""
    base = items + index * RECORD
    return (
        gl.load(base), gl.load(base + 1), gl.load(base + 2), gl.load(base + 3), gl.load(base + 4), gl.load(base + 5),
        gl.load(base + 6), gl.load(base + 7), gl.load(base + 8), gl.load(base + 9),
    )  # fmt: skip


@gluon.jit
def _fill(descriptor, batch, head, row, step, ready, free, buffer, STAGES: gl.constexpr, BYTES: gl.constexpr):
    slot = step % STAGES
    mbarrier.wait(free.index(slot), ((step // STAGES) & 1) ^ 1)
    mbarrier.expect(ready.index(slot), BYTES)
    load_tile(descriptor, [batch, head, row, 0], ready.index(slot), buffer.index(slot))


@gluon.jit
def _produce(
    sources, PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr,
    STAGES: gl.constexpr,
):  # fmt: skip
    (
        q_desc, k_desc, v_desc, q_smem, k_smem, v_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        full_runs, partial_tiles, items, first_item, last_item,
    ) = sources  # fmt: skip
    K_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM * 2
    V_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM_V * 2
    step = 0
    filled = 0
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
        if tiles > 0:
            mbarrier.wait(q_free, (filled & 1) ^ 1)
            mbarrier.expect(q_ready, PARTS * 64 * HEAD_DIM * 2)
            for part in gl.static_range(PARTS):
                load_tile(q_desc, [batch, head, row + 64 * part, 0], q_ready, q_smem.index(part))
            # The masks are always true: Triton 3.6 and 3.7 drop the loop-carried value of what only bounds other loops.
            for i in range(0, partials):
                key = gl.load(partial_tiles + partial + i, mask=i < partials, other=0) * BLOCK_N
                _fill(k_desc, kb, kh, key, step, k_ready, k_free, k_smem, STAGES, K_BYTES)
                _fill(v_desc, kb, kh, key, step, v_ready, v_free, v_smem, STAGES, V_BYTES)
                step += 1
            for r in range(run, runs_end):
                first = gl.load(full_runs + 2 * r, mask=(r >= run) & (r < runs_end), other=0)
                last = gl.load(full_runs + 2 * r + 1)
                for i in range(0, last - first):
                    key = (first + i) * BLOCK_N
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


@gluon.jit
def _step(
    step, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed, factor, maximum, total,
    words, number, next_entry, scale_log2, partial_patterns, pattern_table,
    PART: gl.constexpr, MASKED: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr,
    HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, S_LAYOUT: gl.constexpr, O_LAYOUT: gl.constexpr,
    DTYPE: gl.constexpr,
):  # fmt: skip
    """Q x K of this tile beside weights x V of the tile before; K of this tile has landed already."""
    k_slot = step % STAGES
    v_slot = (step - 1) % STAGES
    key = k_smem.index(k_slot).reshape([BLOCK_N, HEAD_DIM]).permute((1, 0))
    if MASKED:
        pending = warpgroup_mma(query, key, bias_of(words, BLOCK_N, S_LAYOUT), is_async=True)
    else:
        zeros = gl.zeros([64, BLOCK_N], gl.float32, S_LAYOUT)
        pending = warpgroup_mma(query, key, zeros, use_acc=False, is_async=True)
    output = rescale(output, factor, HEAD_DIM_V, O_LAYOUT)
    mbarrier.wait(v_ready.index(v_slot), ((step - 1) // STAGES) & 1)
    value = v_smem.index(v_slot).reshape([BLOCK_N, HEAD_DIM_V])
    output = warpgroup_mma(unpack_weights(packed, BLOCK_N, DTYPE, O_LAYOUT), value, output, is_async=True)
    next_words = words
    if MASKED:
        next_words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
        number = pattern_number(partial_patterns, next_entry, True, BLOCK_N, S_LAYOUT)
    scores = warpgroup_mma_wait(1, deps=(pending,))
    mbarrier.arrive(k_free.index(k_slot), count=1)
    weights, maximum, total, factor = softmax_step(scores, maximum, total, scale_log2, MASKED, BLOCK_N)
    # this spin loop ends the basic block: without it ptxas moves the next wait above the softmax
    mbarrier.wait(k_ready.index((step + 1) % STAGES), ((step + 1) // STAGES) & 1, pred=step < last_step)
    output = warpgroup_mma_wait(0, deps=(output,))
    mbarrier.arrive(v_free.index(v_slot), count=1)
    return output, pack_weights(weights, BLOCK_N, DTYPE), factor, maximum, total, next_words, number


@gluon.jit
def _consume(
    shared, PART: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr,
    HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, Q_IN_REGISTERS: gl.constexpr,
):  # fmt: skip
    (
        o_desc, lse, q_smem, k_smem, v_smem, o_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        partial_patterns, pattern_table, items, first_item, last_item, heads, query_length, scale_log2,
    ) = shared  # fmt: skip
    DTYPE: gl.constexpr = o_desc.dtype
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM_V, 16])
    ROWS: gl.constexpr = gl.SliceLayout(1, S_LAYOUT)
    like_total = sum_in_thread(gl.zeros([64, BLOCK_N], gl.float32, S_LAYOUT), BLOCK_N)
    TOTAL: gl.constexpr = like_total.type.layout
    start = 0
    filled = 0
    final = gl.maximum(last_item - 1, 0)
    batch, head, _, _, row, partial, partials, _, _, tiles = load_item(items, gl.minimum(first_item, final))
    for item in range(first_item, last_item):
        next_batch, next_head, _, _, next_row, next_partial, next_partials, _, _, next_tiles = load_item(
            items, gl.minimum(item + 1, final)
        )
        maximum = gl.full([64], float("-inf"), gl.float32, ROWS)
        total = gl.zeros([64, 4], gl.float32, TOTAL)
        output = gl.zeros([64, HEAD_DIM_V], gl.float32, O_LAYOUT)
        if tiles > 0:
            last_entry = partial + gl.maximum(partials - 1, 0)
            masked = partials > 0
            number = pattern_number(partial_patterns, partial, masked, BLOCK_N, S_LAYOUT)
            words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
            words = gl.where(masked, words, -1)
            entry = gl.minimum(partial + 1, last_entry)
            number = pattern_number(partial_patterns, entry, masked, BLOCK_N, S_LAYOUT)
            next_words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
            entry = gl.minimum(partial + 2, last_entry)
            number = pattern_number(partial_patterns, entry, masked, BLOCK_N, S_LAYOUT)
            last_step = start + tiles - 1
            mbarrier.wait(q_ready, filled & 1)
            query = q_smem.index(PART).reshape([64, HEAD_DIM])
            if Q_IN_REGISTERS:
                query = query.load(gl.DotOperandLayout(0, S_LAYOUT, 2))
            slot = start % STAGES
            mbarrier.wait(k_ready.index(slot), (start // STAGES) & 1)
            key = k_smem.index(slot).reshape([BLOCK_N, HEAD_DIM]).permute((1, 0))
            pending = warpgroup_mma(query, key, bias_of(words, BLOCK_N, S_LAYOUT), is_async=True)
            scores = warpgroup_mma_wait(0, deps=(pending,))
            mbarrier.arrive(k_free.index(slot), count=1)
            if Q_IN_REGISTERS:
                # only now: the first product has used `query`, so its loads from shared memory have finished
                mbarrier.arrive(q_free, count=1)
            filled += 1
            weights, maximum, total, factor = softmax_step(scores, maximum, total, scale_log2, True, BLOCK_N)
            packed = pack_weights(weights, BLOCK_N, DTYPE)
            mbarrier.wait(k_ready.index((start + 1) % STAGES), ((start + 1) // STAGES) & 1, pred=tiles > 1)
            for i in range(1, partials):
                output, packed, factor, maximum, total, next_words, number = _step(
                    start + i, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed,
                    factor, maximum, total, next_words, number, gl.minimum(partial + i + 2, last_entry), scale_log2,
                    partial_patterns, pattern_table, PART, True, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES,
                    S_LAYOUT, O_LAYOUT, DTYPE,
                )  # fmt: skip
            for i in range(gl.maximum(partials, 1), tiles):
                output, packed, factor, maximum, total, _, _ = _step(
                    start + i, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed,
                    factor, maximum, total, 0, 0, 0, scale_log2, partial_patterns, pattern_table, PART, False, BLOCK_M,
                    BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, S_LAYOUT, O_LAYOUT, DTYPE,
                )  # fmt: skip
            if not Q_IN_REGISTERS:
                mbarrier.arrive(q_free, count=1)
            start += tiles
            slot = (start - 1) % STAGES
            output = rescale(output, factor, HEAD_DIM_V, O_LAYOUT)
            mbarrier.wait(v_ready.index(slot), ((start - 1) // STAGES) & 1)
            value = v_smem.index(slot).reshape([BLOCK_N, HEAD_DIM_V])
            pending = warpgroup_mma(unpack_weights(packed, BLOCK_N, DTYPE, O_LAYOUT), value, output, is_async=True)
            output = warpgroup_mma_wait(0, deps=(pending,))
            mbarrier.arrive(v_free.index(slot), count=1)
        row_total = gl.convert_layout(gl.sum(total, 1), ROWS)
        # NaN totals are kept, so that a NaN in a visible key comes out
        empty = row_total == 0.0
        inverse = gl.where(empty, 0.0, 1.0 / row_total)
        output = output * gl.convert_layout(inverse, gl.SliceLayout(1, O_LAYOUT))[:, None]
        first_row = row + PART * 64
        rows = first_row + gl.arange(0, 64, ROWS)
        log_sum = gl.where(empty, float("-inf"), maximum * LN_2 + gl.log(row_total))
        head_rows = lse + (batch.to(gl.int64) * heads + head) * query_length
        gl.store(head_rows + rows, log_sum, mask=rows < query_length)
        staging = o_smem.index(PART)
        tma.store_wait(0)
        staging.reshape([64, HEAD_DIM_V]).store(output.to(DTYPE))
        fence_async_shared()
        store_tile(o_desc, [batch, head, first_row, 0], staging)
        batch = next_batch
        head = next_head
        row = next_row
        partial = next_partial
        partials = next_partials
        tiles = next_tiles
    tma.store_wait(0)


@gluon.jit(do_not_specialize=["heads", "query_length"])
def hopper_attention_forward(
    q_desc, k_desc, v_desc, o_desc, lse, items, item_offsets, full_runs, partial_tiles, partial_patterns, pattern_table,
    heads, query_length, scale_log2,
    PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr,
    Q_IN_REGISTERS: gl.constexpr, CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr,
):  # fmt: skip
    """q_desc and o_desc take boxes of 64 rows, k_desc and v_desc of BLOCK_N; lse is contiguous [batch, heads, rows]."""
    DTYPE: gl.constexpr = q_desc.dtype
    BARRIER: gl.constexpr = mbarrier.MBarrierLayout()
    BLOCK_M: gl.constexpr = 64 * PARTS
    program = gl.program_id(0)
    first_item = gl.load(item_offsets + program)
    last_item = gl.load(item_offsets + program + 1)
    q_smem = gl.allocate_shared_memory(DTYPE, [PARTS, 1, 1, 64, HEAD_DIM], q_desc.layout)
    o_smem = gl.allocate_shared_memory(DTYPE, [PARTS, 1, 1, 64, HEAD_DIM_V], o_desc.layout)
    k_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM], k_desc.layout)
    v_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, BLOCK_N, HEAD_DIM_V], v_desc.layout)
    q_ready = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    q_free = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    k_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    k_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    v_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    v_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
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
        partial_patterns, pattern_table, items, first_item, last_item, heads, query_length, scale_log2,
    )  # fmt: skip
    sources = (
        q_desc, k_desc, v_desc, q_smem, k_smem, v_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        full_runs, partial_tiles, items, first_item, last_item,
    )  # fmt: skip
    # constants must be written into the call: in a named tuple they would become tensors
    if PARTS == 2:
        gl.warp_specialize(
            [
                (_consume, (shared, 0, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS)),
                (_consume, (shared, 1, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS)),
                (_produce, (sources, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )
    else:
        gl.warp_specialize(
            [
                (_consume, (shared, 0, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS)),
                (_consume, (shared, 1, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS)),
                (_consume, (shared, 2, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS)),
                (_produce, (sources, PARTS, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )
