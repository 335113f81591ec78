"""Python files that use a mask."""

from __future__ import annotations

import base64
import json
import textwrap
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.pipeline import CompiledMask
from compilemask.tiles import build_tile_map

FLEX_BLOCK = 128

_FLEX = '''\
"""{title}, for FlexAttention: {queries:,} queries x {keys:,} keys. Needs torch and numpy only.

    out = torch.compile(flex_attention)(q, k, v, block_mask=block_mask("cuda"))
"""

import base64
import zlib

import numpy as np
import torch
from torch.nn.attention.flex_attention import BlockMask

QUERIES, KEYS, RUNS, BLOCK = {queries}, {keys}, {runs}, {block}


def _array(text, shape, device):
    values = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i4").reshape(shape)
    return torch.from_numpy(values.cumsum(-1, dtype=np.int32)).to(device)


def mask_mod(device):
    """True where the key lies in one of the query's runs."""
    starts = _array(STARTS, (RUNS, QUERIES), device)
    ends = _array(ENDS, (RUNS, QUERIES), device)

    def visible(batch, head, query, key):
        found = (key >= starts[0, query]) & (key < ends[0, query])
        for run in range(1, RUNS):
            found = found | ((key >= starts[run, query]) & (key < ends[run, query]))
        return found

    return visible


def _listed(chosen):
    order = torch.argsort(chosen.to(torch.int8), dim=-1, descending=True, stable=True)
    return chosen.sum(-1, dtype=torch.int32)[None, None], order.to(torch.int32)[None, None].contiguous()


def block_mask(device):
    """Empty tiles are skipped, full ones need no mask."""
    shape = (-(-QUERIES // BLOCK), -(-KEYS // BLOCK))
    kinds = _array(KINDS, shape, device)
    partial, full = _listed(kinds == 1), _listed(kinds == 2)
    return BlockMask.from_kv_blocks(
        *partial, *full, BLOCK_SIZE=BLOCK, mask_mod=mask_mod(device), seq_lengths=(QUERIES, KEYS)
    )


STARTS = (
{starts}
)
ENDS = (
{ends}
)
KINDS = (
{kinds}
)
'''

_PYTHON = """\
import compilemask as cm

mask = cm.compile({mask}{parameters})
# q, k, v: [batch, heads, tokens, head_dim]; {queries:,} queries, {keys:,} keys
out = cm.attention(q, k, v, mask)
"""


def flex_module(compiled: CompiledMask) -> str:
    """A Python file with `mask_mod` and `block_mask` for FlexAttention; batch entry 0, head 0."""
    rows = compiled.rows
    most = max(1, int(rows.runs_per_row().max(initial=0)))
    starts, ends = (np.zeros((most, rows.rows), np.int32) for _ in range(2))
    place = np.arange(rows.runs) - np.repeat(rows.offsets[:-1], np.diff(rows.offsets))
    starts[place, rows.run_rows()], ends[place, rows.run_rows()] = rows.starts, rows.ends
    return _FLEX.format(
        title=compiled.title or compiled.name,
        queries=rows.rows,
        keys=rows.columns,
        runs=most,
        block=FLEX_BLOCK,
        starts=_quoted(starts),
        ends=_quoted(ends),
        kinds=_quoted(build_tile_map(rows, FLEX_BLOCK, FLEX_BLOCK).kinds().astype(np.int32)),
    )


def _quoted(values: NDArray[np.int32]) -> str:
    """Differences along the last axis, compressed, as lines of quoted text."""
    steps = np.diff(values, axis=-1, prepend=0).astype("<i4")
    text = base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode("ascii")
    return "\n".join(f'    "{line}"' for line in textwrap.wrap(text, 100) or [""])


def python_snippet(compiled: CompiledMask, mask: str, parameters: Mapping[str, Any]) -> str:
    """The lines that use the mask in a model."""
    shown = "".join(f", {name}={_literal(value)}" for name, value in parameters.items())
    return _PYTHON.format(
        mask=json.dumps(mask), parameters=shown, queries=compiled.query_length, keys=compiled.key_length
    )


def _literal(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3 and all(item == value[0] for item in value):
        return f"[{_literal(value[0])}] * {len(value)}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return repr(value)
