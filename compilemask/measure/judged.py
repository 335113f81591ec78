"""From what was found wrong in the rows of a tensor to a check that names tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from compilemask.kernel.reference import AttentionResult
from compilemask.measure.code_sums import SetError
from compilemask.measure.error_budget import OutputError
from compilemask.measure.places import Place
from compilemask.measure.report import Check, Outcome, WrongCell

PRECISION = {
    torch.float32: "float32: products in full float32 (IEEE, never TF32), sums in float32",
    torch.float16: "float16: exact products of float16 values, weights rounded to float16, sums in float32",
    torch.bfloat16: "bfloat16: exact products of bfloat16 values, weights rounded to bfloat16, sums in float32",
}
"""In which numbers the kernels multiply and add; `PRECISION` in the launches is what makes the first line true."""


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """What the batch entries, heads and rows of outputs and gradients stand for, and the type of the tensors.

    `place_of` tells the sample and head of the mask by batch entry and query head of the call.
    """

    place_of: Callable[[int, int], Place]
    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    block: tuple[int, int]
    dtype: torch.dtype

    @property
    def word(self) -> str:
        """The name of the dtype."""
        return str(self.dtype).removeprefix("torch.")

    def wrong(
        self, name: str, position: tuple[int, int, int], other: int | None, expected: str, found: str
    ) -> WrongCell:
        """The query of a row of out, lse or dq, or the key of one of dk or dv, and the other of the two where known.

        `position` is batch entry, query head and row.
        """
        batch, head, row = position
        place = self.place_of(batch, head)
        of_key = name in ("dk", "dv")
        query, key = (other, row) if of_key else (row, other)
        query = -1 if query is None else int(self.queries[query])
        key = -1 if key is None else int(self.keys[key])
        return place.wrong(query, key, self.block, expected, found)


def of_error(
    name: str, error: OutputError, scope: str, tokens: Tokens, found: AttentionResult, exact: AttentionResult
) -> Check:
    """The check of one output against float64; `name` says which run it was."""
    wrong = None
    if error.first_wrong is not None:
        values = (float(getattr(of, error.name)[error.first_wrong]) for of in (exact, found))
        words = [f"{error.name} {value:.6g}" for value in values]
        batch, head, row = error.first_wrong[:3]
        group = found.out.shape[1] // getattr(found, error.name).shape[1]  # of a key head its first query head is named
        wrong = tokens.wrong(error.name, (batch, head * group, row), None, *words)
    return _check(name, error, scope, tokens, wrong)


def of_set(name: str, error: SetError, scope: str, tokens: Tokens) -> Check:
    """The check of one output that counts cells."""
    wrong = None
    if error.position is not None:
        wrong = tokens.wrong(error.name, error.position, error.other, error.expected, error.found)
    return _check(name, error, scope, tokens, wrong)


def _check(name: str, error: OutputError | SetError, scope: str, tokens: Tokens, wrong: WrongCell | None) -> Check:
    return Check(
        f"kernel {tokens.word} {name}{error.name}",
        Outcome.PASS if error.within else Outcome.FAIL,
        scope,
        of_budget=error.used,
        first_wrong=wrong,
        precision=PRECISION[tokens.dtype],
        largest_error=error.error,
        largest_allowed=error.allowed,
    )
