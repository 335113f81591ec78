"""Masks that are given as tables: column bounds, slices, intervals, tiles and blocks."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.masks.predicates.registry import Mask, Parameters, axes, library_mask, split


def _bounds(random: Random, n: int) -> list[int]:
    return [random.randint(0, n) for _ in range(n)]


@library_mask("flashmask_causal", lambda random, n: {"hidden_from": _bounds(random, n)})
def flashmask_causal(hidden_from: list[int]) -> Mask:
    q, k = axes(len(hidden_from))
    return (k <= q) & ~(q >= np.array(hidden_from)[None, :])


def _column_bounds(random: Random, n: int) -> Parameters:
    return {name: _bounds(random, n) for name in ("lower_start", "lower_end", "upper_start", "upper_end")}


@library_mask("flashmask_columns", _column_bounds)
def flashmask_columns(
    lower_start: list[int], lower_end: list[int], upper_start: list[int], upper_end: list[int]
) -> Mask:
    mask = np.ones((len(lower_start), len(lower_start)), bool)
    for column, bounds in enumerate(zip(lower_start, lower_end, upper_start, upper_end, strict=True)):
        mask[bounds[0] : bounds[1], column] = False
        mask[bounds[2] : bounds[3], column] = False
    return mask


def _slices(random: Random, n: int) -> Parameters:
    queries, keys = random.randint(1, n), random.randint(1, n)
    slices = []
    for _ in range(random.randint(1, 5)):
        rows, columns = sorted(random.choices(range(queries + 1), k=2)), sorted(random.choices(range(keys + 1), k=2))
        band = sorted(random.choices(range(-n, n + 1), k=2)) if random.random() < 0.7 else []
        slices.append([*rows, *columns, *band])
    return {"queries": queries, "keys": keys, "slices": slices}


@library_mask("attn_slices", _slices)
def attn_slices(queries: int, keys: int, slices: list[list[int]]) -> Mask:
    q, k = axes(queries, keys)
    mask = np.zeros((queries, keys), bool)
    for top, bottom, left, right, *band in slices:
        low, high = band or (-queries - keys, queries + keys)
        mask |= (top <= q) & (q < bottom) & (left <= k) & (k < right) & (low <= k - q) & (k - q <= high)
    return mask


def _variable_tiles(random: Random, n: int) -> Parameters:
    sizes = split(random, n, random.randint(1, min(n, 7)))
    count = len(sizes)
    return {"sizes": sizes, "chosen": [random.sample(range(count), random.randint(0, count)) for _ in range(count)]}


@library_mask("variable_tiles", _variable_tiles)
def variable_tiles(sizes: list[int], chosen: list[list[int]]) -> Mask:
    tiles = np.zeros((len(sizes), len(sizes)), bool)
    for row, picked in enumerate(chosen):
        tiles[row, picked] = True
    return tiles.repeat(sizes, axis=0).repeat(sizes, axis=1)


def _table(random: Random, n: int) -> Parameters:
    size = random.randint(1, 9)
    count = max(1, n // size)
    return {"size": size, "table": [[random.random() < 0.4 for _ in range(count)] for _ in range(count)]}


@library_mask("block_table", _table)
def block_table(size: int, table: list[list[bool]]) -> Mask:
    return np.kron(np.array(table, bool), np.ones((size, size), bool))


def _intervals(random: Random, n: int) -> Parameters:
    def one() -> list[int]:
        return sorted(random.choices(range(n + 1), k=2))

    return {"rows": [[one() for _ in range(random.choice([0, 1, 1, 2, 4]))] for _ in range(n)]}


@library_mask("explicit_intervals", _intervals)
def explicit_intervals(rows: list[list[list[int]]]) -> Mask:
    mask = np.zeros((len(rows), len(rows)), bool)
    for row, runs in zip(mask, rows, strict=True):
        for start, end in runs:
            row[start:end] = True
    return mask
