"""Backward kernel for Hopper (sm_90a) in Gluon: one pass over scheduled key tiles that makes dQ, dK and dV.

One program per multiprocessor works through its items; an item is one tile of 128 keys of one key head, walked by
segments, one per query head that sees it, in steps of 64 queries.
    warps 0-3   consumer, keys 0-63      dK, dV of its keys in registers; dQ of the first half of the head_dim
    warps 4-7   consumer, keys 64-127    the same; dQ of the second half
    warp  8     producer: copies K, V, then Q, dO and the query terms of every step into shared memory with TMA
    warp  9     adder: adds the dQ of every step to memory with TMA (warps 10-11 only fill the warpgroup)
A consumer keeps its scores transposed, [64 keys, 64 queries]: the weights are then the left operand of dV in registers
as they are. dQ needs the dS of both consumers, so it is made one step later, when both lie in shared memory.

dQ is summed over key tiles in no fixed order, so it is summed in integers: every query has a unit that its dQ cannot
overflow 31 bits of (see `hopper_backward_terms`), and integer sums do not depend on the order. dK and dV are summed by
one program in the order of the lists. The bits are therefore the same on every run.
"""

from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from compilemask.kernel.hopper_pieces import bias_of, pattern_number, pattern_words

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared

ITEM = gl.constexpr(8)  # int32 fields of an item and of a segment, see compilemask.kernel.hopper_backward_schedule
STEP = gl.constexpr(64)  # queries
PATTERN_ROWS = gl.constexpr(128)
TERMS = gl.constexpr(4)  # rows of the query terms: LSE in powers of two, delta, unit of dQ, nothing
STAGES = gl.constexpr(2)
LN_2 = gl.constexpr(0.6931471805599453)


@builtin
def _reduce_tile(descriptor, coordinates, source, _semantic=None):
    """`async_atomic_add`, which Gluon has since Triton 3.9; its operation is older."""
    coordinates = _semantic._convert_to_ir_values(coordinates, require_i64=False)
    kind = ir.DESCRIPTOR_REDUCE_KIND.ADD
    _semantic.builder.create_async_tma_reduce(kind, descriptor.handle, coordinates, source.handle)


@builtin
def _viewed(memory, dtype, shape, layout, _semantic=None):
    """Shared memory as another shape; the method lost its underscore in Triton 3.9."""
    view = getattr(memory, "reinterpret", None) or memory._reinterpret
    return view(dtype, shape, layout, _semantic=_semantic)


add_tile = getattr(tma, "async_atomic_add", None) or _reduce_tile


@gluon.jit
def _load_item(records, index):
    """batch, matrix of dK and dV, batch and head of K and V in memory, first key, first segment, end of segments."""
    base = records + index * ITEM
    return (
        gl.load(base), gl.load(base + 1), gl.load(base + 2), gl.load(base + 3), gl.load(base + 4), gl.load(base + 5),
        gl.load(base + 6),
    )  # fmt: skip


@gluon.jit
def _load_segment(records, index):
    """head, first partial entry, partials, first full run, end of the runs, listed tiles, the first entry's pattern."""
    base = records + index * ITEM
    return (
        gl.load(base), gl.load(base + 1), gl.load(base + 2), gl.load(base + 3), gl.load(base + 4), gl.load(base + 5),
        gl.load(base + 6),
    )  # fmt: skip


@gluon.jit
def _fill_step(
    q_desc, do_desc, terms_desc, q_smem, do_smem, terms_smem, q_ready, do_ready, step_free, batch, head, flat_head, row,
    step, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr,
):  # fmt: skip
    slot = step % STAGES
    mbarrier.wait(step_free.index(slot), ((step // STAGES) & 1) ^ 1)
    mbarrier.expect(q_ready.index(slot), STEP * HEAD_DIM * 2 + TERMS * STEP * 4)
    load_tile(q_desc, [batch, head, row, 0], q_ready.index(slot), q_smem.index(slot))
    load_tile(terms_desc, [flat_head, 0, row], q_ready.index(slot), terms_smem.index(slot))
    mbarrier.expect(do_ready.index(slot), STEP * HEAD_DIM_V * 2)
    load_tile(do_desc, [batch, head, row, 0], do_ready.index(slot), do_smem.index(slot))


@gluon.jit
def _produce(
    q_desc, do_desc, k_desc, v_desc, terms_desc, q_smem, do_smem, terms_smem, k_smem, v_smem, q_ready, do_ready,
    step_free, kv_ready, kv_free, full_runs, partial_tiles, records, first_item, last_item, heads,
    HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr,
):  # fmt: skip
    step = 0
    for item in range(first_item, last_item):
        batch, _, kb, kh, key, segment, segments_end = _load_item(records, item)
        mbarrier.wait(kv_free, ((item - first_item) & 1) ^ 1)
        mbarrier.expect(kv_ready, 128 * (HEAD_DIM + HEAD_DIM_V) * 2)
        for part in gl.static_range(2):
            load_tile(k_desc, [kb, kh, key + 64 * part, 0], kv_ready, k_smem.index(part))
            load_tile(v_desc, [kb, kh, key + 64 * part, 0], kv_ready, v_smem.index(part))
        for s in range(segment, segments_end):
            head, partial, partials, run, runs_end, _, _ = _load_segment(records, s)
            flat_head = batch * heads + head
            # The masks are always true: Triton 3.6 and 3.7 drop the loop-carried value of what only bounds other loops.
            for i in range(0, 2 * partials):
                tile = gl.load(partial_tiles + partial + (i >> 1), mask=i < 2 * partials, other=0)
                _fill_step(
                    q_desc, do_desc, terms_desc, q_smem, do_smem, terms_smem, q_ready, do_ready, step_free, batch,
                    head, flat_head, tile * 128 + (i & 1) * STEP, step, HEAD_DIM, HEAD_DIM_V,
                )  # fmt: skip
                step += 1
            for r in range(run, runs_end):
                first = gl.load(full_runs + 2 * r, mask=(r >= run) & (r < runs_end), other=0)
                last = gl.load(full_runs + 2 * r + 1)
                for i in range(0, 2 * (last - first)):
                    _fill_step(
                        q_desc, do_desc, terms_desc, q_smem, do_smem, terms_smem, q_ready, do_ready, step_free, batch,
                        head, flat_head, first * 128 + i * STEP, step, HEAD_DIM, HEAD_DIM_V,
                    )  # fmt: skip
                    step += 1


@gluon.jit
def _add_step(dq_desc, dq_smem, dq_ready, dq_free, flat_head, row, step, HALF: gl.constexpr):
    for part in gl.static_range(2):
        mbarrier.wait(dq_ready.index(part), step & 1)
        add_tile(dq_desc, [flat_head, row, part * HALF], dq_smem.index(part))
    tma.store_wait(0)
    for part in gl.static_range(2):
        mbarrier.arrive(dq_free.index(part), count=1)


@gluon.jit
def _add(
    dq_desc, dq_smem, dq_ready, dq_free, full_runs, partial_tiles, records, first_item, last_item, heads,
    HALF: gl.constexpr,
):  # fmt: skip
    step = 0
    for item in range(first_item, last_item):
        batch, _, _, _, _, segment, segments_end = _load_item(records, item)
        for s in range(segment, segments_end):
            head, partial, partials, run, runs_end, _, _ = _load_segment(records, s)
            flat_head = batch * heads + head
            for i in range(0, 2 * partials):
                tile = gl.load(partial_tiles + partial + (i >> 1), mask=i < 2 * partials, other=0)
                _add_step(dq_desc, dq_smem, dq_ready, dq_free, flat_head, tile * 128 + (i & 1) * STEP, step, HALF)
                step += 1
            for r in range(run, runs_end):
                first = gl.load(full_runs + 2 * r, mask=(r >= run) & (r < runs_end), other=0)
                last = gl.load(full_runs + 2 * r + 1)
                for i in range(0, 2 * (last - first)):
                    _add_step(dq_desc, dq_smem, dq_ready, dq_free, flat_head, first * 128 + i * STEP, step, HALF)
                    step += 1


@gluon.jit
def _start_dq(step, k_smem, ds_smem, ds_ready, PART: gl.constexpr, HEAD_DIM: gl.constexpr, Q_LAYOUT: gl.constexpr):
    """dS^T K of one step, own half of the head_dim: own keys first, the other consumer's dS may still be on its way."""
    HALF: gl.constexpr = HEAD_DIM // 2
    OTHER: gl.constexpr = 1 - PART
    slot = step % 2
    own = k_smem.index(PART).reshape([64, HEAD_DIM]).slice(PART * HALF, HALF, 1)
    pending = warpgroup_mma(
        ds_smem.index(slot * 2 + PART).permute((1, 0)), own, gl.zeros([STEP, HALF], gl.float32, Q_LAYOUT),
        use_acc=False, is_async=True,
    )  # fmt: skip
    mbarrier.wait(ds_ready.index(slot * 2 + OTHER), (step // 2) & 1)
    other = k_smem.index(OTHER).reshape([64, HEAD_DIM]).slice(PART * HALF, HALF, 1)
    return warpgroup_mma(ds_smem.index(slot * 2 + OTHER).permute((1, 0)), other, pending, is_async=True)


@gluon.jit
def _hand_over_dq(dquery, unit, step, dq_smem, dq_ready, dq_free, PART: gl.constexpr):
    """Gives the dQ of a step, in units of its queries, to the adder."""
    mbarrier.wait(dq_free.index(PART), (step & 1) ^ 1)
    whole = gl.inline_asm_elementwise(
        "cvt.rni.s32.f32 $0, $1;", "=r,f", [dquery * unit[:, None]], dtype=gl.int32, is_pure=True, pack=1
    )
    dq_smem.index(PART).reshape([STEP, dq_smem.shape[3]]).store(whole)
    fence_async_shared()
    mbarrier.arrive(dq_ready.index(PART), count=1)


@gluon.jit
def _term(terms_smem, slot, ROW: gl.constexpr, LAYOUT: gl.constexpr):
    """One row of a step's query terms."""
    rows = _viewed(terms_smem.index(slot), gl.float32, [TERMS, STEP], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    return rows.index(ROW).load(LAYOUT)


@gluon.jit
def _step(
    step, unit, dkey, dvalue, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem, q_ready, do_ready,
    step_free, ds_ready, dq_ready, dq_free, scale_log2, words, number, next_half, next_entry, partial_patterns,
    pattern_table,
    PART: gl.constexpr, FIRST: gl.constexpr, MASKED: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr,
    S_LAYOUT: gl.constexpr, K_LAYOUT: gl.constexpr, V_LAYOUT: gl.constexpr, Q_LAYOUT: gl.constexpr,
    DTYPE: gl.constexpr,
):  # fmt: skip
    """64 queries: dQ of the step before beside K Q^T, then V dO^T beside the weights, dV beside dS, dK."""
    slot = step % STAGES
    turn = (step // STAGES) & 1
    ds_slot = step % 2
    zeros = gl.zeros([64, STEP], gl.float32, S_LAYOUT)
    if not FIRST:
        pending_dq = _start_dq(step - 1, k_smem, ds_smem, ds_ready, PART, HEAD_DIM, Q_LAYOUT)
    mbarrier.wait(q_ready.index(slot), turn)
    key = k_smem.index(PART).reshape([64, HEAD_DIM])
    value = v_smem.index(PART).reshape([64, HEAD_DIM_V])
    query = q_smem.index(slot).reshape([STEP, HEAD_DIM])
    dout = do_smem.index(slot).reshape([STEP, HEAD_DIM_V])
    if MASKED:
        pending = warpgroup_mma(key, query.permute((1, 0)), bias_of(words, STEP, S_LAYOUT), is_async=True)
    else:
        pending = warpgroup_mma(key, query.permute((1, 0)), zeros, use_acc=False, is_async=True)
    if not FIRST:
        # all products of the step before have ended, so its slot may be filled again
        mbarrier.arrive(step_free.index((step - 1) % STAGES), count=1)
        dquery = warpgroup_mma_wait(1, deps=(pending_dq,))
        _hand_over_dq(dquery, unit, step - 1, dq_smem, dq_ready, dq_free, PART)
    mbarrier.wait(do_ready.index(slot), turn)
    pending_dp = warpgroup_mma(
        value, dout.permute((1, 0)), gl.zeros([64, STEP], gl.float32, S_LAYOUT), use_acc=False, is_async=True
    )
    next_words = words
    if MASKED:
        next_words = pattern_words(pattern_table, number * 2 + next_half, PART, PATTERN_ROWS, STEP, S_LAYOUT)
        number = pattern_number(partial_patterns, next_entry, True, STEP, S_LAYOUT)
    lse = _term(terms_smem, slot, 0, gl.SliceLayout(0, S_LAYOUT))
    scores = warpgroup_mma_wait(1, deps=(pending,))
    weights = gl.exp2(scores * scale_log2 - lse[None, :])
    left = gl.convert_layout(weights.to(DTYPE), gl.DotOperandLayout(0, V_LAYOUT, 2))
    dvalue = warpgroup_mma(left, dout, dvalue, is_async=True)
    delta = _term(terms_smem, slot, 1, gl.SliceLayout(0, S_LAYOUT))
    unit = _term(terms_smem, slot, 2, gl.SliceLayout(1, Q_LAYOUT))
    dweights = warpgroup_mma_wait(1, deps=(pending_dp,))
    dscores = (weights * (dweights - delta[None, :])).to(DTYPE)
    # the other consumer has read what this overwrites: its dS of the step before came after its dQ of two steps before
    ds_smem.index(ds_slot * 2 + PART).store(dscores)
    fence_async_shared()
    left = gl.convert_layout(dscores, gl.DotOperandLayout(0, K_LAYOUT, 2))
    dkey = warpgroup_mma(left, query, dkey, is_async=True)
    mbarrier.arrive(ds_ready.index(ds_slot * 2 + PART), count=1)
    dvalue, dkey = warpgroup_mma_wait(0, deps=(dvalue, dkey))
    return dkey, dvalue, unit, next_words, number


@gluon.constexpr_function
def _wide_layout(columns):
    """Like the accumulator's, but a thread holds 8 columns together: only the lanes of a quad exchange cells."""
    register = [[0, 1], [0, 2], [0, 4], [8, 0]] + [[0, 32 << i] for i in range((columns // 64).bit_length())]
    lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]
    return gl.DistributedLinearLayout(register, lane, [[16, 0], [32, 0]], [], [64, columns])


@gluon.jit
def _store_rows(base, first_row, accumulator, rows_end, WIDTH: gl.constexpr):
    """Rows of a contiguous [keys, WIDTH] matrix; `accumulator` may be wider."""
    LAYOUT: gl.constexpr = _wide_layout(accumulator.shape[1])
    cells = gl.convert_layout(accumulator.to(base.dtype.element_ty), LAYOUT)
    rows = first_row + gl.arange(0, 64, gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, accumulator.shape[1], gl.SliceLayout(0, LAYOUT))
    pointers = base + rows.to(gl.int64)[:, None] * WIDTH + columns[None, :]
    mask = (rows < rows_end)[:, None]
    if accumulator.shape[1] > WIDTH:
        mask = mask & (columns < WIDTH)[None, :]
    gl.store(pointers, cells, mask=mask)


@gluon.jit
def _consume(
    dk, dv, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem, q_ready, do_ready, step_free, kv_ready,
    kv_free, ds_ready, dq_ready, dq_free, partial_patterns, pattern_table, records, first_item, last_item,
    key_length, scale_log2,
    PART: gl.constexpr, HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, WIDTH: gl.constexpr, WIDTH_V: gl.constexpr,
    DTYPE: gl.constexpr,
):  # fmt: skip
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, STEP, 16])
    K_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 16])
    V_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM_V, 16])
    Q_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM // 2, 16])
    step = 0
    # segments lie in the order of the walk: the next one's record and words are loaded while this one ends
    first_segment = gl.load(records + first_item * ITEM + 5)
    _, partial, partials, _, _, tiles, first_number = _load_segment(records, first_segment)
    words = pattern_words(pattern_table, first_number * 2, PART, PATTERN_ROWS, STEP, S_LAYOUT)
    for item in range(first_item, last_item):
        _, _, _, _, _, segment, segments_end = _load_item(records, item)
        dkey = gl.zeros([64, HEAD_DIM], gl.float32, K_LAYOUT)
        dvalue = gl.zeros([64, HEAD_DIM_V], gl.float32, V_LAYOUT)
        mbarrier.wait(kv_ready, (item - first_item) & 1)
        for s in range(segment, segments_end):
            last_entry = partial + gl.maximum(partials - 1, 0)
            unit = gl.zeros([STEP], gl.float32, gl.SliceLayout(1, Q_LAYOUT))
            number = pattern_number(partial_patterns, partial, partials > 0, STEP, S_LAYOUT)
            words = gl.where(partials > 0, words, -1)
            dkey, dvalue, unit, words, number = _step(
                step, unit, dkey, dvalue, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem, q_ready,
                do_ready, step_free, ds_ready, dq_ready, dq_free, scale_log2, words, number, 1,
                gl.minimum(partial + 1, last_entry), partial_patterns, pattern_table,
                PART, True, True, HEAD_DIM, HEAD_DIM_V, S_LAYOUT, K_LAYOUT, V_LAYOUT, Q_LAYOUT, DTYPE,
            )  # fmt: skip
            for i in range(1, 2 * partials):
                dkey, dvalue, unit, words, number = _step(
                    step + i, unit, dkey, dvalue, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem,
                    q_ready, do_ready, step_free, ds_ready, dq_ready, dq_free, scale_log2, words, number, (i + 1) & 1,
                    gl.minimum(partial + ((i + 2) >> 1), last_entry), partial_patterns, pattern_table,
                    PART, False, True, HEAD_DIM, HEAD_DIM_V, S_LAYOUT, K_LAYOUT, V_LAYOUT, Q_LAYOUT, DTYPE,
                )  # fmt: skip
            for i in range(gl.maximum(2 * partials, 1), 2 * tiles):
                dkey, dvalue, unit, _, _ = _step(
                    step + i, unit, dkey, dvalue, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem,
                    q_ready, do_ready, step_free, ds_ready, dq_ready, dq_free, scale_log2, 0, 0, 0, 0, 0, 0,
                    PART, False, False, HEAD_DIM, HEAD_DIM_V, S_LAYOUT, K_LAYOUT, V_LAYOUT, Q_LAYOUT, DTYPE,
                )  # fmt: skip
            step += 2 * tiles
            pending_dq = _start_dq(step - 1, k_smem, ds_smem, ds_ready, PART, HEAD_DIM, Q_LAYOUT)
            _, partial, partials, _, _, tiles, first_number = _load_segment(records, s + 1)
            mbarrier.arrive(step_free.index((step - 1) % STAGES), count=1)
            dquery = warpgroup_mma_wait(0, deps=(pending_dq,))
            _hand_over_dq(dquery, unit, step - 1, dq_smem, dq_ready, dq_free, PART)
            words = pattern_words(pattern_table, first_number * 2, PART, PATTERN_ROWS, STEP, S_LAYOUT)
        mbarrier.arrive(kv_free, count=1)
        _, matrix, _, _, key, _, _ = _load_item(records, item)
        matrix_start = matrix.to(gl.int64) * key_length
        first_key = key + PART * 64
        _store_rows(dk + matrix_start * WIDTH, first_key, dkey * (scale_log2 * LN_2), key_length, WIDTH)
        _store_rows(dv + matrix_start * WIDTH_V, first_key, dvalue, key_length, WIDTH_V)


@gluon.jit(do_not_specialize=["heads", "key_length"])
def hopper_attention_backward(
    q_desc, do_desc, k_desc, v_desc, terms_desc, dq_desc, dk, dv, records, item_offsets, full_runs,
    partial_tiles, partial_patterns, pattern_table, heads, key_length, scale_log2,
    HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, WIDTH: gl.constexpr, WIDTH_V: gl.constexpr,
    CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr,
):  # fmt: skip
    """Maps take boxes of 64 rows. `dk`, `dv` are contiguous [batch * key heads, keys, WIDTH or WIDTH_V]; dq_desc maps
    int32 sums [batch * heads, queries, HEAD_DIM] that start at zero."""
    DTYPE: gl.constexpr = q_desc.dtype
    BARRIER: gl.constexpr = mbarrier.MBarrierLayout()
    program = gl.program_id(0)
    first_item = gl.load(item_offsets + program)
    last_item = gl.load(item_offsets + program + 1)
    k_smem = gl.allocate_shared_memory(DTYPE, [2, 1, 1, 64, HEAD_DIM], k_desc.layout)
    v_smem = gl.allocate_shared_memory(DTYPE, [2, 1, 1, 64, HEAD_DIM_V], v_desc.layout)
    q_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, STEP, HEAD_DIM], q_desc.layout)
    do_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, STEP, HEAD_DIM_V], do_desc.layout)
    terms_smem = gl.allocate_shared_memory(gl.float32, [STAGES, 1, TERMS, STEP], terms_desc.layout)
    ds_smem = gl.allocate_shared_memory(DTYPE, [4, 64, STEP], gl.NVMMASharedLayout(128, 16, 2))
    dq_smem = gl.allocate_shared_memory(gl.int32, [2, 1, STEP, HEAD_DIM // 2], dq_desc.layout)
    kv_ready = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    kv_free = gl.allocate_shared_memory(gl.int64, [1], BARRIER)
    q_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    do_ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    step_free = gl.allocate_shared_memory(gl.int64, [STAGES, 1], BARRIER)
    ds_ready = gl.allocate_shared_memory(gl.int64, [4, 1], BARRIER)
    dq_ready = gl.allocate_shared_memory(gl.int64, [2, 1], BARRIER)
    dq_free = gl.allocate_shared_memory(gl.int64, [2, 1], BARRIER)
    mbarrier.init(kv_ready, count=1)
    mbarrier.init(kv_free, count=2)
    for slot in gl.static_range(STAGES):
        mbarrier.init(q_ready.index(slot), count=1)
        mbarrier.init(do_ready.index(slot), count=1)
        mbarrier.init(step_free.index(slot), count=2)
    for slot in gl.static_range(4):
        mbarrier.init(ds_ready.index(slot), count=1)
    for part in gl.static_range(2):
        mbarrier.init(dq_ready.index(part), count=1)
        mbarrier.init(dq_free.index(part), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (_consume, (
            dk, dv, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem, q_ready, do_ready, step_free,
            kv_ready, kv_free, ds_ready, dq_ready, dq_free, partial_patterns, pattern_table, records,
            first_item, last_item, key_length, scale_log2,
            0, HEAD_DIM, HEAD_DIM_V, WIDTH, WIDTH_V, DTYPE)),
        (_consume, (
            dk, dv, k_smem, v_smem, q_smem, do_smem, terms_smem, ds_smem, dq_smem, q_ready, do_ready, step_free,
            kv_ready, kv_free, ds_ready, dq_ready, dq_free, partial_patterns, pattern_table, records,
            first_item, last_item, key_length, scale_log2,
            1, HEAD_DIM, HEAD_DIM_V, WIDTH, WIDTH_V, DTYPE)),
        (_produce, (
            q_desc, do_desc, k_desc, v_desc, terms_desc, q_smem, do_smem, terms_smem, k_smem, v_smem, q_ready,
            do_ready, step_free, kv_ready, kv_free, full_runs, partial_tiles, records, first_item, last_item,
            heads, HEAD_DIM, HEAD_DIM_V)),
        (_add, (
            dq_desc, dq_smem, dq_ready, dq_free, full_runs, partial_tiles, records, first_item, last_item,
            heads, HEAD_DIM // 2)),
    ], [4, 1, 1], [CONSUMER_REGISTERS, PRODUCER_REGISTERS, PRODUCER_REGISTERS])  # fmt: skip
