"""A Python file that gives FlexAttention a mask: all samples and heads, or one of them; it needs torch and numpy only.

The code of the file is fixed text; what comes from the mask stands in it as literals.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import TooLargeError, UsageError
from compilemask.intervals import Intervals
from compilemask.measure.export.python_text import literal
from compilemask.pipeline import CompiledMask
from compilemask.tiles import build_tile_map

BLOCK = 128
MOST_RUNS = 1 << 23  # their numbers take 64 MiB before they are compressed
MOST_TILES = 1 << 24
WIDTH = 100
OTHERWISE = "a shorter mask, one head and sample (--head, --batch), or a dense .npy can be exported"

_CODE = '''
import base64
import zlib

import numpy as np
import torch
from torch.nn.attention.flex_attention import BlockMask


def _array(text, shape):
    values = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").reshape(shape)
    return values.cumsum(-1, dtype=np.int32)


def mask_mod(device):
    """True where the key lies in one of the query's runs."""
    runs = _array(RUNS_PER_ROW, -1)
    offsets = np.concatenate(([0], 2 * np.cumsum(runs))).astype(np.int32)
    place = np.arange(runs.sum()) - np.repeat(offsets[:-1] // 2, runs)
    steps = [1 << bit for bit in reversed(range(int(2 * runs.max(initial=1)).bit_length()))]
    # the borders of all runs, row by row: start, end, start, end, ...; more behind the last, where a search may look
    borders = np.zeros(2 * (len(place) + steps[0]), np.int32)
    row_by_row = borders[: 2 * len(place)].reshape(-1, 2)
    row_by_row[np.argsort(place, kind="stable")] = np.stack((_array(STARTS, -1), _array(ENDS, -1)), axis=1)
    offsets, borders = torch.from_numpy(offsets).to(device), torch.from_numpy(borders).to(device)
    variant = torch.tensor(VARIANT, dtype=torch.int32, device=device)

    def visible(batch, head, query, key):
        row = variant[batch * int(BATCH > 1), head * int(HEADS > 1)] * QUERIES + query
        found, end = offsets[row], offsets[row + 1]
        for step in steps:  # how many borders of the row lie at or before the key
            there = found + step
            found = torch.where((there <= end) & (borders[there - 1] <= key), there, found)
        return found % 2 == 1

    return visible


def _listed(chosen):
    order = torch.argsort(chosen.to(torch.int8), dim=-1, descending=True, stable=True)
    return chosen.sum(-1, dtype=torch.int32), order.to(torch.int32).contiguous()


def block_mask(device):
    """Empty tiles are skipped, full ones need no mask."""
    tiles = (-(-QUERIES // BLOCK[0]), -(-KEYS // BLOCK[1]))
    kinds = torch.from_numpy(_array(KINDS, (-1, *tiles))[np.array(VARIANT)]).to(device)
    partial, full = _listed(kinds == 1), _listed(kinds == 2)
    return BlockMask.from_kv_blocks(
        *partial, *full, BLOCK_SIZE=BLOCK, mask_mod=mask_mod(device), seq_lengths=(QUERIES, KEYS)
    )
'''


def flex_module(
    compiled: CompiledMask,
    batch: int | None = None,
    head: int | None = None,
    blocks: tuple[int, int] = (BLOCK, BLOCK),
) -> str:
    """A Python file with `mask_mod(device)` and `block_mask(device)` in the caller's token order.

    It holds what the mask says of every sample and head, or of the one `batch` entry or `head` that is given, for all
    samples or heads then. Visible is judged by a search among the ends of a query's runs: few steps for any mask.

    Raises:
        UsageError: there is no such sample or head, or the mask has no cells.
        TooLargeError: it has more runs or tiles than a file should hold.
    """
    table = _chosen(compiled, batch, head)
    numbers, inverse = np.unique(table, return_inverse=True)
    rows = [_rows_of(compiled, table, int(number)) for number in numbers]
    _check_size(compiled, rows, blocks)
    lines = [
        literal(_about(compiled, batch, head)),
        '# out = torch.compile(flex_attention)(q, k, v, block_mask=block_mask("cuda"))',
        "",
        f"QUERIES, KEYS, BLOCK = {compiled.query_length}, {compiled.key_length}, {blocks}",
        f"BATCH, HEADS = {table.shape[0]}, {table.shape[1]}",
        f"VARIANT = {inverse.reshape(table.shape).tolist()}",
        _CODE,
    ]
    runs, starts, ends = _runs_by_place(rows)
    kinds = np.stack([build_tile_map(one, *blocks).kinds() for one in rows])
    for name, values in (("RUNS_PER_ROW", runs), ("STARTS", starts), ("ENDS", ends), ("KINDS", kinds)):
        lines += ["", f"{name} = (", *_quoted(values), ")"]
    return "\n".join(lines) + "\n"


def _about(compiled: CompiledMask, batch: int | None, head: int | None) -> str:
    parts = [f"{what} {number}" for what, number in (("sample", batch), ("head", head)) if number is not None]
    what = ", ".join([compiled.title or compiled.name, *parts])
    return f"{what}, for FlexAttention: {compiled.query_length:,} queries x {compiled.key_length:,} keys."


def _chosen(compiled: CompiledMask, batch: int | None, head: int | None) -> NDArray[np.int32]:
    """[batch or 1, heads or 1] numbers of distinct masks."""
    compiled.number_of(batch or 0, head or 0)
    table = compiled.variant
    if batch is not None and compiled.batch > 1:
        table = table[batch : batch + 1]
    if head is not None and compiled.heads > 1:
        table = table[:, head : head + 1]
    return table


def _rows_of(compiled: CompiledMask, table: NDArray[np.int32], number: int) -> Intervals:
    batch, head = np.argwhere(compiled.variant == number)[0].tolist()
    return compiled.rows_of(batch, head)


def _check_size(compiled: CompiledMask, rows: Sequence[Intervals], blocks: tuple[int, int]) -> None:
    if not compiled.query_length or not compiled.key_length:
        raise UsageError(f"{compiled.name} has no cells with these sizes; FlexAttention takes no block mask of none")
    runs = sum(one.runs for one in rows)
    if runs > MOST_RUNS:
        what = f"{compiled.name} has {runs:,} runs of keys, at most {MOST_RUNS:,} go into a FlexAttention module"
        raise TooLargeError(f"{what}; {OTHERWISE}")
    tiles = len(rows) * -(-compiled.query_length // blocks[0]) * -(-compiled.key_length // blocks[1])
    if tiles > MOST_TILES:
        what = f"{compiled.name} has {tiles:,} tiles, at most {MOST_TILES:,} go into a FlexAttention module"
        raise TooLargeError(f"{what}; take larger tiles (--block-m, --block-n)")


def _runs_by_place(rows: Sequence[Intervals]) -> tuple[NDArray[np.int64], ...]:
    """Runs per row; starts and ends of the first run of every row, of the second, and so on, which compresses well."""
    counts = np.concatenate([one.runs_per_row() for one in rows])
    first = np.concatenate(([0], np.cumsum(counts)))[:-1]
    place = np.arange(counts.sum()) - np.repeat(first, counts)
    order = np.argsort(place, kind="stable")
    starts, ends = (np.concatenate([getattr(one, name) for one in rows])[order] for name in ("starts", "ends"))
    return counts, starts, ends


def _quoted(values: NDArray[np.integer]) -> list[str]:
    """Differences along the last axis, compressed, as lines of quoted text."""
    steps = np.diff(values.astype(np.int32), axis=-1, prepend=0).astype("<i4")
    text = base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode("ascii")
    return [f'    "{text[start : start + WIDTH]}"' for start in range(0, len(text), WIDTH)]
