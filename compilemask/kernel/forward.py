"""The portable forward kernel: output and LSE of attention over the listed tiles.

One program works on one query tile of one head: first its FULL tiles, which need no mask, then its PARTIAL tiles with
their patterns. Online softmax as in FlashAttention (arXiv 2205.14135), in powers of two.
"""

import triton
import triton.language as tl

from compilemask.kernel.tile_bits import visible_cells


@triton.jit
def load_rows(base, rows, stride_row, stride_column, rows_in_range, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
              CHECK_ROWS: tl.constexpr):  # fmt: skip
    """[rows, BLOCK] of a matrix of WIDTH columns; cells out of range read 0."""
    columns = tl.arange(0, BLOCK)
    pointers = base + rows.to(tl.int64)[:, None] * stride_row + columns[None, :] * stride_column
    if CHECK_ROWS:
        if BLOCK == WIDTH:
            return tl.load(pointers, mask=rows_in_range[:, None], other=0.0)
        else:
            return tl.load(pointers, mask=rows_in_range[:, None] & (columns < WIDTH)[None, :], other=0.0)
    else:
        if BLOCK == WIDTH:
            return tl.load(pointers)
        else:
            return tl.load(pointers, mask=(columns < WIDTH)[None, :], other=0.0)


@triton.jit
def work_item(heavy_first, variant, variant_stride_batch, variant_stride_head, tiles, heads, batch_heads, group):
    """batch, head, row of the tile lists and tile of this program.

    Heads are taken `group` at a time, so that their keys stay in L2; within a group heavy tiles go first.
    """
    program = tl.program_id(0)
    per_group = group * tiles
    first_head = program // per_group * group
    heads_here = tl.minimum(group, batch_heads - first_head)
    rank = program % per_group
    batch_head = first_head + rank % heads_here
    batch = batch_head // heads
    head = batch_head % heads
    which = tl.load(variant + batch * variant_stride_batch + head * variant_stride_head)
    tile = tl.load(heavy_first + which * tiles + rank // heads_here)
    return batch, head, which, tile


@triton.jit
def _accumulate(scores, value, accumulator, maximum, total, PRECISION: tl.constexpr):
    """One step of the online softmax; `scores` are in log2 units, hidden cells -inf."""
    new_maximum = tl.maximum(maximum, tl.max(scores, 1))
    # a row that has seen no key yet: exp2(-inf - 0) is 0 where exp2(-inf - -inf) would be NaN
    anchor = tl.where(new_maximum == float("-inf"), 0.0, new_maximum)
    weights = tl.exp2(scores - anchor[:, None])
    shrink = tl.exp2(maximum - anchor)
    total = total * shrink + tl.sum(weights, 1)
    accumulator = accumulator * shrink[:, None]
    accumulator = tl.dot(weights.to(value.dtype), value, accumulator, input_precision=PRECISION)
    return accumulator, new_maximum, total


# one compilation serves all lengths; strides stay specialised, they decide how wide the loads are
@triton.jit(do_not_specialize=[
    "query_length", "key_length", "tiles", "heads", "batch_heads", "head_group", "kv_group", "variant_batch",
    "variant_head",
])  # fmt: skip
def attention_forward(
    Q, K, V, OUT, LSE,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,
    v_batch, v_head, v_row, v_column, out_batch, out_head, out_row, out_column,
    variant, variant_batch, variant_head, heavy_first,
    full_offsets, full_runs, partial_offsets, partial_tiles, partial_patterns, patterns, live_keys,
    query_length, key_length, tiles, heads, batch_heads, head_group, kv_group, scale_log2,
    HEAD_DIM: tl.constexpr, HEAD_DIM_V: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DEAD_KEYS: tl.constexpr, PRECISION: tl.constexpr,
    WARP_SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """Q [B, H, M, HEAD_DIM], K [B, H / kv_group, N, HEAD_DIM], V [.., N, HEAD_DIM_V], LSE contiguous [B, H, M]."""
    batch, head, which, tile = work_item(
        heavy_first, variant, variant_batch, variant_head, tiles, heads, batch_heads, head_group
    )
    batch64 = batch.to(tl.int64)
    kv_head = (head // kv_group).to(tl.int64)
    key_base = K + batch64 * k_batch + kv_head * k_head
    value_base = V + batch64 * v_batch + kv_head * v_head
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_in_range = rows < query_length
    query = load_rows(
        Q + batch64 * q_batch + head.to(tl.int64) * q_head, rows, q_row, q_column, row_in_range, HEAD_DIM, BLOCK_D, True
    )
    lanes = tl.arange(0, BLOCK_N)
    accumulator = tl.zeros([BLOCK_M, BLOCK_DV], tl.float32)
    maximum = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    list_row = which * tiles + tile
    for run in range(tl.load(full_offsets + list_row), tl.load(full_offsets + list_row + 1)):
        first = tl.load(full_runs + 2 * run)
        last = tl.load(full_runs + 2 * run + 1)
        for key_tile in tl.range(first, last, warp_specialize=WARP_SPECIALIZE):
            keys = key_tile * BLOCK_N + lanes
            key = load_rows(key_base, keys, k_row, k_column, keys < key_length, HEAD_DIM, BLOCK_D, False)
            scores = tl.dot(query, tl.trans(key), input_precision=PRECISION) * scale_log2
            value = load_rows(value_base, keys, v_row, v_column, keys < key_length, HEAD_DIM_V, BLOCK_DV, False)
            accumulator, maximum, total = _accumulate(scores, value, accumulator, maximum, total, PRECISION)
    for entry in range(tl.load(partial_offsets + list_row), tl.load(partial_offsets + list_row + 1)):
        keys = tl.load(partial_tiles + entry) * BLOCK_N + lanes
        in_range = keys < key_length
        key = load_rows(key_base, keys, k_row, k_column, in_range, HEAD_DIM, BLOCK_D, True)
        scores = tl.dot(query, tl.trans(key), input_precision=PRECISION) * scale_log2
        visible = visible_cells(patterns, tl.load(partial_patterns + entry), BLOCK_M, BLOCK_N)
        scores = tl.where(visible, scores, float("-inf"))
        if DEAD_KEYS:
            in_range = in_range & (
                tl.load(live_keys + which.to(tl.int64) * key_length + keys, mask=in_range, other=0) != 0
            )
        value = load_rows(value_base, keys, v_row, v_column, in_range, HEAD_DIM_V, BLOCK_DV, True)
        accumulator, maximum, total = _accumulate(scores, value, accumulator, maximum, total, PRECISION)
    seen = total > 0.0
    output = accumulator / tl.where(seen, total, 1.0)[:, None]
    log_sum = tl.where(seen, (maximum + tl.log2(tl.where(seen, total, 1.0))) * 0.6931471805599453, float("-inf"))
    # a NaN among the scores of a row must come out, and NaN > 0 is false
    log_sum = tl.where(total == total, log_sum, total)
    head_row = batch64 * heads + head
    tl.store(LSE + head_row * query_length + rows, log_sum, mask=row_in_range)
    columns = tl.arange(0, BLOCK_DV)
    out_base = OUT + batch64 * out_batch + head.to(tl.int64) * out_head
    pointers = out_base + rows.to(tl.int64)[:, None] * out_row + columns[None, :] * out_column
    tl.store(pointers, output.to(OUT.dtype.element_ty), mask=row_in_range[:, None] & (columns < HEAD_DIM_V)[None, :])
