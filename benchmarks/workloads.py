"""The masks that are timed, each from its definition in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compilemask.descriptor.build import build_descriptor
from compilemask.descriptor.descriptor import Descriptor
from compilemask.descriptor.registry import register
from compilemask.intervals import Intervals
from compilemask.tiles import build_tile_map

PATCH = 8
RADIUS = 16
TEXT = 512


@dataclass(eq=False)
class Workload:
    """One mask of one length for every batch entry and head."""

    name: str
    rows: Intervals  # in the order of the caller's tokens
    order: NDArray[np.int64] | None = None  # the kernel's token order
    inside: bool = True  # the permutation is part of the call; False: tensors are in that order already
    shape: tuple[int, int, int] = (0, 0, 0)  # text, height, width of CLEAR
    _descriptors: dict[tuple[int, int], Descriptor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.number = register(self)

    @property
    def query_length(self) -> int:
        return self.rows.rows

    @property
    def key_length(self) -> int:
        return self.rows.columns

    @cached_property
    def kernel_rows(self) -> Intervals:
        if self.order is None:
            return self.rows
        return self.rows.permute_rows(self.order).permute_columns(self.order)

    def descriptor(self, block_m: int = 128, block_n: int = 128) -> Descriptor:
        if (block_m, block_n) not in self._descriptors:
            order = self.order.astype(np.int32) if self.order is not None and self.inside else None
            tiles = build_tile_map(self.kernel_rows, block_m, block_n)
            made = build_descriptor([tiles], np.zeros((1, 1), np.int32), order, order)
            self._descriptors[block_m, block_n] = made
        return self._descriptors[block_m, block_n]


def causal(length: int) -> Workload:
    """Every token sees itself and what came before."""
    rows = np.arange(length)
    return Workload("causal", Intervals.from_bounds(length, np.zeros(length, np.int64), rows + 1))


def hstu(length: int) -> Workload:
    """A causal history of 7/8 of the tokens, and targets that see the history and themselves."""
    history = length * 7 // 8
    target = np.arange(history, length)
    rows = np.arange(history)
    runs = Intervals.from_runs(
        length,
        length,
        np.concatenate([rows, target, target]),
        np.concatenate([np.zeros(history, np.int64), np.zeros_like(target), target]),
        np.concatenate([rows + 1, np.full_like(target, history), target + 1]),
    )
    return Workload("HSTU", runs)


def reward_model(length: int) -> Workload:
    """Four packed documents, each a prompt of a quarter and six answers that see the prompt and themselves."""
    document, unit = length // 4, length // 32
    rows = np.arange(length)
    start = rows // document * document
    inside = rows - start
    answer = start + np.where(inside < 2 * unit, 0, inside // unit * unit)
    answered = inside >= 2 * unit
    runs = Intervals.from_runs(
        length,
        length,
        np.concatenate([rows, rows[answered]]),
        np.concatenate([answer, start[answered]]),
        np.concatenate([rows + 1, start[answered] + 2 * unit]),
    )
    return Workload("reward model", runs)


CLEAR_IMAGES = {1024: (16, 32), 2048: (32, 48), 4096: (56, 64), 8192: (80, 96), 16384: (124, 128), 32768: (168, 192)}


def clear(length: int, ordered: bool = True, inside: bool = True) -> Workload:
    """Text sees everything; image tokens see the text and the pixels nearer than 16; 8 x 8 patches if `ordered`."""
    height, width = CLEAR_IMAGES[length]
    y, x = np.divmod(np.arange(height * width), width)
    row, start, end = [np.arange(TEXT)], [np.zeros(TEXT, np.int64)], [np.full(TEXT, length)]
    image = TEXT + np.arange(height * width)
    row.append(image), start.append(np.zeros_like(image)), end.append(np.full_like(image, TEXT))
    for dy in range(-RADIUS + 1, RADIUS):
        reach = int(np.ceil(np.sqrt(RADIUS**2 - dy**2))) - 1
        there = (y + dy >= 0) & (y + dy < height)
        base = TEXT + (y[there] + dy) * width
        row.append(image[there])
        start.append(base + np.maximum(x[there] - reach, 0))
        end.append(base + np.minimum(x[there] + reach + 1, width))
    runs = Intervals.from_runs(length, length, np.concatenate(row), np.concatenate(start), np.concatenate(end))
    order = np.concatenate([np.arange(TEXT), TEXT + np.lexsort((x, y, x // PATCH, y // PATCH))])
    name = "CLEAR" if not ordered else "CLEAR, patches inside the call" if inside else "CLEAR, patches"
    return Workload(name, runs, order if ordered else None, inside, (TEXT, height, width))


def clear_for_all(length: int) -> Workload:
    """CLEAR with everybody's tokens in patches: what the order alone gives to other kernels."""
    workload = clear(length, inside=False)
    workload.name = "CLEAR, patches for all"
    return workload


WORKLOADS: dict[str, Callable[[int], Workload]] = {
    "causal": causal,
    "hstu": hstu,
    "reward": reward_model,
    "clear": lambda length: clear(length, ordered=False),
    "clear_patches": lambda length: clear(length, inside=False),
    "clear_inside": clear,
    "clear_for_all": clear_for_all,
}
