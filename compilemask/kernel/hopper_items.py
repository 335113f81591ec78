"""How the roles of the Hopper forward kernel read an item, and how a consumer ends one."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

RECORD = gl.constexpr(12)  # int32 fields of an item, see compilemask.kernel.schedule
LN_2 = gl.constexpr(0.6931471805599453)


@gluon.constexpr_function
def _log2(count):
    return count.bit_length() - 1


@gluon.jit
def slot_of(step, STAGES: gl.constexpr):
    """The ring slot of a step; STAGES is a power of two, and steps are not negative, which the compiler can't know."""
    gl.static_assert((STAGES & (STAGES - 1)) == 0)
    return step & (STAGES - 1)


@gluon.jit
def turn_of(step, STAGES: gl.constexpr):
    """The parity that a step's barrier has when it completes."""
    return (step >> _log2(STAGES)) & 1


@gluon.jit
def load_item(items, index):
    """batch, head, key batch, key head, first row, first partial, partials, first run, last run, tiles."""
    base = items + index * RECORD
    return (
        gl.load(base), gl.load(base + 1), gl.load(base + 2), gl.load(base + 3), gl.load(base + 4), gl.load(base + 5),
        gl.load(base + 6), gl.load(base + 7), gl.load(base + 8), gl.load(base + 9),
    )  # fmt: skip


@gluon.jit
def is_sound(output, row_total):
    """Whether a trusting walk went well for these 64 rows: no weight, and no sum of weighted values, left its range.

    Too large a weight makes a total infinite or more than 2**64, or in 16 bits infinite and with it the output. NaN in
    a visible key isn't sound either: the careful walk finds it again.
    """
    not_finite = gl.convert_layout(gl.sum(output * 0.0, 1), row_total.type.layout)
    good = (row_total < 18446744073709551616.0) & (not_finite == 0.0)
    return gl.min(good.to(gl.int32), 0) > 0


@gluon.jit
def ask_again(place, sound):
    """Notes whether an item has to be walked again; 1 if so."""
    again = gl.where(sound, 0, 1)
    gl.store(place, again)
    return again


@gluon.jit
def tell_unsound(walked, place, unsound):
    """A consumer's count of items that were not sound, for all roles of the program."""
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    place.store(gl.full([128], 0, gl.int32, LAYOUT) + unsound)
    mbarrier.arrive(walked, count=1)


@gluon.jit
def any_unsound(walked, unsound_smem, PARTS: gl.constexpr, WARPS: gl.constexpr):
    """Waits for all consumers; whether any of them had an item that was not sound."""
    LAYOUT: gl.constexpr = gl.BlockedLayout([4 // WARPS], [32], [WARPS], [0])
    mbarrier.wait(walked, 0)
    counts = unsound_smem.index(0).load(LAYOUT)
    for part in gl.static_range(1, PARTS):
        counts += unsound_smem.index(part).load(LAYOUT)
    return gl.max(counts, 0) > 0


@gluon.jit
def asked_again(asks, item, PARTS: gl.constexpr):
    """Whether some consumer found its rows of this item not sound."""
    count = gl.load(asks + item * PARTS)
    for part in gl.static_range(1, PARTS):
        count += gl.load(asks + item * PARTS + part)
    return count > 0


@gluon.jit
def store_rows(
    output, maximum, row_total, o_desc, lse, staging, batch, head, first_row, heads, query_length,
    HEAD_DIM_V: gl.constexpr, ROWS: gl.constexpr, O_LAYOUT: gl.constexpr, DTYPE: gl.constexpr,
):  # fmt: skip
    """Divides 64 rows by their totals and stores them with their LSE; `maximum` is in log2 units."""
    # NaN totals are kept, so that a NaN in a visible key comes out
    empty = row_total == 0.0
    inverse = gl.where(empty, 0.0, 1.0 / row_total)
    output = output * gl.convert_layout(inverse, gl.SliceLayout(1, O_LAYOUT))[:, None]
    rows = first_row + gl.arange(0, 64, ROWS)
    log_sum = gl.where(empty, float("-inf"), maximum * LN_2 + gl.log(row_total))
    head_rows = lse + (batch.to(gl.int64) * heads + head) * query_length
    gl.store(head_rows + rows, log_sum, mask=rows < query_length)
    tma.store_wait(0)
    staging.reshape([64, HEAD_DIM_V]).store(output.to(DTYPE))
    fence_async_shared()
    store_tile(o_desc, [batch, head, first_row, 0], staging)
