"""Cases about numbers: inputs, and what attention and its gradients are in float64. numpy only.

Arrays are [heads, tokens, head_dim]; the visible cells [heads, queries, keys].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.masks.predicates.registry import Mask, Parameters

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What goes in. `out_gradient` is the gradient of the loss with respect to the output."""

    q: Array
    k: Array
    v: Array
    out_gradient: Array
    scale: float | None = None  # None: 1 / sqrt(head_dim)


@dataclass(frozen=True, slots=True)
class Expected:
    """What comes out: output, natural-log LSE (-inf where nothing is seen), gradients."""

    out: Array
    lse: Array
    dq: Array
    dk: Array
    dv: Array


@dataclass(frozen=True, slots=True)
class NumericCase:
    """`mask` and `parameters` are what `compile` takes (a library name); `visible` is its matrix."""

    name: str
    fact: str
    mask: str
    parameters: Parameters
    visible: Mask  # [query, key]
    inputs: Callable[[], Inputs]

    def expected(self) -> Expected:
        """Outputs and gradients in float64."""
        return attention(self.inputs(), self.visible)


def attention(inputs: Inputs, visible: Mask) -> Expected:
    """Row by row over visible keys only: what is hidden takes no part, whatever it holds."""
    q, k, v = inputs.q, inputs.k, inputs.v
    heads, queries, width = q.shape
    group = heads // k.shape[0]
    scale = width**-0.5 if inputs.scale is None else inputs.scale
    out, lse = np.zeros((heads, queries, v.shape[2])), np.full((heads, queries), -np.inf)
    dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for head in range(heads):
        for row in range(queries):
            seen = np.flatnonzero(visible[row])
            if not seen.size:
                continue
            keys, values = k[head // group, seen], v[head // group, seen]
            scores = keys @ q[head, row] * scale
            weights = np.exp(scores - scores.max())
            total = weights.sum()
            weights /= total
            out[head, row], lse[head, row] = weights @ values, scores.max() + np.log(total)
            gradient = inputs.out_gradient[head, row]
            change = values @ gradient
            by_score = weights * (change - weights @ change) * scale
            dq[head, row] = by_score @ keys
            dk[head // group, seen] += by_score[:, None] * q[head, row]
            dv[head // group, seen] += weights[:, None] * gradient
    return Expected(out, lse, dq, dk, dv)


def normal(seed: int, queries: int, keys: int, width: int, heads: int = 1, value_width: int | None = None) -> Inputs:
    """Unit normal inputs."""
    random = np.random.default_rng(seed)
    values = width if value_width is None else value_width
    shapes = ((queries, width), (keys, width), (keys, values), (queries, values))
    return _inputs([random.standard_normal((heads, *shape)) for shape in shapes])


def _inputs(arrays: Sequence[Array]) -> Inputs:
    q, k, v, out_gradient = arrays
    return Inputs(q, k, v, out_gradient)


def _emptied_rows() -> Inputs:
    inputs = normal(62, 6, 6, 8)
    inputs.out_gradient[:, [1, 4]] = 1e4
    return inputs


def _zeros(queries: int, keys: int) -> Inputs:
    return Inputs(np.zeros((1, queries, 4)), np.ones((1, keys, 4)), np.ones((1, keys, 4)), np.zeros((1, queries, 4)))


def _tri(rows: int, columns: int, diagonal: int = 0) -> Mask:
    return np.tri(rows, columns, diagonal, dtype=bool)


def _emptied() -> Mask:
    mask = _tri(6, 6)
    mask[[1, 4]] = False
    return mask


def _one_document() -> Mask:
    mask = np.zeros((10, 13), bool)
    mask[:6, 5:9] = True
    return mask


def _causal(length: int, width: int, value_width: int, seed: int) -> NumericCase:
    return NumericCase(
        f"head_dim_{width}_{value_width}_length_{length}",
        "Any head_dim and any length: the scale uses the true head_dim, ragged tiles change nothing.",
        "causal",
        {"length": length},
        _tri(length, length),
        lambda: normal(seed, length, length, width, value_width=value_width),
    )


CASES = (
    NumericCase(
        "empty_rows",
        "Output 0, LSE -inf, dQ 0; dK and dV as if the rows were not there, whatever their gradient.",
        "causal_holes",
        {"length": 6, "holes": [[1, 2, 0, 6], [4, 5, 0, 6]]},
        _emptied(),
        _emptied_rows,
    ),
    NumericCase(
        "documents_without_queries",
        "Keys that nobody asks for have dK = dV = 0; queries without keys have output 0 and LSE -inf.",
        "document_cross",
        {"query_lengths": [0, 6, 4, 0], "key_lengths": [5, 4, 0, 4]},
        _one_document(),
        lambda: normal(64, 10, 13, 8),
    ),
    NumericCase(
        "lse_is_a_natural_logarithm",
        "All scores 0: the LSE of a row with n visible keys is ln n, of a row with none -inf.",
        "causal_end",
        {"new": 9, "total": 8},
        _tri(9, 8, -1),
        lambda: _zeros(9, 8),
    ),
    NumericCase(
        "unequal_columns",
        "Columns visited by very different numbers of rows: the same bits on every run.",
        "arrow",
        {"length": 64, "behind": 4, "sinks": 3, "tail": 4},
        (_tri(64, 64) & ~_tri(64, 64, -5)) | _tri(64, 64) & ((np.arange(64) < 3) | (np.arange(64)[:, None] >= 60)),
        lambda: normal(79, 64, 64, 16, heads=2),
    ),
    NumericCase(
        "exact_float32",
        "float32 products are exact: below 2e-6 off; 10-bit products are off by 1e-4 to 1e-2.",
        "causal",
        {"length": 48},
        _tri(48, 48),
        lambda: normal(77, 48, 48, 32),
    ),
    NumericCase(
        "memory_layouts",
        "Slices, transposes and strided views give the results of contiguous tensors; see `layouts`.",
        "causal",
        {"length": 10},
        _tri(10, 10),
        lambda: normal(71, 10, 10, 8, heads=2),
    ),
    *(_causal(length, 16, 16, 69 + length) for length in (1, 15, 16, 17, 33)),
    *(_causal(17, width, value, 76 + width) for width in (1, 8, 31, 72, 96, 160) for value in (width, 24)),
)


def layouts(inputs: Inputs) -> list[tuple[str, Inputs]]:
    """The same values in memory layouts that a projection or a cache makes; all must give the same results."""
    arrays = (inputs.q, inputs.k, inputs.v, inputs.out_gradient)
    heads, tokens, width = inputs.q.shape
    stacked = np.stack(arrays)
    fused = np.ascontiguousarray(stacked.transpose(2, 0, 1, 3))
    tokens_first = [np.ascontiguousarray(one.transpose(1, 0, 2)) for one in arrays]
    wide = np.zeros((4, heads, tokens, 2 * width))
    wide[..., ::2] = stacked
    room = np.full((4, heads, tokens + 3, width + 3), np.nan)
    room[:, :, 2 : tokens + 2, 3:] = stacked
    return [
        ("contiguous", inputs),
        ("slices of a fused projection", _inputs([fused[:, i].transpose(1, 0, 2) for i in range(4)])),
        ("tokens before heads", _inputs([one.transpose(1, 0, 2) for one in tokens_first])),
        ("every second element", _inputs([wide[i][..., ::2] for i in range(4)])),
        ("a window into a larger buffer", _inputs([room[i][:, 2 : tokens + 2, 3:] for i in range(4)])),
    ]
