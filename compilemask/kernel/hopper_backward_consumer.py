"""A consumer of the Hopper backward kernel: one warpgroup that owns 64 keys of each of its program's items.

It keeps its scores transposed, [64 keys, 64 queries]: the weights are then the left operand of dV in registers as they
are. dQ needs the dS of both consumers, so it is made one step later, when both lie in shared memory; each makes one
half of the head_dim.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_backward_program import STAGES, STEP
from compilemask.kernel.hopper_pieces import bias_of

LN_2 = gl.constexpr(0.6931471805599453)


@aggregate
class StepState:
    """What a consumer carries from step to step of a segment."""

    words: gl.tensor  # int32 [64, 4]: bits of the next step
    dkey: gl.tensor  # float32 [64, HEAD_DIM]
    dvalue: gl.tensor  # float32 [64, HEAD_DIM_V]
    unit: gl.tensor  # float32 [64]: of the dQ that is still to be made
    number: gl.tensor  # int32 [4]: pattern of the step after the next


@gluon.jit
def _start_dq(program, step, PART: gl.constexpr):
    """dS^T K of one step, own half of the head_dim: own keys first, the other consumer's dS may still be on its way."""
    config = program.config
    exchange = program.exchange
    HALF: gl.constexpr = config.HEAD_DIM // 2
    OTHER: gl.constexpr = 1 - PART
    slot = step % 2
    own = program.tile.keys.index(PART).reshape([64, config.HEAD_DIM]).slice(PART * HALF, HALF, 1)
    pending = warpgroup_mma(
        exchange.dscores.index(slot * 2 + PART).permute((1, 0)), own, gl.zeros([STEP, HALF], gl.float32, config.DQUERY),
        use_acc=False, is_async=True,
    )  # fmt: skip
    mbarrier.wait(exchange.ready.index(slot * 2 + OTHER), (step // 2) & 1)
    other = program.tile.keys.index(OTHER).reshape([64, config.HEAD_DIM]).slice(PART * HALF, HALF, 1)
    return warpgroup_mma(exchange.dscores.index(slot * 2 + OTHER).permute((1, 0)), other, pending, is_async=True)


@gluon.jit
def in_store_order(dquery):
    """Rows 0, 4, 2, 6, 1, 5, 3, 7 of every 8; of every 16 columns the 4 that a thread holds side by side.

    No cell moves between registers: it is the order in which a warp stores 16 bytes a thread without two threads in one
    bank. Pairs of cells, which is what the accumulator has side by side, are stored at half that speed.
    """
    EIGHTS: gl.constexpr = dquery.shape[0] // 8
    SIXTEENS: gl.constexpr = dquery.shape[1] // 16
    split = dquery.reshape([EIGHTS, 2, 2, 2, SIXTEENS, 2, 4, 2])
    return split.permute([0, 3, 2, 1, 4, 6, 5, 7]).reshape([8 * EIGHTS, 16 * SIXTEENS])


@gluon.jit
def _hand_over_dq(handover, dquery, unit, step, PART: gl.constexpr):
    """Gives the dQ of a step, in units of its queries, to the adder."""
    mbarrier.wait(handover.free.index(PART), (step & 1) ^ 1)
    whole = gl.inline_asm_elementwise(
        "cvt.rni.s32.f32 $0, $1;", "=r,f", [dquery * unit[:, None]], dtype=gl.int32, is_pure=True, pack=1
    )
    handover.halves.index(PART).reshape([STEP, handover.halves.shape[3]]).store(in_store_order(whole))
    fence_async_shared()
    mbarrier.arrive(handover.ready.index(PART), count=1)


@gluon.jit
def _finish_dq(program, pending, unit, step, LATER: gl.constexpr, PART: gl.constexpr):
    """Ends what `_start_dq` began; LATER products were started after it.

    All other products of the step have ended, so its slot may be filled again.
    """
    program.steps.release(step)
    dquery = warpgroup_mma_wait(LATER, deps=(pending,))
    _hand_over_dq(program.handover, dquery, unit, step, PART)


@gluon.jit
def _start_scores(program, query, words, PART: gl.constexpr, MASKED: gl.constexpr):
    """K Q^T of one step."""
    SCORES: gl.constexpr = program.config.SCORES
    key = program.tile.keys.index(PART).reshape([64, program.config.HEAD_DIM])
    if MASKED:
        return warpgroup_mma(key, query.permute((1, 0)), bias_of(words, STEP, SCORES), is_async=True)
    else:
        zeros = gl.zeros([64, STEP], gl.float32, SCORES)
        return warpgroup_mma(key, query.permute((1, 0)), zeros, use_acc=False, is_async=True)


@gluon.jit
def _step(
    program, masks, state, step, next_half, next_entry,
    PART: gl.constexpr, FIRST: gl.constexpr, MASKED: gl.constexpr,
):  # fmt: skip
    """64 queries: dQ of the step before beside K Q^T, then V dO^T beside the weights, dV beside dS, dK."""
    config = program.config
    steps = program.steps
    exchange = program.exchange
    ROW: gl.constexpr = gl.SliceLayout(0, config.SCORES)
    slot = step % STAGES
    phase = (step // STAGES) & 1
    if not FIRST:
        pending_dq = _start_dq(program, step - 1, PART)
    mbarrier.wait(steps.query_ready.index(slot), phase)
    value = program.tile.values.index(PART).reshape([64, config.HEAD_DIM_V])
    query = steps.queries.index(slot).reshape([STEP, config.HEAD_DIM])
    dout = steps.douts.index(slot).reshape([STEP, config.HEAD_DIM_V])
    pending = _start_scores(program, query, state.words, PART, MASKED)
    if not FIRST:
        _finish_dq(program, pending_dq, state.unit, step - 1, 1, PART)
    mbarrier.wait(steps.dout_ready.index(slot), phase)
    zeros = gl.zeros([64, STEP], gl.float32, config.SCORES)
    pending_dp = warpgroup_mma(value, dout.permute((1, 0)), zeros, use_acc=False, is_async=True)
    words = state.words
    number = state.number
    if MASKED:
        words = masks.words_of(number * 2 + next_half, PART, config)
        number = masks.number(next_entry, True, config)
    lse = steps.term(slot, 0, ROW)
    scores = warpgroup_mma_wait(1, deps=(pending,))
    weights = gl.exp2(scores * program.scale_log2 - lse[None, :])
    left = gl.convert_layout(weights.to(config.DTYPE), gl.DotOperandLayout(0, config.DVALUE, 2))
    dvalue = warpgroup_mma(left, dout, state.dvalue, is_async=True)
    delta = steps.term(slot, 1, ROW)
    unit = steps.term(slot, 2, gl.SliceLayout(1, config.DQUERY))
    dweights = warpgroup_mma_wait(1, deps=(pending_dp,))
    dscores = (weights * (dweights - delta[None, :])).to(config.DTYPE)
    exchange.store(dscores, step, PART)
    left = gl.convert_layout(dscores, gl.DotOperandLayout(0, config.DKEY, 2))
    dkey = warpgroup_mma(left, query, state.dkey, is_async=True)
    exchange.announce(step, PART)
    dvalue, dkey = warpgroup_mma_wait(0, deps=(dvalue, dkey))
    return StepState(words=words, dkey=dkey, dvalue=dvalue, unit=unit, number=number)


@gluon.jit
def _walk_segment(program, masks, segment, words, dkey, dvalue, step, PART: gl.constexpr):
    """All steps of a segment: the state after them, with the dQ of the last one still to be made."""
    config = program.config
    partial = segment.partial
    partials = segment.partials
    last_entry = partial + gl.maximum(partials - 1, 0)
    unit = gl.zeros([STEP], gl.float32, gl.SliceLayout(1, config.DQUERY))
    number = masks.number(partial, partials > 0, config)
    words = gl.where(partials > 0, words, -1)
    state = StepState(words=words, dkey=dkey, dvalue=dvalue, unit=unit, number=number)
    state = _step(program, masks, state, step, 1, gl.minimum(partial + 1, last_entry), PART, True, True)
    for i in range(1, 2 * partials):
        at = step + i
        half = (i + 1) & 1
        entry = gl.minimum(partial + ((i + 2) >> 1), last_entry)
        state = _step(program, masks, state, at, half, entry, PART, False, True)
    for i in range(gl.maximum(2 * partials, 1), 2 * segment.tiles):
        state = _step(program, masks, state, step + i, 0, 0, PART, False, False)
    return state


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
def _store(program, item, dkey, dvalue, dk, dv, key_length, PART: gl.constexpr):
    """dK and dV of 64 keys, once all queries have been seen."""
    config = program.config
    matrix_start = item.matrix.to(gl.int64) * key_length
    first_key = item.key + PART * 64
    WIDTH: gl.constexpr = config.WIDTH
    WIDTH_V: gl.constexpr = config.WIDTH_V
    _store_rows(dk + matrix_start * WIDTH, first_key, dkey * (program.scale_log2 * LN_2), key_length, WIDTH)
    _store_rows(dv + matrix_start * WIDTH_V, first_key, dvalue, key_length, WIDTH_V)


@gluon.jit
def consume(program, masks, dk, dv, key_length, PART: gl.constexpr):
    """All items of a program; dk, dv are contiguous [batch * key heads, key_length, WIDTH or WIDTH_V]."""
    config = program.config
    work = program.work
    step = 0
    # segments lie in the order of the walk: the next one's record and words are loaded while this one ends
    segment = work.segment(work.item(work.first).segment)
    words = masks.words_of(segment.first_pattern * 2, PART, config)
    for index in range(work.first, work.end):
        item = work.item(index)
        dkey = gl.zeros([64, config.HEAD_DIM], gl.float32, config.DKEY)
        dvalue = gl.zeros([64, config.HEAD_DIM_V], gl.float32, config.DVALUE)
        mbarrier.wait(program.tile.ready, (index - work.first) & 1)
        # never read: Triton 3.6 and 3.7 place an address elsewhere without it, and this is the code that was measured
        _carried = item.key
        for s in range(item.segment, item.segments_end):
            state = _walk_segment(program, masks, segment, words, dkey, dvalue, step, PART)
            step += 2 * segment.tiles
            pending_dq = _start_dq(program, step - 1, PART)
            segment = work.segment(s + 1)
            _finish_dq(program, pending_dq, state.unit, step - 1, 0, PART)
            words = masks.words_of(segment.first_pattern * 2, PART, config)
            dkey = state.dkey
            dvalue = state.dvalue
            _carried = segment.runs_end
        mbarrier.arrive(program.tile.free, count=1)
        # the record once more: its fields would have taken registers all the while
        _store(program, work.item(index), dkey, dvalue, dk, dv, key_length, PART)
