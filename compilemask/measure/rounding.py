"""How far one rounding of every term may move each value of an attention and of its gradients.

Every output value is a sum of terms, and a kernel rounds each term once, and the sum once when it is stored. Roundings
have no common sign, so they add up as squares do: the band of a value is eps times the root of the sum of its squared
terms and of its own square. The terms, with weights P, G = dout v - delta + dlse, dS = P G, queries i and keys j:

    out[i]  P[ij] v[j]              dv[j]  P[ij] dout[i]
    dq[i]   scale dS[ij] k[j]       dk[j]  scale dS[ij] q[i]

Besides this rounding to the dtype of the tensors: float32 rounds the exponents of the weights, and with large scores
that counts; what rounding does to out reaches every dS of a row through delta = sum(dout out); a float32 sum of n terms
may be off by sqrt(n) half roundings (Higham and Mary 2019). Below a dtype's smallest normal number its rounding is
absolute, and what is too small for float32 may become 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from compilemask.kernel.reference import AttentionResult

EPS32 = torch.finfo(torch.float32).eps
EXPONENT = 2 * EPS32  # scores, scale and LSE are rounded before they are subtracted
TINY32 = torch.finfo(torch.float32).tiny  # GPUs turn smaller float32 numbers into 0
CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Terms:
    """What one attention call is given, all finite; arguments as for `dense_attention`."""

    q: Tensor
    k: Tensor
    v: Tensor
    visible: Tensor
    scale: float
    dout: Tensor | None
    dlse: Tensor | None


def rounding_bands(given: Terms, exact: AttentionResult) -> AttentionResult:
    """A band per value, float64, in the shapes of `exact`, which is the float64 truth of the same call.

    What sees nothing, or is not seen, has the band 0.
    """
    heads, group = given.q.shape[1], given.q.shape[1] // given.k.shape[1]
    squares = _Squares(exact, torch.finfo(given.q.dtype))
    step = max(1, CELLS_AT_ONCE // max(1, given.k.shape[2]))
    for b in range(given.q.shape[0]):
        for h in range(heads):
            for start in range(0, given.q.shape[2], step):
                squares.add(given, exact, (b, h, h // group), slice(start, start + step))
    return squares.bands(exact)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some queries of one head and all keys, float64; `exponent` is the float32 rounding of a weight's exponent."""

    q: Tensor
    k: Tensor
    v: Tensor
    seen: Tensor  # [queries, keys]
    count: Tensor  # [queries, 1]
    weights: Tensor
    exponent: Tensor
    of_lse: Tensor  # [queries, 1], the share of the LSE in that


def _block(given: Terms, exact: AttentionResult, place: tuple[int, int, int], rows: slice) -> _Block:
    b, h, g = place
    seen = given.visible[b % given.visible.shape[0], h % given.visible.shape[1], rows]
    q, k, v = given.q[b, h, rows].double(), given.k[b, g].double(), given.v[b, g].double()
    lse = torch.where(seen.any(1), exact.lse[b, h, rows], 0.0)[:, None]
    weights = torch.where(seen, torch.exp(q @ k.T * given.scale - lse), 0.0)
    # a score is off by roundings of its products, which may be far larger than it; the LSE is off as its scores are
    score = EXPONENT * q.norm(dim=1)[:, None] * k.norm(dim=1) * abs(given.scale)
    of_lse = (weights * score).sum(1, keepdim=True) + EXPONENT * lse.abs()
    return _Block(q, k, v, seen, seen.sum(1, keepdim=True), weights, torch.where(seen, score + of_lse, 0.0), of_lse)


def _incoming(gradient: Tensor | None, here: tuple[int, int, slice], like: Tensor) -> Tensor:
    return torch.zeros_like(like, dtype=torch.float64) if gradient is None else gradient[here].double()


class _Squares:
    """Squared bands, summed up block by block."""

    def __init__(self, exact: AttentionResult, kind: torch.finfo) -> None:
        self.eps, self.tiny = float(kind.eps), float(kind.tiny)
        self.out, self.lse = torch.zeros_like(exact.out), torch.zeros_like(exact.lse)
        gradients = (exact.dq, exact.dk, exact.dv)
        self.dq, self.dk, self.dv = (exact.out.new_zeros(()) if x is None else torch.zeros_like(x) for x in gradients)
        # per key: squared terms as they are, and how many queries see it
        self.dk_terms, self.dv_terms = torch.zeros_like(self.dk), torch.zeros_like(self.dv)
        self.queries = self.dk.new_zeros(self.dk.shape[:-1])

    def add(self, given: Terms, exact: AttentionResult, place: tuple[int, int, int], rows: slice) -> None:
        """Some queries of one batch entry and head, and what they add to the keys of its key head."""
        b, h, g = place
        block = _block(given, exact, place, rows)
        rounded = self._rounded_weights(block)
        out, v, count = exact.out[b, h, rows], block.v, block.count
        summed = _summed(count, block.weights.square() @ v.square(), out)
        self.out[b, h, rows] = rounded @ v.square() + self._stored(out, count) + summed
        of_sum = EPS32 * (count[:, 0].sqrt() / 2 + 2)
        self.lse[b, h, rows] = (block.exponent.amax(1) + of_sum).square() * (count[:, 0] > 0)
        if exact.dq is None:
            return
        dout, dlse = _incoming(given.dout, (b, h, rows), out), _incoming(given.dlse, (b, h, rows), count[:, 0])
        self.dv[b, g] += rounded.T @ dout.square()
        self.dv_terms[b, g] += block.weights.square().T @ dout.square()
        self.queries[b, g] += block.seen.sum(0)
        through_delta = self._through_delta(block, rounded, out, dout, dlse)
        dscores, spread = self._rounded_dscores(block, dout, dlse)
        scale, dq = given.scale**2, exact.dq[b, h, rows]
        of_delta = through_delta * (block.weights @ block.k).square()
        self.dq[b, h, rows] = scale * (spread @ block.k.square() + of_delta) + self._stored(dq, count)
        self.dq[b, h, rows] += _summed(count, scale * (dscores.square() @ block.k.square()), dq)
        self.dq[b, h, rows] += (block.of_lse * dq).square()
        self.dk[b, g] += scale * ((spread + through_delta * block.weights.square()).T @ block.q.square())
        self.dk_terms[b, g] += scale * (dscores.square().T @ block.q.square())

    def _rounded_weights(self, block: _Block) -> Tensor:
        """Squared rounding of the weights, which become operands of a product."""
        rounding = (self.eps + block.exponent) * self._floored(block.weights) + TINY32
        return torch.where(block.seen, rounding, 0.0).square()

    def _rounded_dscores(self, block: _Block, dout: Tensor, dlse: Tensor) -> tuple[Tensor, Tensor]:
        """dS and its squared rounding, but for what delta brings."""
        dweights = dout @ block.v.T
        delta = (block.weights * dweights).sum(1)
        dscores = block.weights * (dweights - delta[:, None] + dlse[:, None])
        sizes = dout.norm(dim=1)[:, None] * block.v.norm(dim=1) + (delta.abs() + dlse.abs())[:, None]
        as_operand = torch.where(block.seen, self.eps * self._floored(dscores) + TINY32, 0.0).square()
        in_float32 = torch.where(block.seen, (block.weights * EPS32 + TINY32) * sizes, 0.0).square()
        return dscores, as_operand + in_float32 + (block.exponent * dscores).square()

    def _through_delta(self, block: _Block, rounded: Tensor, out: Tensor, dout: Tensor, dlse: Tensor) -> Tensor:
        """Squared rounding of delta - dlse, [queries, 1].

        Two roundings, as this one number moves its whole row: unlike others it does not average over the columns.
        """
        of_weights = (rounded * (dout @ block.v.T).square()).sum(1)
        of_out = (self._stored(out, block.count) * dout.square()).sum(1)
        in_float32 = EPS32**2 * (out.square().sum(1) * dout.square().sum(1) + dlse.square())
        return 4.0 * (of_weights + of_out + in_float32)[:, None]

    def bands(self, exact: AttentionResult) -> AttentionResult:
        if exact.dk is None or exact.dv is None:
            return AttentionResult(self.out.sqrt(), self.lse.sqrt())
        count = self.queries[..., None]
        dk = self.dk + self._stored(exact.dk, count) + _summed(count, self.dk_terms, exact.dk)
        dv = self.dv + self._stored(exact.dv, count) + _summed(count, self.dv_terms, exact.dv)
        return AttentionResult(self.out.sqrt(), self.lse.sqrt(), self.dq.sqrt(), dk.sqrt(), dv.sqrt())

    def _floored(self, x: Tensor) -> Tensor:
        return x.square().add(self.tiny**2).sqrt()

    def _stored(self, x: Tensor, count: Tensor) -> Tensor:
        """Squared rounding of values that are stored in the dtype."""
        return torch.where(count > 0, (self.eps * self._floored(x) + TINY32).square(), 0.0)


def _summed(count: Tensor, squared_terms: Tensor, value: Tensor) -> Tensor:
    """Squared error of float32 sums of `count` terms."""
    return (EPS32 / 2) ** 2 * count * (squared_terms + value.square())
