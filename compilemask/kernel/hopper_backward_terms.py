"""What the Hopper backward kernel reads per query, and how its integer sums become dQ.

dQ of a query is scale * sum over keys of P (dP - delta) K. The weights P sum to 1, and |dP| <= |dO| max|V| in a key
tile, so whatever part of the sum is taken first, no component exceeds the largest max|K| * (|dO| max|V| + |delta|) of
the tiles that the query lists. The unit of a query divides a little less than 2**31 by that bound: sums in units cannot
overflow. Keys of other tiles, another document's for instance, have no part in it. A bound that is infinite or NaN
makes dQ NaN.
"""

import triton
import triton.language as tl

from compilemask.kernel.backward import query_terms
from compilemask.kernel.forward import load_rows

NO_SIGN = tl.constexpr(0x7FFFFFFF)


@triton.jit(do_not_specialize=["key_length", "key_heads", "tiles"])
def key_bounds(
    K, V, BOUNDS, k_batch, k_head, k_row, k_column, v_batch, v_head, v_row, v_column, key_length, key_heads, tiles,
    HEAD_DIM: tl.constexpr, HEAD_DIM_V: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
    BLOCK_N: tl.constexpr,
):  # fmt: skip
    """BOUNDS float32 [batch * key heads, tiles, 2]: of each key tile the largest |K| component and longest V row."""
    program = tl.program_id(0)
    matrix = (program // tiles).to(tl.int64)
    batch = matrix // key_heads
    head = matrix % key_heads
    rows = program % tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    in_range = rows < key_length
    key = load_rows(K + batch * k_batch + head * k_head, rows, k_row, k_column, in_range, HEAD_DIM, BLOCK_D, True)
    value = load_rows(V + batch * v_batch + head * v_head, rows, v_row, v_column, in_range, HEAD_DIM_V, BLOCK_DV, True)
    value = value.to(tl.float32)
    bounds = BOUNDS + (matrix * tiles + program % tiles) * 2
    key_bits = ordered_bits(tl.abs(key.to(tl.float32)))
    length_bits = ordered_bits(tl.sqrt(tl.sum(value * value, 1)))
    tl.store(bounds, tl.max(tl.max(key_bits, 1), 0).to(tl.float32, bitcast=True))
    tl.store(bounds + 1, tl.max(length_bits, 0).to(tl.float32, bitcast=True))


@triton.jit
def ordered_bits(numbers):
    """Bits of non-negative numbers, ordered as they are; NaN, which `tl.max` would pass over, above infinity."""
    return numbers.to(tl.int32, bitcast=True) & NO_SIGN


@triton.jit
def largest_part(bounds, tile, listed, dout_length, delta):
    """Ordered bits [rows]: the largest bound among some key tiles."""
    key = tl.load(bounds + 2 * tile, mask=listed, other=0.0)[None, :]
    value = tl.load(bounds + 2 * tile + 1, mask=listed, other=0.0)[None, :]
    return tl.max(ordered_bits(key * (dout_length[:, None] * value + tl.abs(delta)[:, None])), 1)


@triton.jit
def query_bound(
    bounds, row, full_offsets, full_runs, partial_offsets, partial_tiles, dout_length, delta, TILES: tl.constexpr
):
    """float32 [rows]: the bound of each query of one row of the tile lists, TILES key tiles at a time."""
    bits = ordered_bits(dout_length) * 0
    ahead = tl.arange(0, TILES)
    for run in range(tl.load(full_offsets + row), tl.load(full_offsets + row + 1)):
        last = tl.load(full_runs + 2 * run + 1)
        for first in range(tl.load(full_runs + 2 * run), last, TILES):
            tile = first + ahead
            bits = tl.maximum(bits, largest_part(bounds, tile, tile < last, dout_length, delta))
    last = tl.load(partial_offsets + row + 1)
    for first in range(tl.load(partial_offsets + row), last, TILES):
        listed = first + ahead < last
        tile = tl.load(partial_tiles + first + ahead, mask=listed, other=0)
        bits = tl.maximum(bits, largest_part(bounds, tile, listed, dout_length, delta))
    return bits.to(tl.float32, bitcast=True)


@triton.jit(do_not_specialize=[
    "query_length", "padded_length", "heads", "kv_group", "tiles", "dlse_batch", "dlse_head", "bounds_batch",
    "bounds_head", "variant_batch", "variant_head", "list_rows",
])  # fmt: skip
def query_terms_with_units(
    OUT, DOUT, LSE, DLSE, BOUNDS, TERMS, variant, full_offsets, full_runs, partial_offsets, partial_tiles,
    out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
    dlse_batch, dlse_head, dlse_row, bounds_batch, bounds_head, variant_batch, variant_head, list_rows,
    query_length, padded_length, heads, kv_group, tiles,
    HEAD_DIM_V: tl.constexpr, BLOCK_DV: tl.constexpr, BLOCK_M: tl.constexpr, LISTED_M: tl.constexpr,
    HAS_DLSE: tl.constexpr,
):  # fmt: skip
    """TERMS [batch * heads, 4, padded length]: LSE in powers of two, delta, unit, and a row that nothing reads.

    The first two are those of `query_terms`. The lists are those by query, of tiles of LISTED_M rows, `list_rows` a
    variant; `variant` and BOUNDS are indexed by batch and head (key head) with the strides given.
    """
    program = tl.program_id(0)
    batch_head = (program // tiles).to(tl.int64)
    rows = program % tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    lse_log2, delta, dout = query_terms(
        OUT, DOUT, LSE, DLSE, out_batch, out_head, out_row, out_column, dout_batch, dout_head, dout_row, dout_column,
        dlse_batch, dlse_head, dlse_row, query_length, heads, batch_head, rows, HEAD_DIM_V, BLOCK_DV, HAS_DLSE,
    )  # fmt: skip
    batch = batch_head // heads
    head = batch_head % heads
    which = tl.load(variant + batch * variant_batch + head * variant_head)
    tile = tl.minimum(program % tiles * BLOCK_M // LISTED_M, list_rows - 1)
    bound = query_bound(
        BOUNDS + batch * bounds_batch + head // kv_group * bounds_head, which * list_rows + tile,
        full_offsets, full_runs, partial_offsets, partial_tiles, tl.sqrt(tl.sum(dout * dout, 1)), delta, 64,
    )  # fmt: skip
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
    """DQ, contiguous [batch * heads, queries, HEAD_DIM], from SUMS [batch * heads, padded length, BLOCK_D].

    Rows and columns of SUMS lie as `in_store_order` of `hopper_backward_consumer` has them.
    """
    program = tl.program_id(0)
    batch_head = (program // tiles).to(tl.int64)
    lines = program % tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    rows = (lines & ~5) | (lines & 1) << 2 | (lines & 4) >> 2
    columns = tl.arange(0, BLOCK_D)
    sums = tl.load(SUMS + (batch_head * padded_length + lines)[:, None] * BLOCK_D + columns[None, :])
    sums = sums.reshape(BLOCK_M, BLOCK_D // 16, 4, 2, 2).permute(0, 1, 3, 2, 4).reshape(BLOCK_M, BLOCK_D)
    unit = tl.load(TERMS + batch_head * 4 * padded_length + 2 * padded_length + rows)
    dquery = sums.to(tl.float32) / unit[:, None] * scale
    mask = (rows < query_length)[:, None] & (columns < HEAD_DIM)[None, :]
    pointers = DQ + (batch_head * query_length + rows)[:, None] * HEAD_DIM + columns[None, :]
    tl.store(pointers, dquery.to(DQ.dtype.element_ty), mask=mask)
