"""A consumer of the Hopper forward kernel: one warpgroup that owns 64 rows of each of its program's work tiles.

Q x K of one key tile runs beside weights x V of the tile before. FULL tiles come first. After the first of them every
row has seen keys, so its maximum is a good one, and the following tiles take the fast path: they neither look for a
larger maximum nor rescale. Totals may then grow to 2**64 without harm. Whether they grew further shows in the end, in
them and in the output; such a work tile isn't stored, and the program walks it again, on the slow path, after all
others. Work tiles without a FULL tile take the slow path at once.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_pieces import (
    bias_of,
    fast_softmax_step,
    is_in_range,
    pack_weights,
    rescale,
    softmax_step,
    sum_in_thread,
    unpack_weights,
)


@aggregate
class RowState:
    """What a consumer carries from key tile to key tile of a work tile."""

    maximum: gl.tensor  # float32 [64], in log2 units
    total: gl.tensor  # float32 [64, 4]: sums of the weights, by column pair
    output: gl.tensor  # float32 [64, HEAD_DIM_V], not yet with the last tile
    words: gl.tensor  # int32 [64, 4]: bits of the next PARTIAL tile
    number: gl.tensor  # int32 [4]: pattern of the one after it
    factor: gl.tensor  # float32 [64]: what `output` must be multiplied by before the last tile joins it
    packed: gl.tensor  # weights of the last tile, see `pack_weights`

    @gluon.jit
    def with_factor(self, factor):
        return RowState(
            maximum=self.maximum, total=self.total, output=self.output, words=self.words, number=self.number,
            factor=factor, packed=self.packed,
        )  # fmt: skip


@gluon.jit
def _weigh(program, rows, scores, MASKED: gl.constexpr, FAST: gl.constexpr):
    """Weights of a key tile, and maximum, total and factor with it."""
    BLOCK_N: gl.constexpr = program.config.BLOCK_N
    if FAST:
        weights, total = fast_softmax_step(scores, rows.maximum, rows.total, program.scale_log2, BLOCK_N)
        return weights, rows.maximum, total, rows.factor
    else:
        return softmax_step(scores, rows.maximum, rows.total, program.scale_log2, MASKED, BLOCK_N)


@gluon.jit
def _step(
    program, masks, query, rows, step, last_step, next_entry,
    PART: gl.constexpr, MASKED: gl.constexpr, FAST: gl.constexpr,
):  # fmt: skip
    """Q x K of this tile beside weights x V of the tile before; K of this tile has landed already."""
    config = program.config
    BLOCK_N: gl.constexpr = config.BLOCK_N
    words = rows.words
    number = rows.number
    output = rows.output
    key_slot = program.keys.slot(step)
    value_slot = program.values.slot(step - 1)
    key = key_slot.tile().permute((1, 0))
    if MASKED:
        pending = warpgroup_mma(query, key, bias_of(words, BLOCK_N, config.SCORES), is_async=True)
    else:
        zeros = gl.zeros([64, BLOCK_N], gl.float32, config.SCORES)
        pending = warpgroup_mma(query, key, zeros, use_acc=False, is_async=True)
    if not FAST:
        output = rescale(output, rows.factor, config.HEAD_DIM_V, config.OUTPUT)
    value_slot.wait()
    value = value_slot.tile()
    weights = unpack_weights(rows.packed, BLOCK_N, config.DTYPE, config.OUTPUT)
    output = warpgroup_mma(weights, value, output, is_async=True)
    if MASKED:
        words = masks.words_of(number, PART, config)
        number = masks.number(next_entry, True, config)
    scores = warpgroup_mma_wait(1, deps=(pending,))
    key_slot.release()
    weights, maximum, total, factor = _weigh(program, rows, scores, MASKED, FAST)
    # this spin loop ends the basic block: without it ptxas moves the next wait above the softmax
    goes_on = step < last_step
    program.keys.slot(step + 1).wait(pred=goes_on)
    output = warpgroup_mma_wait(0, deps=(output,))
    value_slot.release()
    packed = pack_weights(weights, BLOCK_N, config.DTYPE)
    return RowState(
        maximum=maximum, total=total, output=output, words=words, number=number, factor=factor, packed=packed
    )


@gluon.jit
def _first_scores(program, masks, query, tile, start, last_entry, PART: gl.constexpr):
    """Q x K of a work tile's first key tile, and words and pattern number of the first two PARTIAL tiles after it."""
    config = program.config
    fulls = tile.tiles - tile.partials
    masked = tile.partials > 0
    after = tile.partial + gl.where(fulls > 0, 0, 1)
    number = masks.number(tile.partial, masked, config)
    first_words = masks.words_of(number, PART, config)
    first_words = gl.where(fulls > 0, -1, first_words)
    number = masks.number(gl.minimum(after, last_entry), masked, config)
    words = masks.words_of(number, PART, config)
    number = masks.number(gl.minimum(after + 1, last_entry), masked, config)
    slot = program.keys.slot(start)
    slot.wait()
    key = slot.tile().permute((1, 0))
    pending = warpgroup_mma(query, key, bias_of(first_words, config.BLOCK_N, config.SCORES), is_async=True)
    scores = warpgroup_mma_wait(0, deps=(pending,))
    slot.release()
    return scores, words, number


@gluon.jit
def _empty_sums(config):
    """Maximum, total and output of rows that have seen no key."""
    like_total = sum_in_thread(gl.zeros([64, config.BLOCK_N], gl.float32, config.SCORES), config.BLOCK_N)
    TOTAL: gl.constexpr = like_total.type.layout
    maximum = gl.full([64], float("-inf"), gl.float32, gl.SliceLayout(1, config.SCORES))
    total = gl.zeros([64, 4], gl.float32, TOTAL)
    output = gl.zeros([64, config.HEAD_DIM_V], gl.float32, config.OUTPUT)
    return maximum, total, output


@gluon.jit
def _first_step(program, masks, tile, start, filled, last_entry, PART: gl.constexpr):
    """Waits for Q and takes the first key tile of a work tile: Q, the rows after it, and the Q tiles so far."""
    config = program.config
    maximum, total, output = _empty_sums(config)
    mbarrier.wait(program.queries.ready, filled & 1)
    query = program.queries.tiles.index(PART).reshape([64, config.HEAD_DIM])
    if config.Q_IN_REGISTERS:
        query = query.load(gl.DotOperandLayout(0, config.SCORES, 2))
    scores, words, number = _first_scores(program, masks, query, tile, start, last_entry, PART)
    if config.Q_IN_REGISTERS:
        # only now: the first product has used `query`, so its loads from shared memory have finished
        mbarrier.arrive(program.queries.free, count=1)
    filled += 1
    weights, maximum, total, factor = softmax_step(scores, maximum, total, program.scale_log2, True, config.BLOCK_N)
    packed = pack_weights(weights, config.BLOCK_N, config.DTYPE)
    goes_on = tile.tiles > 1
    program.keys.slot(start + 1).wait(pred=goes_on)
    rows = RowState(
        maximum=maximum, total=total, output=output, words=words, number=number, factor=factor, packed=packed
    )
    return query, rows, filled


@gluon.jit
def _last_product(program, rows, last_step):
    """The output with weights x V of the last key tile."""
    config = program.config
    output = rescale(rows.output, rows.factor, config.HEAD_DIM_V, config.OUTPUT)
    slot = program.values.slot(last_step)
    slot.wait()
    value = slot.tile()
    weights = unpack_weights(rows.packed, config.BLOCK_N, config.DTYPE, config.OUTPUT)
    pending = warpgroup_mma(weights, value, output, is_async=True)
    output = warpgroup_mma_wait(0, deps=(pending,))
    slot.release()
    return output


@gluon.jit
def _walk_partials(
    program, masks, query, rows, tile, start, last_entry, last_step, first, end, PART: gl.constexpr, FAST: gl.constexpr
):
    """The key tiles `first` to `end` - 1 of a work tile, all of them PARTIAL."""
    fulls = tile.tiles - tile.partials
    for i in range(first, end):
        step = start + i
        entry = gl.minimum(tile.partial + i - fulls + 2, last_entry)
        rows = _step(program, masks, query, rows, step, last_step, entry, PART, True, FAST)
    return rows


@gluon.jit
def _attend(program, masks, tile, start, filled, PART: gl.constexpr, RETRY: gl.constexpr):
    """64 rows over all key tiles of a work tile: key tiles and Q tiles so far, and maximum, total and output."""
    config = program.config
    tiles = tile.tiles
    fulls = tiles - tile.partials
    last_entry = tile.partial + gl.maximum(tile.partials - 1, 0)
    last_step = start + tiles - 1
    query, rows, filled = _first_step(program, masks, tile, start, filled, last_entry, PART)
    for i in range(1, fulls):
        rows = _step(program, masks, query, rows, start + i, last_step, 0, PART, False, not RETRY)
    fast = 1
    if not RETRY:
        fast = gl.where(fulls > 0, tiles, 1)
        first = gl.maximum(fulls, 1)
        rows = _walk_partials(program, masks, query, rows, tile, start, last_entry, last_step, first, fast, PART, True)
        rows = rows.with_factor(gl.where(fulls > 0, 1.0, rows.factor))
    first = gl.maximum(fulls, fast)
    rows = _walk_partials(program, masks, query, rows, tile, start, last_entry, last_step, first, tiles, PART, False)
    if not config.Q_IN_REGISTERS and not config.OUTPUT_IN_QUERY:
        mbarrier.arrive(program.queries.free, count=1)
    start += tiles
    output = _last_product(program, rows, start - 1)
    return start, filled, rows.maximum, rows.total, output


@gluon.jit
def _walk(program, masks, out, start, filled, PART: gl.constexpr, RETRY: gl.constexpr):
    """All work tiles, or with RETRY those that failed; `start` key tiles and `filled` Q tiles came before.

    Returns both for the next walk, and how many work tiles failed here: the fast path left its range.
    """
    config = program.config
    failed = gl.to_tensor(0)
    tile = program.work.load(program.work.first)
    for index in range(program.work.first, program.work.end):
        next_tile = program.work.load(index + 1)
        maximum, total, output = _empty_sums(config)
        fulls = tile.tiles - tile.partials
        wanted = tile.tiles > 0
        if RETRY:
            wanted &= program.retries.has(index)
        if wanted:
            start, filled, maximum, total, output = _attend(program, masks, tile, start, filled, PART, RETRY)
        holds_query = wanted
        if config.OUTPUT_IN_QUERY and not RETRY:
            # the output leaves through Q's place, so every work tile has to hold it
            mbarrier.wait(program.queries.ready, filled & 1, pred=tile.tiles == 0)
            filled += gl.where(tile.tiles == 0, 1, 0)
            holds_query = tile.tiles >= 0
        row_total = gl.convert_layout(gl.sum(total, 1), gl.SliceLayout(1, config.SCORES))
        stores = wanted
        if not RETRY:
            stores = (fulls == 0) | (tile.tiles == 1) | is_in_range(output, row_total)
            failed += program.retries.note(index, PART, stores)
        if stores:
            out.store(tile, output, maximum, row_total, PART, config)
        if config.OUTPUT_IN_QUERY:
            tma.store_wait(0)
            mbarrier.arrive(program.queries.free, count=1, pred=holds_query)
        tile = next_tile
    return start, filled, failed


@gluon.jit
def consume(program, masks, out, PART: gl.constexpr):
    """All work tiles of a program, then those that failed once more."""
    zero = gl.to_tensor(0)
    start, filled, failed = _walk(program, masks, out, zero, zero, PART, False)
    program.retries.publish(PART, failed)
    if program.retries.any(4):
        _walk(program, masks, out, start, filled, PART, True)
    tma.store_wait(0)
