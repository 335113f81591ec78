"""What the Hopper backward kernel reads per query, and how its integer sums become dQ.

dQ of a query is scale * sum over keys of P (dP - delta) K. The weights P sum to 1 and |dP| <= |dO| max|V|, so whatever
part of the sum is taken first, no component exceeds max|K| * (|dO| max|V| + |delta|), with the maxima over the keys of
the head. The unit of a query divides a little less than 2**31 by that bound: sums in units cannot overflow, and their
rounding is far below that of the 16-bit operands. A bound that is infinite or NaN makes dQ NaN.
"""

import triton
import triton.language as tl

from compilemask.kernel.backward import query_terms
from compilemask.kernel.forward import load_rows


@triton.jit(do_not_specialize=["key_length", "key_heads", "tiles"])
def key_bounds(
    K, V, BOUNDS, k_batch, k_head, k_row, k_column, v_batch, v_head, v_row, v_column, key_length, key_heads, tiles,
    HEAD_DIM: tl.constexpr, HEAD_DIM_V: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
    BLOCK_N: tl.constexpr,
):  # fmt: skip
    """BOUNDS [batch * key heads, 2], zero at the start: bits of the largest |K| component and the largest |V| row.

    Bits of non-negative floats are ordered as the floats are, NaN above all: an integer maximum needs no order.
    """
    program = tl.program_id(0)
    matrix = (program // tiles).to(tl.int64)
    batch = matrix // key_heads
    head = matrix % key_heads
    rows = program % tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    in_range = rows < key_length
    key = load_rows(K + batch * k_batch + head * k_head, rows, k_row, k_column, in_range, HEAD_DIM, BLOCK_D, True)
    value = load_rows(V + batch * v_batch + head * v_head, rows, v_row, v_column, in_range, HEAD_DIM_V, BLOCK_DV, True)
    value = value.to(tl.float32)
    key_bits = tl.abs(key.to(tl.float32)).to(tl.int32, bitcast=True)
    length_bits = tl.sqrt(tl.sum(value * value, 1)).to(tl.int32, bitcast=True)
    tl.atomic_max(BOUNDS + 2 * matrix, tl.max(tl.max(key_bits, 1), 0), sem="relaxed")
    tl.atomic_max(BOUNDS + 2 * matrix + 1, tl.max(length_bits, 0), sem="relaxed")


@triton.jit(do_not_specialize=[
    "query_length", "padded_length", "heads", "kv_group", "tiles", "dlse_batch", "dlse_head",
])  # fmt: skip
def query_terms_with_units(
    OUT, DOUT, LSE, DLSE, BOUNDS, TERMS,
    out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
    dlse_batch, dlse_head, dlse_row, query_length, padded_length, heads, kv_group, tiles,
    HEAD_DIM_V: tl.constexpr, BLOCK_DV: tl.constexpr, BLOCK_M: tl.constexpr, HAS_DLSE: tl.constexpr,
):  # fmt: skip
    """TERMS [batch * heads, 4, padded length]: LSE in powers of two, delta, unit, and a row that nothing reads.

    The first two are those of `query_terms`.
    """
    program = tl.program_id(0)
    batch_head = (program // tiles).to(tl.int64)
    rows = program % tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    lse_log2, delta, dout = query_terms(
        OUT, DOUT, LSE, DLSE, out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
        dlse_batch, dlse_head, dlse_row, query_length, heads, batch_head, rows, HEAD_DIM_V, BLOCK_DV, HAS_DLSE,
    )  # fmt: skip
    bounds = BOUNDS + 2 * (batch_head // kv_group)
    largest_key = tl.load(bounds).to(tl.float32, bitcast=True)
    longest_value = tl.load(bounds + 1).to(tl.float32, bitcast=True)
    bound = largest_key * (tl.sqrt(tl.sum(dout * dout, 1)) * longest_value + tl.abs(delta))
    unit = 1.9e9 / tl.where(bound < 1e-28, 1e-28, bound)
    terms = TERMS + batch_head * 4 * padded_length + rows
    tl.store(terms, lse_log2)
    tl.store(terms + padded_length, delta)
    tl.store(terms + 2 * padded_length, unit)


@triton.jit(do_not_specialize=["query_length", "padded_length", "tiles"])
def finish_dq(
    SUMS, TERMS, DQ, query_length, padded_length, tiles, scale,
    HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr,
):  # fmt: skip
    """DQ, contiguous [batch * heads, queries, HEAD_DIM], from SUMS [batch * heads, padded length, BLOCK_D]."""
    program = tl.program_id(0)
    batch_head = (program // tiles).to(tl.int64)
    rows = program % tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_D)
    sums = tl.load(SUMS + (batch_head * padded_length + rows)[:, None] * BLOCK_D + columns[None, :]).to(tl.float32)
    unit = tl.load(TERMS + batch_head * 4 * padded_length + 2 * padded_length + rows)
    dquery = sums / unit[:, None] * scale
    mask = (rows < query_length)[:, None] & (columns < HEAD_DIM)[None, :]
    pointers = DQ + (batch_head * query_length + rows)[:, None] * HEAD_DIM + columns[None, :]
    tl.store(pointers, dquery.to(DQ.dtype.element_ty), mask=mask)
