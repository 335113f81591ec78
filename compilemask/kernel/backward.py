"""The portable backward kernels: dQ along the rows of the tile lists, dK and dV along their transpose.

Two passes recompute the weights, so that every output is summed by one program in a fixed order: no atomics, and the
same bits on every run. With P the weights, S the scaled scores and the incoming gradients dO and dLSE:
    dV = P^T dO    dS = P * (dO V^T - delta)    dQ = scale dS K    dK = scale dS^T Q    delta = rowsum(O * dO) - dLSE
(FlashAttention, arXiv 2205.14135, appendix B; the LSE enters because its derivative by the scores is P).
"""

import triton
import triton.language as tl

from compilemask.kernel.forward import load_rows, work_item
from compilemask.kernel.tile_bits import visible_cells


@triton.jit
def query_terms(
    OUT, DOUT, LSE, DLSE, out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
    dlse_batch, dlse_head, dlse_row, query_length, heads, batch_head, rows,
    HEAD_DIM_V: tl.constexpr, BLOCK_DV: tl.constexpr, HAS_DLSE: tl.constexpr,
):  # fmt: skip
    """LSE in powers of two, delta, and float32 dO of some rows of one head.

    A query that sees nothing has LSE -inf; here it becomes +inf, which makes every weight exp2(score - LSE) zero. So do
    rows behind the last one.
    """
    batch = batch_head // heads
    head = batch_head % heads
    lse = tl.load(LSE + batch_head * query_length + rows, mask=rows < query_length, other=float("-inf"))
    alive = lse != float("-inf")
    out_base = OUT + batch * out_batch + head * out_head
    out = load_rows(out_base, rows, out_row, out_column, alive, HEAD_DIM_V, BLOCK_DV, True).to(tl.float32)
    dout_base = DOUT + batch * dout_batch + head * dout_head
    dout = load_rows(dout_base, rows, dout_row, dout_column, alive, HEAD_DIM_V, BLOCK_DV, True).to(tl.float32)
    delta = tl.sum(out * dout, 1)
    if HAS_DLSE:
        dlse_pointers = DLSE + batch * dlse_batch + head * dlse_head + rows.to(tl.int64) * dlse_row
        delta -= tl.load(dlse_pointers, mask=alive, other=0.0).to(tl.float32)
    return tl.where(alive, lse * 1.4426950408889634, float("inf")), delta, dout


@triton.jit(do_not_specialize=["query_length", "heads", "tiles", "dlse_batch", "dlse_head"])
def row_terms(
    OUT, DOUT, LSE, DLSE, LSE_LOG2, DELTA,
    out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
    dlse_batch, dlse_head, dlse_row, query_length, heads, tiles,
    HEAD_DIM_V: tl.constexpr, BLOCK_DV: tl.constexpr, BLOCK_M: tl.constexpr, HAS_DLSE: tl.constexpr,
):  # fmt: skip
    """LSE_LOG2 and DELTA, contiguous [B, H, M], of every query: see `query_terms`."""
    program = tl.program_id(0)
    batch_head = (program // tiles).to(tl.int64)
    rows = program % tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    lse_log2, delta, _ = query_terms(
        OUT, DOUT, LSE, DLSE, out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
        dlse_batch, dlse_head, dlse_row, query_length, heads, batch_head, rows, HEAD_DIM_V, BLOCK_DV, HAS_DLSE,
    )  # fmt: skip
    in_range = rows < query_length
    tl.store(LSE_LOG2 + batch_head * query_length + rows, lse_log2, mask=in_range)
    tl.store(DELTA + batch_head * query_length + rows, delta, mask=in_range)


@triton.jit
def _loaded_terms(LSE_LOG2, DELTA, head_row, rows, in_range):
    """What `row_terms` stored for some rows of the head that starts at `head_row`; rows out of range have weight 0."""
    lse = tl.load(LSE_LOG2 + head_row + rows, mask=in_range, other=float("inf"))
    delta = tl.load(DELTA + head_row + rows, mask=in_range, other=0.0)
    return lse, delta


@triton.jit
def _cells(base, rows, stride_row, stride_column, in_range, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Pointers [rows, BLOCK] into a matrix of WIDTH columns, and which of them lie inside it."""
    columns = tl.arange(0, BLOCK)
    places = base + rows.to(tl.int64)[:, None] * stride_row + columns[None, :] * stride_column
    return places, in_range[:, None] & (columns < WIDTH)[None, :]


@triton.jit
def _key_step(query, dout, key, value, dkey, dvalue, lse, delta, visible, scale_log2, MASKED: tl.constexpr,
              PRECISION: tl.constexpr):  # fmt: skip
    """One query tile's share of dK and dV; scores are held transposed, [keys, queries]."""
    scores = tl.dot(key, tl.trans(query), input_precision=PRECISION)
    weights = tl.exp2(scores * scale_log2 - lse[None, :])
    if MASKED:
        weights = tl.where(visible, weights, 0.0)
    dvalue = tl.dot(weights.to(dout.dtype), dout, dvalue, input_precision=PRECISION)
    dweights = tl.dot(value, tl.trans(dout), input_precision=PRECISION)
    dscores = weights * (dweights - delta[None, :])
    if MASKED:
        # the values of a key that nobody sees may be NaN, and 0 * NaN is NaN
        dscores = tl.where(visible, dscores, 0.0)
    dkey = tl.dot(dscores.to(query.dtype), query, dkey, input_precision=PRECISION)
    return dkey, dvalue


@triton.jit(do_not_specialize=[
    "query_length", "key_length", "tiles", "key_heads", "batch_key_heads", "head_group", "kv_group",
    "variant_batch", "variant_head",
])  # fmt: skip
def attention_backward_keys(
    Q, K, V, DOUT, LSE_LOG2, DELTA, DK, DV,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,
    v_batch, v_head, v_row, v_column, dout_batch, dout_head, dout_row, dout_column,
    dk_batch, dk_head, dk_row, dk_column, dv_batch, dv_head, dv_row, dv_column,
    variant, variant_batch, variant_head, heavy_first,
    full_offsets, full_runs, partial_offsets, partial_tiles, partial_patterns, patterns,
    query_length, key_length, tiles, key_heads, batch_key_heads, head_group, kv_group, scale, scale_log2,
    HEAD_DIM: tl.constexpr, HEAD_DIM_V: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dK and dV of one key tile of one key head: every query head of its group in turn, listed query tiles in order."""
    batch, key_head, _, tile = work_item(
        heavy_first, variant, variant_batch, variant_head * kv_group, tiles, key_heads, batch_key_heads, head_group
    )
    batch64 = batch.to(tl.int64)
    key_head64 = key_head.to(tl.int64)
    keys = tile * BLOCK_N + tl.arange(0, BLOCK_N)
    key_in_range = keys < key_length
    key_base = K + batch64 * k_batch + key_head64 * k_head
    key = load_rows(key_base, keys, k_row, k_column, key_in_range, HEAD_DIM, BLOCK_D, True)
    value_base = V + batch64 * v_batch + key_head64 * v_head
    value = load_rows(value_base, keys, v_row, v_column, key_in_range, HEAD_DIM_V, BLOCK_DV, True)
    lanes = tl.arange(0, BLOCK_M)
    dkey = tl.zeros([BLOCK_N, BLOCK_D], tl.float32)
    dvalue = tl.zeros([BLOCK_N, BLOCK_DV], tl.float32)
    for member in range(kv_group):
        head = key_head64 * kv_group + member
        which = tl.load(variant + batch * variant_batch + head * variant_head)
        query_base = Q + batch64 * q_batch + head * q_head
        dout_base = DOUT + batch64 * dout_batch + head * dout_head
        head_row = (batch64 * key_heads * kv_group + head) * query_length
        list_row = which * tiles + tile
        for run in range(tl.load(full_offsets + list_row), tl.load(full_offsets + list_row + 1)):
            first = tl.load(full_runs + 2 * run)
            last = tl.load(full_runs + 2 * run + 1)
            for query_tile in range(first, last):
                rows = query_tile * BLOCK_M + lanes
                in_range = rows < query_length
                query = load_rows(query_base, rows, q_row, q_column, in_range, HEAD_DIM, BLOCK_D, True)
                dout = load_rows(dout_base, rows, dout_row, dout_column, in_range, HEAD_DIM_V, BLOCK_DV, True)
                lse, delta = _loaded_terms(LSE_LOG2, DELTA, head_row, rows, in_range)
                dkey, dvalue = _key_step(
                    query, dout, key, value, dkey, dvalue, lse, delta, in_range, scale_log2, False, PRECISION
                )
        for entry in range(tl.load(partial_offsets + list_row), tl.load(partial_offsets + list_row + 1)):
            rows = tl.load(partial_tiles + entry) * BLOCK_M + lanes
            in_range = rows < query_length
            lse, delta = _loaded_terms(LSE_LOG2, DELTA, head_row, rows, in_range)
            alive = lse != float("inf")
            query = load_rows(query_base, rows, q_row, q_column, alive, HEAD_DIM, BLOCK_D, True)
            dout = load_rows(dout_base, rows, dout_row, dout_column, alive, HEAD_DIM_V, BLOCK_DV, True)
            visible = tl.trans(visible_cells(patterns, tl.load(partial_patterns + entry), BLOCK_M, BLOCK_N))
            dkey, dvalue = _key_step(
                query, dout, key, value, dkey, dvalue, lse, delta, visible, scale_log2, True, PRECISION
            )
    dk_base = DK + batch64 * dk_batch + key_head64 * dk_head
    places, mask = _cells(dk_base, keys, dk_row, dk_column, key_in_range, HEAD_DIM, BLOCK_D)
    tl.store(places, (dkey * scale).to(DK.dtype.element_ty), mask=mask)
    dv_base = DV + batch64 * dv_batch + key_head64 * dv_head
    places, mask = _cells(dv_base, keys, dv_row, dv_column, key_in_range, HEAD_DIM_V, BLOCK_DV)
    tl.store(places, dvalue.to(DV.dtype.element_ty), mask=mask)


@triton.jit
def _query_step(query, dout, key, value, dquery, lse, delta, visible, scale_log2, MASKED: tl.constexpr,
                PRECISION: tl.constexpr):  # fmt: skip
    """One key tile's share of dQ."""
    scores = tl.dot(query, tl.trans(key), input_precision=PRECISION)
    weights = tl.exp2(scores * scale_log2 - lse[:, None])
    dweights = tl.dot(dout, tl.trans(value), input_precision=PRECISION)
    dscores = weights * (dweights - delta[:, None])
    if MASKED:
        dscores = tl.where(visible, dscores, 0.0)
    return tl.dot(dscores.to(key.dtype), key, dquery, input_precision=PRECISION)


@triton.jit(do_not_specialize=[
    "query_length", "key_length", "tiles", "heads", "batch_heads", "head_group", "kv_group",
    "variant_batch", "variant_head",
])  # fmt: skip
def attention_backward_queries(
    Q, K, V, DOUT, LSE_LOG2, DELTA, DQ,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,
    v_batch, v_head, v_row, v_column, dout_batch, dout_head, dout_row, dout_column,
    dq_batch, dq_head, dq_row, dq_column,
    variant, variant_batch, variant_head, heavy_first,
    full_offsets, full_runs, partial_offsets, partial_tiles, partial_patterns, patterns, live_keys,
    query_length, key_length, tiles, heads, batch_heads, head_group, kv_group, scale, scale_log2,
    HEAD_DIM: tl.constexpr, HEAD_DIM_V: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DEAD_KEYS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dQ of one query tile of one head, over its listed key tiles in order."""
    batch, head, which, tile = work_item(
        heavy_first, variant, variant_batch, variant_head, tiles, heads, batch_heads, head_group
    )
    batch64 = batch.to(tl.int64)
    head64 = head.to(tl.int64)
    key_head = head64 // kv_group
    key_base = K + batch64 * k_batch + key_head * k_head
    value_base = V + batch64 * v_batch + key_head * v_head
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_in_range = rows < query_length
    head_row = (batch64 * heads + head64) * query_length
    lse, delta = _loaded_terms(LSE_LOG2, DELTA, head_row, rows, row_in_range)
    query_base = Q + batch64 * q_batch + head64 * q_head
    query = load_rows(query_base, rows, q_row, q_column, row_in_range, HEAD_DIM, BLOCK_D, True)
    dout_base = DOUT + batch64 * dout_batch + head64 * dout_head
    dout = load_rows(dout_base, rows, dout_row, dout_column, row_in_range, HEAD_DIM_V, BLOCK_DV, True)
    lanes = tl.arange(0, BLOCK_N)
    dquery = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    list_row = which * tiles + tile
    for run in range(tl.load(full_offsets + list_row), tl.load(full_offsets + list_row + 1)):
        first = tl.load(full_runs + 2 * run)
        last = tl.load(full_runs + 2 * run + 1)
        for key_tile in range(first, last):
            keys = key_tile * BLOCK_N + lanes
            key = load_rows(key_base, keys, k_row, k_column, keys < key_length, HEAD_DIM, BLOCK_D, False)
            value = load_rows(value_base, keys, v_row, v_column, keys < key_length, HEAD_DIM_V, BLOCK_DV, False)
            dquery = _query_step(
                query, dout, key, value, dquery, lse, delta, row_in_range, scale_log2, False, PRECISION
            )
    for entry in range(tl.load(partial_offsets + list_row), tl.load(partial_offsets + list_row + 1)):
        keys = tl.load(partial_tiles + entry) * BLOCK_N + lanes
        in_range = keys < key_length
        value = load_rows(value_base, keys, v_row, v_column, in_range, HEAD_DIM_V, BLOCK_DV, True)
        if DEAD_KEYS:
            in_range = in_range & (
                tl.load(live_keys + which.to(tl.int64) * key_length + keys, mask=in_range, other=0) != 0
            )
        key = load_rows(key_base, keys, k_row, k_column, in_range, HEAD_DIM, BLOCK_D, True)
        visible = visible_cells(patterns, tl.load(partial_patterns + entry), BLOCK_M, BLOCK_N)
        dquery = _query_step(query, dout, key, value, dquery, lse, delta, visible, scale_log2, True, PRECISION)
    dq_base = DQ + batch64 * dq_batch + head64 * dq_head
    places, mask = _cells(dq_base, rows, dq_row, dq_column, row_in_range, HEAD_DIM, BLOCK_D)
    tl.store(places, (dquery * scale).to(DQ.dtype.element_ty), mask=mask)
