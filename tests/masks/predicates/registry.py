"""The table of predicates: per library mask its dense matrix as a function of the parameters, and how to draw some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Parameters = dict[str, Any]
Dense = Callable[..., Mask]
Draw = Callable[[Random, int], Parameters]


@dataclass(frozen=True, slots=True)
class Predicate:
    """`dense(**parameters)` is [query, key] or [batch, head, query, key]; `draw(random, n)` makes about n tokens."""

    name: str
    dense: Dense
    draw: Draw

    def cells(self, parameters: Parameters) -> Mask:
        """The mask as [batch, head, query, key]."""
        dense = self.dense(**parameters)
        return dense if dense.ndim == 4 else dense[None, None]


REGISTRY: dict[str, Predicate] = {}


def library_mask(name: str, draw: Draw) -> Callable[[Dense], Dense]:
    """Register the decorated function as the meaning of the library mask `name`."""

    def register(dense: Dense) -> Dense:
        assert name not in REGISTRY, name
        REGISTRY[name] = Predicate(name, dense, draw)
        return dense

    return register


def axes(queries: int, keys: int | None = None) -> tuple[Numbers, Numbers]:
    """Query numbers as a column and key numbers as a row."""
    q = np.arange(queries, dtype=np.int64)
    k = np.arange(queries if keys is None else keys, dtype=np.int64)
    return q[:, None], k[None, :]


def split(random: Random, total: int, parts: int, least: int = 0) -> list[int]:
    """`parts` random sizes that add up to `total`, each at least `least` as far as the total allows."""
    least = min(least, total // parts)
    free = total - least * parts
    cuts = sorted(random.randint(0, free) for _ in range(parts - 1))
    return [end - start + least for start, end in zip([0, *cuts], [*cuts, free], strict=True)]


def owner(sizes: list[int]) -> Numbers:
    """The number of the part that holds each token, for parts of these sizes in a row."""
    return np.repeat(np.arange(len(sizes)), sizes)


def offset(sizes: list[int]) -> Numbers:
    """The place of each token within its part."""
    return np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, np.int64)


def pairs(values: Numbers, others: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """A value per token as a column, and the same (or another) one as a row."""
    return values[:, None], (values if others is None else others)[None, :]


def batch(masks: list[Mask]) -> Mask:
    """Masks of a batch with one head."""
    return np.stack(masks)[:, None]


def heads(masks: list[Mask]) -> Mask:
    """Masks of several heads with one sample."""
    return np.stack(masks)[None]
