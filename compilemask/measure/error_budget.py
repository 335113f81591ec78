"""How far from float64 a kernel may be: twice what the dtype itself costs, plus a rounding band.

The allowance of an output is measured, not chosen: an independent reference in the dtype of the tensors is compared
with float64, and a kernel may be at most twice as far. The band covers the last rounding of the stored value and a
reference that happens to be exact; gradients also get one float32 rounding of the terms that cancel in
`weight * (dweight - delta)`. Kernels add up float32 terms tile after tile where the reference may add them pairwise, so
every value may also be off by sqrt(terms) roundings of itself (Higham and Mary 2019).

Errors are judged twice: the root mean square over the whole output (a systematic loss of precision) and the largest
single difference (one wrong cell among many).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.reference import AttentionResult, dense_attention, plain_attention

FACTOR = 2.0
BAND_ULPS = 2.0


@dataclass(frozen=True, slots=True)
class OutputError:
    """One output against float64: what was found and what was allowed, in units of the output."""

    name: str  # out, lse, dq, dk or dv
    rms: float
    allowed_rms: float
    largest: float
    allowed_largest: float
    first_wrong: tuple[int, ...] | None  # [batch, head, row, column] of the first value beyond allowed_largest

    @property
    def within(self) -> bool:
        return self.first_wrong is None and self.rms <= self.allowed_rms

    @property
    def used(self) -> float:
        """The share of the budget that was used; above 1 is red."""
        shares = (_share(self.rms, self.allowed_rms), _share(self.largest, self.allowed_largest))
        return float("inf") if self.first_wrong is not None and max(shares) <= 1.0 else max(shares)


def _share(found: float, allowed: float) -> float:
    if found == 0.0:
        return 0.0
    return found / allowed if allowed > 0.0 else float("inf")


@dataclass(frozen=True, slots=True)
class References:
    """The float64 truth and the low-precision reference of one problem."""

    exact: AttentionResult
    plain: AttentionResult
    dtype: torch.dtype
    cancellation: float  # float32 rounding of the largest term that cancels in dq and dk
    summation: float  # relative error of adding up as many float32 terms as there are keys (or queries)


def references(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor,
    scale: float | None = None,
    dout: Tensor | None = None,
    dlse: Tensor | None = None,
) -> References:
    """Both references of one problem; arguments as for `dense_attention`."""
    keys_alive, rows_alive = _alive(visible, k.shape[1], q.shape[:3])
    clean_q, clean_k, clean_v = _silenced(q, rows_alive), _silenced(k, keys_alive), _silenced(v, keys_alive)
    exact = dense_attention(q, k, v, visible, scale, dout, dlse)
    plain = plain_attention(clean_q, clean_k, clean_v, visible, scale, dout, dlse)
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    terms = 0.0
    if dout is not None:
        terms = _longest(_silenced(dout, rows_alive)) * _longest(clean_v)
    reach = max(_largest(clean_q), _largest(clean_k)) * abs(factor)
    eps = torch.finfo(torch.float32).eps
    summation = eps / 2 * max(visible.shape[-1], visible.shape[-2]) ** 0.5
    return References(exact, plain, q.dtype, eps * terms * reach, summation)


def _longest(x: Tensor) -> float:
    return float(x.double().norm(dim=-1).max()) if x.numel() else 0.0


def _largest(x: Tensor) -> float:
    return float(x.double().abs().max()) if x.numel() else 0.0


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
    for name in ("out", "lse", "dq", "dk", "dv"):
        value = getattr(found, name)
        exact, plain = getattr(against.exact, name), getattr(against.plain, name)
        if value is not None and exact is not None:
            stored = torch.float32 if name == "lse" else against.dtype
            floor = against.cancellation if name in ("dq", "dk") else 0.0
            errors.append(output_error(name, value, exact, plain, stored, floor, against.summation))
    return tuple(errors)


def output_error(
    name: str,
    found: Tensor,
    exact: Tensor,
    plain: Tensor,
    dtype: torch.dtype,
    floor: float = 0.0,
    summation: float = 0.0,
) -> OutputError:
    """Judge one output; `dtype` is the type it is stored in, `floor` is allowed everywhere, `summation` of each value.

    Equal infinities agree, NaN agrees with nothing.
    """
    truth = exact.to(torch.float64)
    found_error, plain_error = _difference(found, truth), _difference(plain, truth)
    finite = torch.isfinite(truth)
    size = torch.where(finite, truth.abs(), 0.0)
    relative = BAND_ULPS * torch.finfo(dtype).eps + summation
    band = floor + (relative * float(size.square().mean().sqrt()) if size.numel() else 0.0)
    allowed_rms = FACTOR * _rms(plain_error) + band
    largest_plain = float(plain_error.max()) if plain_error.numel() else 0.0
    allowed = FACTOR * largest_plain + band + relative * size + torch.finfo(torch.float32).tiny
    wrong = ~(found_error <= allowed)
    largest = float(found_error.max()) if found_error.numel() else 0.0
    position = tuple(int(i) for i in wrong.nonzero()[0]) if bool(wrong.any()) else None
    ceiling = float(allowed.max()) if allowed.numel() else 0.0
    return OutputError(name, _rms(found_error), allowed_rms, largest, ceiling, position)


def _difference(value: Tensor, truth: Tensor) -> Tensor:
    """|value - truth| in float64; 0 for equal infinities, inf where one is NaN or only one is infinite."""
    wide = value.to(truth.device, torch.float64)
    gap = torch.where(wide == truth, 0.0, (wide - truth).abs())
    return torch.nan_to_num(gap, nan=float("inf"), posinf=float("inf"))


def _rms(error: Tensor) -> float:
    return float(error.square().mean().sqrt()) if error.numel() else 0.0
