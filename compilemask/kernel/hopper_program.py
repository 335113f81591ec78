"""What the roles of one program of the Hopper forward kernel share."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, tma

from compilemask.kernel.gluon_aggregate import aggregate
from compilemask.kernel.hopper_pieces import pattern_number, pattern_words
from compilemask.kernel.hopper_ring import Ring
from compilemask.kernel.hopper_work import Retries, WorkList

store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

LN_2 = gl.constexpr(0.6931471805599453)


@aggregate
class Config:
    """What a program is compiled for."""

    PARTS: gl.constexpr  # consumers, 64 query rows each
    BLOCK_N: gl.constexpr  # keys of a tile
    HEAD_DIM: gl.constexpr
    HEAD_DIM_V: gl.constexpr
    DTYPE: gl.constexpr
    Q_IN_REGISTERS: gl.constexpr
    OUTPUT_IN_QUERY: gl.constexpr  # the output leaves through Q's shared memory
    SCORES: gl.constexpr  # layout of [64, BLOCK_N] accumulators
    OUTPUT: gl.constexpr  # layout of [64, HEAD_DIM_V] accumulators


@aggregate
class Queries:
    """Q of one work tile in shared memory; its barriers complete once per work tile."""

    tiles: gl.shared_memory_descriptor  # [PARTS, 1, 1, 64, HEAD_DIM]
    ready: gl.shared_memory_descriptor  # barrier: TMA has written all bytes
    free: gl.shared_memory_descriptor  # barrier: one arrival per consumer


@aggregate
class Masks:
    """Bits of the PARTIAL tiles."""

    patterns: gl.tensor  # int32 [entries]: number of each PARTIAL tile's pattern
    words: gl.tensor  # int32 [patterns, 64 * PARTS, 4], see compilemask.kernel.hopper_patterns

    @gluon.jit
    def number(self, entry, any_partial, config):
        return pattern_number(self.patterns, entry, any_partial, config.BLOCK_N, config.SCORES)

    @gluon.jit
    def words_of(self, number, PART: gl.constexpr, config):
        return pattern_words(self.words, number, PART, 64 * config.PARTS, config.BLOCK_N, config.SCORES)


@aggregate
class Output:
    """Where a consumer leaves its rows."""

    descriptor: tma.tensor_descriptor  # boxes of 64 rows
    lse: gl.tensor  # float32 [batch, heads, query_length], contiguous
    staging: gl.shared_memory_descriptor  # [PARTS, 1, 1, 64, HEAD_DIM_V]
    heads: gl.tensor
    query_length: gl.tensor

    @gluon.jit
    def store(self, tile, output, maximum, row_total, PART: gl.constexpr, config):
        """Divides 64 rows by their totals and stores them with their LSE; `maximum` is in log2 units."""
        ROWS: gl.constexpr = gl.SliceLayout(1, config.SCORES)
        staging = self.staging.index(PART)
        first_row = tile.row + PART * 64
        # NaN totals are kept, so that a NaN in a visible key comes out
        empty = row_total == 0.0
        inverse = gl.where(empty, 0.0, 1.0 / row_total)
        output = output * gl.convert_layout(inverse, gl.SliceLayout(1, config.OUTPUT))[:, None]
        rows = first_row + gl.arange(0, 64, ROWS)
        log_sum = gl.where(empty, float("-inf"), maximum * LN_2 + gl.log(row_total))
        head_rows = self.lse + (tile.batch.to(gl.int64) * self.heads + tile.head) * self.query_length
        gl.store(head_rows + rows, log_sum, mask=rows < self.query_length)
        tma.store_wait(0)
        staging.reshape([64, config.HEAD_DIM_V]).store(output.to(config.DTYPE))
        fence_async_shared()
        store_tile(self.descriptor, [tile.batch, tile.head, first_row, 0], staging)


@aggregate
class Program:
    """One program: its work and the shared memory between its roles."""

    queries: Queries
    keys: Ring
    values: Ring
    work: WorkList
    retries: Retries
    scale_log2: gl.tensor  # of the scores, in powers of two
    config: Config
