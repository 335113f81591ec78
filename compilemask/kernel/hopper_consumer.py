"""A consumer of the Hopper forward kernel: one warpgroup that owns 64 rows of each of its program's items.

Q x K of one tile runs beside weights x V of the tile before. An item's FULL tiles come first. After the first of them
every row has seen keys, so its maximum is a good one, and the following tiles trust it: they neither look for a larger
maximum nor rescale. Totals may then grow to 2**64 without harm. Whether they grew further shows in the end, in them
and in the output; such an item isn't stored, and the program walks it again, carefully, after all others. Items
without a FULL tile are walked carefully at once.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

from compilemask.kernel.hopper_items import (
    any_unsound,
    ask_again,
    asked_again,
    is_sound,
    load_item,
    slot_of,
    store_rows,
    tell_unsound,
    turn_of,
)
from compilemask.kernel.hopper_pieces import (
    bias_of,
    pack_weights,
    pattern_number,
    pattern_words,
    rescale,
    softmax_step,
    sum_in_thread,
    trusting_step,
    unpack_weights,
)


@gluon.jit
def _step(
    step, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed, factor, maximum, total,
    words, number, next_entry, scale_log2, partial_patterns, pattern_table,
    PART: gl.constexpr, MASKED: gl.constexpr, TRUSTING: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
    HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, S_LAYOUT: gl.constexpr,
    O_LAYOUT: gl.constexpr, DTYPE: gl.constexpr,
):  # fmt: skip
    """Q x K of this tile beside weights x V of the tile before; K of this tile has landed already."""
    k_slot = slot_of(step, STAGES)
    v_slot = slot_of(step - 1, STAGES)
    key = k_smem.index(k_slot).reshape([BLOCK_N, HEAD_DIM]).permute((1, 0))
    if MASKED:
        pending = warpgroup_mma(query, key, bias_of(words, BLOCK_N, S_LAYOUT), is_async=True)
    else:
        zeros = gl.zeros([64, BLOCK_N], gl.float32, S_LAYOUT)
        pending = warpgroup_mma(query, key, zeros, use_acc=False, is_async=True)
    if not TRUSTING:
        output = rescale(output, factor, HEAD_DIM_V, O_LAYOUT)
    mbarrier.wait(v_ready.index(v_slot), turn_of(step - 1, STAGES))
    value = v_smem.index(v_slot).reshape([BLOCK_N, HEAD_DIM_V])
    output = warpgroup_mma(unpack_weights(packed, BLOCK_N, DTYPE, O_LAYOUT), value, output, is_async=True)
    if MASKED:
        words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
        number = pattern_number(partial_patterns, next_entry, True, BLOCK_N, S_LAYOUT)
    scores = warpgroup_mma_wait(1, deps=(pending,))
    mbarrier.arrive(k_free.index(k_slot), count=1)
    if TRUSTING:
        weights, total = trusting_step(scores, maximum, total, scale_log2, BLOCK_N)
    else:
        weights, maximum, total, factor = softmax_step(scores, maximum, total, scale_log2, MASKED, BLOCK_N)
    # this spin loop ends the basic block: without it ptxas moves the next wait above the softmax
    mbarrier.wait(k_ready.index(slot_of(step + 1, STAGES)), turn_of(step + 1, STAGES), pred=step < last_step)
    output = warpgroup_mma_wait(0, deps=(output,))
    mbarrier.arrive(v_free.index(v_slot), count=1)
    return output, pack_weights(weights, BLOCK_N, DTYPE), factor, maximum, total, words, number


@gluon.jit
def _first_scores(
    start, query, k_smem, k_ready, k_free, partial, partials, last_entry, fulls, partial_patterns, pattern_table,
    PART: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
    S_LAYOUT: gl.constexpr,
):  # fmt: skip
    """Q x K of an item's first tile, and words and pattern number of the first two partial tiles after it."""
    masked = partials > 0
    after = partial + gl.where(fulls > 0, 0, 1)
    number = pattern_number(partial_patterns, partial, masked, BLOCK_N, S_LAYOUT)
    first_words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
    first_words = gl.where(fulls > 0, -1, first_words)
    number = pattern_number(partial_patterns, gl.minimum(after, last_entry), masked, BLOCK_N, S_LAYOUT)
    words = pattern_words(pattern_table, number, PART, BLOCK_M, BLOCK_N, S_LAYOUT)
    number = pattern_number(partial_patterns, gl.minimum(after + 1, last_entry), masked, BLOCK_N, S_LAYOUT)
    slot = slot_of(start, STAGES)
    mbarrier.wait(k_ready.index(slot), turn_of(start, STAGES))
    key = k_smem.index(slot).reshape([BLOCK_N, HEAD_DIM]).permute((1, 0))
    pending = warpgroup_mma(query, key, bias_of(first_words, BLOCK_N, S_LAYOUT), is_async=True)
    scores = warpgroup_mma_wait(0, deps=(pending,))
    mbarrier.arrive(k_free.index(slot), count=1)
    return scores, words, number


@gluon.jit
def _walk(  # noqa: C901
    shared, start, filled, PART: gl.constexpr, PARTS: gl.constexpr, AGAIN: gl.constexpr, BLOCK_N: gl.constexpr,
    HEAD_DIM: gl.constexpr, HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, Q_IN_REGISTERS: gl.constexpr,
    OUTPUT_IN_QUERY: gl.constexpr,
):  # fmt: skip
    """All items, or with AGAIN those that were not sound; `start` tiles and `filled` items came before.

    Returns both for the next walk, and how many items were not sound.
    """
    (
        o_desc, lse, q_smem, k_smem, v_smem, o_smem, q_ready, q_free, k_ready, k_free, v_ready, v_free,
        partial_patterns, pattern_table, items, asks, first_item, last_item, heads, query_length, scale_log2, _, _,
    ) = shared  # fmt: skip
    DTYPE: gl.constexpr = o_desc.dtype
    BLOCK_M: gl.constexpr = 64 * PARTS
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM_V, 16])
    ROWS: gl.constexpr = gl.SliceLayout(1, S_LAYOUT)
    like_total = sum_in_thread(gl.zeros([64, BLOCK_N], gl.float32, S_LAYOUT), BLOCK_N)
    TOTAL: gl.constexpr = like_total.type.layout
    unsound = gl.to_tensor(0)
    final = gl.maximum(last_item - 1, 0)
    batch, head, _, _, row, partial, partials, _, _, tiles = load_item(items, gl.minimum(first_item, final))
    for item in range(first_item, last_item):
        next_batch, next_head, _, _, next_row, next_partial, next_partials, _, _, next_tiles = load_item(
            items, gl.minimum(item + 1, final)
        )
        maximum = gl.full([64], float("-inf"), gl.float32, ROWS)
        total = gl.zeros([64, 4], gl.float32, TOTAL)
        output = gl.zeros([64, HEAD_DIM_V], gl.float32, O_LAYOUT)
        fulls = tiles - partials
        wanted = tiles > 0
        if AGAIN:
            wanted &= asked_again(asks, item, PARTS)
        if wanted:
            last_entry = partial + gl.maximum(partials - 1, 0)
            last_step = start + tiles - 1
            mbarrier.wait(q_ready, filled & 1)
            query = q_smem.index(PART).reshape([64, HEAD_DIM])
            if Q_IN_REGISTERS:
                query = query.load(gl.DotOperandLayout(0, S_LAYOUT, 2))
            scores, words, number = _first_scores(
                start, query, k_smem, k_ready, k_free, partial, partials, last_entry, fulls, partial_patterns,
                pattern_table, PART, BLOCK_M, BLOCK_N, HEAD_DIM, STAGES, S_LAYOUT,
            )  # fmt: skip
            if Q_IN_REGISTERS:
                # only now: the first product has used `query`, so its loads from shared memory have finished
                mbarrier.arrive(q_free, count=1)
            filled += 1
            weights, maximum, total, factor = softmax_step(scores, maximum, total, scale_log2, True, BLOCK_N)
            packed = pack_weights(weights, BLOCK_N, DTYPE)
            mbarrier.wait(k_ready.index(slot_of(start + 1, STAGES)), turn_of(start + 1, STAGES), pred=tiles > 1)
            for i in range(1, fulls):
                output, packed, factor, maximum, total, _, _ = _step(
                    start + i, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed,
                    factor, maximum, total, 0, 0, 0, scale_log2, partial_patterns, pattern_table, PART, False,
                    not AGAIN, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, S_LAYOUT, O_LAYOUT, DTYPE,
                )  # fmt: skip
            trusted = 1
            if not AGAIN:
                trusted = gl.where(fulls > 0, tiles, 1)
                for i in range(gl.maximum(fulls, 1), trusted):
                    output, packed, factor, maximum, total, words, number = _step(
                        start + i, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed,
                        factor, maximum, total, words, number, gl.minimum(partial + i - fulls + 2, last_entry),
                        scale_log2, partial_patterns, pattern_table, PART, True, True, BLOCK_M, BLOCK_N, HEAD_DIM,
                        HEAD_DIM_V, STAGES, S_LAYOUT, O_LAYOUT, DTYPE,
                    )  # fmt: skip
                factor = gl.where(fulls > 0, 1.0, factor)
            for i in range(gl.maximum(fulls, trusted), tiles):
                output, packed, factor, maximum, total, words, number = _step(
                    start + i, last_step, query, k_smem, v_smem, k_ready, k_free, v_ready, v_free, output, packed,
                    factor, maximum, total, words, number, gl.minimum(partial + i - fulls + 2, last_entry), scale_log2,
                    partial_patterns, pattern_table, PART, True, False, BLOCK_M, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES,
                    S_LAYOUT, O_LAYOUT, DTYPE,
                )  # fmt: skip
            if not Q_IN_REGISTERS and not OUTPUT_IN_QUERY:
                mbarrier.arrive(q_free, count=1)
            start += tiles
            output = rescale(output, factor, HEAD_DIM_V, O_LAYOUT)
            slot = slot_of(start - 1, STAGES)
            mbarrier.wait(v_ready.index(slot), turn_of(start - 1, STAGES))
            value = v_smem.index(slot).reshape([BLOCK_N, HEAD_DIM_V])
            pending = warpgroup_mma(unpack_weights(packed, BLOCK_N, DTYPE, O_LAYOUT), value, output, is_async=True)
            output = warpgroup_mma_wait(0, deps=(pending,))
            mbarrier.arrive(v_free.index(slot), count=1)
        holds_query = wanted
        if OUTPUT_IN_QUERY and not AGAIN:
            # the output leaves through Q's place, so every item has to hold it
            mbarrier.wait(q_ready, filled & 1, pred=tiles == 0)
            filled += gl.where(tiles == 0, 1, 0)
            holds_query = tiles >= 0
        row_total = gl.convert_layout(gl.sum(total, 1), ROWS)
        ends = wanted
        if not AGAIN:
            ends = (fulls == 0) | (tiles == 1) | is_sound(output, row_total)
            unsound += ask_again(asks + item * PARTS + PART, ends)
        if ends:
            store_rows(
                output, maximum, row_total, o_desc, lse, o_smem.index(PART), batch, head, row + PART * 64, heads,
                query_length, HEAD_DIM_V, ROWS, O_LAYOUT, DTYPE,
            )  # fmt: skip
        if OUTPUT_IN_QUERY:
            tma.store_wait(0)
            mbarrier.arrive(q_free, count=1, pred=holds_query)
        batch = next_batch
        head = next_head
        row = next_row
        partial = next_partial
        partials = next_partials
        tiles = next_tiles
    return start, filled, unsound


@gluon.jit
def consume(
    shared, PART: gl.constexpr, PARTS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr,
    HEAD_DIM_V: gl.constexpr, STAGES: gl.constexpr, Q_IN_REGISTERS: gl.constexpr, OUTPUT_IN_QUERY: gl.constexpr,
):  # fmt: skip
    """All items of a program, then those that were not sound once more."""
    walked, unsound_smem = shared[-2], shared[-1]
    zero = gl.to_tensor(0)
    start, filled, unsound = _walk(
        shared, zero, zero, PART, PARTS, False, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS, OUTPUT_IN_QUERY,
    )  # fmt: skip
    tell_unsound(walked, unsound_smem.index(PART), unsound)
    if any_unsound(walked, unsound_smem, PARTS, 4):
        _walk(
            shared, start, filled, PART, PARTS, True, BLOCK_N, HEAD_DIM, HEAD_DIM_V, STAGES, Q_IN_REGISTERS,
            OUTPUT_IN_QUERY,
        )  # fmt: skip
    tma.store_wait(0)
