"""How far from float64 a kernel may be, row by row: twice what the dtype itself costs there, plus a rounding band.

A row is one query of out, LSE and dQ, one key of dK and dV. The root mean square of a row's error may be

    2 x the same of the plain reference in that row  +  the root mean square of the row's rounding bands

and each of its values may be off by 2 x the largest error of the plain reference in the row + 4 of its own bands.

The plain reference (`plain_attention`) is measured, not chosen: whoever computes in this dtype makes its errors. The
allowance belongs to the row: one token that leaks into a row of n keys changes it by about 1/n of a value, and must
not hide behind the larger error of a row of two keys. The band (`rounding_bands`) is made of the terms of the row
itself, one rounding of each, added up as squares. It is there because a reference is sometimes right by luck, which is
no reason to ask the same of a kernel. A value may use 4 bands, since the largest of many roundings exceeds their root
mean square.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.reference import AttentionResult, dense_attention
from compilemask.measure.plain_attention import plain_attention
from compilemask.measure.rounding import Terms, rounding_bands

FACTOR = 2.0
BANDS_OF_A_VALUE = 4.0
NAMES = ("out", "lse", "dq", "dk", "dv")


@dataclass(frozen=True, slots=True)
class OutputError:
    """One output against float64: the row, or the value, that used the most of what it was allowed.

    `error` and `allowed` are those of that row (root mean square) or value, in units of the output.
    """

    name: str  # out, lse, dq, dk or dv
    used: float  # error / allowed; above 1 is red
    error: float
    allowed: float
    first_wrong: tuple[int, ...] | None  # [batch, head, row, column] of the worst value of the first row that is wrong

    @property
    def within(self) -> bool:
        return self.first_wrong is None


@dataclass(frozen=True, slots=True)
class References:
    """The float64 truth, the low-precision reference and the rounding bands of one problem."""

    exact: AttentionResult
    plain: AttentionResult
    bands: AttentionResult


def references(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor,
    scale: float | None = None,
    dout: Tensor | None = None,
    dlse: Tensor | None = None,
) -> References:
    """Truth, reference and bands of one problem; arguments as for `dense_attention`."""
    keys_alive, rows_alive = _alive(visible, k.shape[1], q.shape[:3])
    clean_q, clean_k, clean_v = _silenced(q, rows_alive), _silenced(k, keys_alive), _silenced(v, keys_alive)
    clean_dout = None if dout is None else _silenced(dout, rows_alive)
    clean_dlse = None if dlse is None else torch.where(rows_alive, dlse, 0.0)
    exact = dense_attention(q, k, v, visible, scale, dout, dlse)
    plain = plain_attention(clean_q, clean_k, clean_v, visible, scale, clean_dout, clean_dlse)
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    terms = Terms(clean_q, clean_k, clean_v, visible, factor, clean_dout, clean_dlse)
    return References(exact, plain, rounding_bands(terms, exact))


def _alive(visible: Tensor, key_heads: int, shape: torch.Size) -> tuple[Tensor, Tensor]:
    """Which keys [B|1, Hk, K] anybody sees and which queries [B|1, H, Q] see anything."""
    full = visible.expand(-1, shape[1], -1, -1)
    keys = full.any(2)
    group = full.shape[1] // key_heads
    return keys.reshape(keys.shape[0], key_heads, group, keys.shape[2]).any(2), full.any(3)


def _silenced(x: Tensor, alive: Tensor) -> Tensor:
    return torch.where(alive[..., None], x, torch.zeros((), dtype=x.dtype, device=x.device))


def compare(found: AttentionResult, against: References) -> tuple[OutputError, ...]:
    """Judge every output that both sides have: out, lse and, where gradients were asked for, dq, dk, dv."""
    errors = []
    for name in NAMES:
        value, exact = getattr(found, name), getattr(against.exact, name)
        if value is not None and exact is not None:
            errors.append(output_error(name, value, exact, getattr(against.plain, name), getattr(against.bands, name)))
    return tuple(errors)


def output_error(name: str, found: Tensor, exact: Tensor, plain: Tensor, bands: Tensor) -> OutputError:
    """Judge one output by the rule of this module. Equal infinities agree, NaN agrees with nothing."""
    errors, plain_errors = _difference(found, exact), _difference(plain, exact)
    flat = exact.dim() == 3  # a row of LSE is one value
    error, plain_error, band = (x[..., None] if flat else x for x in (errors, plain_errors, bands))
    if not error.numel():
        return OutputError(name, 0.0, 0.0, 0.0, None)
    row_error, row_allowed = _rms(error), FACTOR * _rms(plain_error) + _rms(band)
    allowed = FACTOR * plain_error.amax(-1, keepdim=True) + BANDS_OF_A_VALUE * band
    row_used, used = _share(row_error, row_allowed), _share(error, allowed)
    most, size, limit = max(_worst(row_used, row_error, row_allowed), _worst(used, error, allowed))
    return OutputError(name, most, size, limit, _first_wrong(row_used, used, flat) if most > 1.0 else None)


def _worst(used: Tensor, error: Tensor, allowed: Tensor) -> tuple[float, float, float]:
    """Share, error and allowance where the share is largest."""
    place = int(used.argmax())
    return float(used.reshape(-1)[place]), float(error.reshape(-1)[place]), float(allowed.reshape(-1)[place])


def _first_wrong(row_used: Tensor, used: Tensor, flat: bool) -> tuple[int, ...]:
    """The first row that is beyond what it was allowed, and its worst column."""
    wrong = (row_used > 1.0) | (used.amax(-1) > 1.0)
    batch, head, row = (int(i) for i in wrong.nonzero()[0])
    return (batch, head, row) if flat else (batch, head, row, int(used[batch, head, row].argmax()))


def _share(found: Tensor, allowed: Tensor) -> Tensor:
    return torch.where(found == 0.0, 0.0, torch.nan_to_num(found / allowed, nan=math.inf, posinf=math.inf))


def _difference(value: Tensor, truth: Tensor) -> Tensor:
    """|value - truth| in float64; 0 for equal infinities, inf where one is NaN or only one is infinite."""
    wide = value.to(truth.device, torch.float64)
    gap = torch.where(wide == truth, 0.0, (wide - truth).abs())
    return torch.nan_to_num(gap, nan=math.inf, posinf=math.inf)


def _rms(error: Tensor) -> Tensor:
    return error.square().mean(-1).sqrt()
