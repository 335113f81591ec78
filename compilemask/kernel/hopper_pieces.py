"""Gluon pieces of the Hopper forward kernel: masks in registers, softmax, and what only PTX can say.

A consumer is one warpgroup that owns 64 query rows. Its scores [64, BLOCK_N] lie in the wgmma accumulator layout: a
thread holds two rows and, of each group of 8 columns, the two columns 2 * (lane % 4) and 2 * (lane % 4) + 1. Whatever
is indexed "per lane" below is one of those four column pairs.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

HIDDEN_BITS = gl.constexpr(0x8444)  # prmt selector: byte 3 of the result is the sign of the chosen byte, the rest 0


@gluon.constexpr_function
def _rescale_assembly(count):
    """`count` accumulators of one thread; the factors of its two rows sit at elements 0 and 2."""
    text = (
        f"{{ .reg .pred p, q; setp.neu.f32 p, ${2 * count}, 0f3F800000; "
        f"setp.neu.or.f32 p, ${2 * count + 2}, 0f3F800000, p; vote.sync.any.pred q, p, 0xffffffff; @!q bra.uni SKIP; "
    )
    for i in range(count):
        text += f"mul.f32 ${i}, ${count + i}, ${2 * count + i}; "
    return text + "SKIP: }"


@gluon.constexpr_function
def _rescale_constraints(count):
    return ",".join(["=f"] * count + [str(i) for i in range(count)] + ["f"] * count)


@gluon.jit
def rescale(accumulator, factor, WIDTH: gl.constexpr, LAYOUT: gl.constexpr):
    """accumulator *= factor[:, None]; a warp whose factors are all 1 skips it, which an `if` can't say per warp."""
    factors = gl.convert_layout(factor, gl.SliceLayout(1, LAYOUT))[:, None]
    return gl.inline_asm_elementwise(
        _rescale_assembly(WIDTH // 2), _rescale_constraints(WIDTH // 2), [accumulator, factors],
        dtype=gl.float32, is_pure=True, pack=WIDTH // 2,
    )  # fmt: skip


@gluon.jit
def pack_weights(weights, BLOCK_N: gl.constexpr, DTYPE: gl.constexpr):
    """float32 [64, BLOCK_N] -> two 16-bit values per int32: carried round a loop, 16-bit tensors cost a PRMT each."""
    even, odd = gl.split(gl.reshape(weights, [64, BLOCK_N // 2, 2]))
    if gl.bfloat16 == DTYPE:
        return gl.inline_asm_elementwise(
            "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,r,r", [even, odd], dtype=gl.int32, is_pure=True, pack=1
        )
    else:
        return gl.inline_asm_elementwise(
            "cvt.rn.f16x2.f32 $0, $2, $1;", "=r,r,r", [even, odd], dtype=gl.int32, is_pure=True, pack=1
        )


@gluon.jit
def unpack_weights(packed, BLOCK_N: gl.constexpr, DTYPE: gl.constexpr, LAYOUT: gl.constexpr):
    """The left operand of weights x V, back from `pack_weights`."""
    if gl.bfloat16 == DTYPE:
        even, odd = gl.inline_asm_elementwise(
            "mov.b32 {$0, $1}, $2;", "=h,=h,r", [packed], dtype=(gl.bfloat16, gl.bfloat16), is_pure=True, pack=1
        )
    else:
        even, odd = gl.inline_asm_elementwise(
            "mov.b32 {$0, $1}, $2;", "=h,=h,r", [packed], dtype=(gl.float16, gl.float16), is_pure=True, pack=1
        )
    return gl.convert_layout(gl.reshape(gl.join(even, odd), [64, BLOCK_N]), gl.DotOperandLayout(0, LAYOUT, 2))


@gluon.jit
def sum_in_thread(cells, BLOCK_N: gl.constexpr):
    """[64, BLOCK_N] -> [64, 4]: sums over the columns that one thread holds, so no shuffles."""
    return gl.sum(gl.sum(gl.reshape(cells, [64, BLOCK_N // 8, 4, 2]), 3), 1)


@gluon.jit
def pattern_number(partial_patterns, entry, any_partial, BLOCK_N: gl.constexpr, LAYOUT: gl.constexpr):
    """Pattern of a partial entry as four equal numbers, one per lane: a scalar would go to a uniform register at once
    and stall the warp until the load has landed."""
    like = sum_in_thread(gl.zeros([64, BLOCK_N], gl.float32, LAYOUT), BLOCK_N)
    like_layout: gl.constexpr = like.type.layout
    lane = gl.arange(0, 4, gl.SliceLayout(0, like_layout))
    return gl.load(partial_patterns + entry + lane * 0 + (lane >> 2), mask=(lane >= 0) & any_partial, other=0)


@gluon.jit
def pattern_words(
    words, number, PART: gl.constexpr, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, LAYOUT: gl.constexpr
):
    """int32 [64, 4]: the one word per row that a thread needs. Words are in accumulator order, see hopper_patterns."""
    like = sum_in_thread(gl.zeros([64, BLOCK_N], gl.float32, LAYOUT), BLOCK_N)
    like_layout: gl.constexpr = like.type.layout
    rows = gl.arange(0, 64, gl.SliceLayout(1, like_layout))
    lane = gl.arange(0, 4, gl.SliceLayout(0, like_layout))
    return gl.load(words + (number * (BLOCK_M * 4) + lane)[None, :] + (PART * 64 + rows)[:, None] * 4)


@gluon.jit
def bias_of(words, BLOCK_N: gl.constexpr, LAYOUT: gl.constexpr):
    """0 where a cell is visible, -2**127 where it isn't: the initial accumulator of Q x K.

    One PRMT a cell: the sign of byte j % 4 of the shifted word goes to the top byte. Predicates would be spilled.
    """
    like = gl.reshape(gl.zeros([64, BLOCK_N], gl.float32, LAYOUT), [64, BLOCK_N // 8, 4, 2])
    like_layout: gl.constexpr = like.type.layout
    pair_layout: gl.constexpr = gl.SliceLayout(3, like_layout)
    group = gl.arange(0, BLOCK_N // 8, gl.SliceLayout(0, gl.SliceLayout(2, pair_layout)))
    group = gl.expand_dims(gl.expand_dims(gl.expand_dims(group, 0), 2), 3)
    pair = gl.arange(0, 2, gl.SliceLayout(0, gl.SliceLayout(1, gl.SliceLayout(2, like_layout))))
    pair = gl.expand_dims(gl.expand_dims(gl.expand_dims(pair, 0), 1), 2)
    shifted = gl.expand_dims(gl.expand_dims(~words, 1), 3) << (((group >> 2) << 1) | pair)
    bias = gl.inline_asm_elementwise(
        "prmt.b32 $0, $1, 0, $2;", "=f,r,r", [shifted, HIDDEN_BITS + 0x1000 * (group & 3)],
        dtype=gl.float32, is_pure=True, pack=1,
    )  # fmt: skip
    return gl.convert_layout(gl.reshape(bias, [64, BLOCK_N]), LAYOUT)


@gluon.jit
def row_maximum(scores, BLOCK_N: gl.constexpr):
    """Largest score of each row, in two stages: eight short chains a row instead of one long one."""
    return gl.max(gl.max(gl.reshape(scores, [64, 4, BLOCK_N // 4]), 1), 1)


@gluon.jit
def raised_maximum(scores, maximum, scale_log2, MASKED: gl.constexpr, BLOCK_N: gl.constexpr):
    """The maximum that weights are relative to, in log2 units.

    It moves only when it would grow by more than 8: weights stay below 2**8, which 16-bit floats hold, and nearly every
    step then leaves the accumulator alone.
    """
    largest = gl.convert_layout(row_maximum(scores, BLOCK_N), maximum.type.layout)
    candidate = gl.maximum(maximum, largest * scale_log2)
    if MASKED:
        # in rows that have no key yet, exp2(bias - maximum) must be 0
        candidate = gl.maximum(candidate, -1.0e30)
    return gl.where(candidate > maximum + 8.0, candidate, maximum)


@gluon.jit
def raised_total(weights, total, factor, BLOCK_N: gl.constexpr):
    """[64, 4]: sums of the weights so far, by column pair."""
    sums = gl.convert_layout(sum_in_thread(weights, BLOCK_N), total.type.layout)
    factors = gl.expand_dims(gl.convert_layout(factor, gl.SliceLayout(1, total.type.layout)), 1)
    return total * factors + sums


@gluon.jit
def softmax_step(scores, maximum, total, scale_log2, MASKED: gl.constexpr, BLOCK_N: gl.constexpr):
    """weights, new maximum, new total [64, 4] and the factor that the accumulator must shrink by."""
    moved = raised_maximum(scores, maximum, scale_log2, MASKED, BLOCK_N)
    weights = gl.exp2(scores * scale_log2 - moved[:, None])
    factor = gl.exp2(maximum - moved)
    return weights, moved, raised_total(weights, total, factor, BLOCK_N), factor


@gluon.jit
def fast_softmax_step(scores, maximum, total, scale_log2, BLOCK_N: gl.constexpr):
    """weights and new total, relative to a maximum that stays."""
    weights = gl.exp2(scores * scale_log2 - maximum[:, None])
    return weights, total + gl.convert_layout(sum_in_thread(weights, BLOCK_N), total.type.layout)


@gluon.jit
def is_in_range(output, row_total):
    """Whether the fast path went well for these 64 rows: no weight, and no sum of weighted values, left its range.

    Too large a weight makes a total infinite or more than 2**64, or in 16 bits infinite and with it the output. NaN in
    a visible key isn't in range either: the slow path finds it again.
    """
    not_finite = gl.convert_layout(gl.sum(output * 0.0, 1), row_total.type.layout)
    good = (row_total < 18446744073709551616.0) & (not_finite == 0.0)
    return gl.min(good.to(gl.int32), 0) > 0
