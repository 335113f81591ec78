"""Blocks of cells of one mask, by its meaning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compilemask.language import program as bound
from compilemask.measure.oracle.expressions import Environment, Tokens, selected
from compilemask.measure.oracle.operators import Bools
from compilemask.measure.oracle.relations import holds

CELLS_AT_ONCE = 2**20
CELLS_OF_COLUMNS = 2**21


class BlockOracle:
    """Visible cells of one variant: the last rule that matches shows, and every limit holds."""

    def __init__(self, variant: bound.Variant) -> None:
        self._variant = variant
        everyone = [Tokens(axis, np.arange(axis.length, dtype=np.int64)) for axis in (variant.queries, variant.keys)]
        self._sides: list[tuple[Bools, Bools] | None] = [
            (selected(rule.who, everyone[0]), selected(rule.whom, everyone[1]))
            if isinstance(rule, bound.Rule)
            else None
            for rule in variant.rules.rules
        ]

    def rows(self, queries: NDArray[np.int64]) -> Bools:
        """The whole rows of some queries, bool [queries, keys]; evaluated a million cells at a time."""
        keys = np.arange(self._variant.keys.length, dtype=np.int64)
        step = max(1, CELLS_AT_ONCE // max(len(keys), 1))
        parts = [self.cells(queries[first : first + step], keys) for first in range(0, len(queries), step)]
        return np.concatenate(parts) if parts else np.zeros((0, len(keys)), np.bool_)

    def columns(self, keys: NDArray[np.int64]) -> Bools:
        """The whole columns of some keys, bool [queries, keys]; evaluated two million cells at a time."""
        queries = np.arange(self._variant.queries.length, dtype=np.int64)
        step = max(1, CELLS_OF_COLUMNS // max(len(keys), 1))
        parts = [self.cells(queries[first : first + step], keys) for first in range(0, len(queries), step)]
        return np.concatenate(parts) if parts else np.zeros((0, len(keys)), np.bool_)

    def cells(self, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> Bools:
        """Cells of some queries and some keys, bool [queries, keys]."""
        visible = np.zeros((len(queries), len(keys)), np.bool_)
        cut = np.ones_like(visible)
        real_queries, real_keys = self._real(queries, keys)
        for rule, sides in zip(self._variant.rules.rules, self._sides, strict=True):
            if isinstance(rule, bound.Rule) and sides is not None:
                chosen = np.ix_(np.flatnonzero(sides[0][queries]), np.flatnonzero(sides[1][keys]))
                found = self._holds(rule.how, queries[chosen[0][:, 0]], keys[chosen[1][0]])
                visible[chosen] = np.where(found, rule.shows, visible[chosen])
            elif isinstance(rule, bound.Limit):
                chosen = np.ix_(real_queries, real_keys)
                cut[chosen] &= self._holds(rule.how, queries[real_queries], keys[real_keys])
        return visible & cut

    def _real(self, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places of the queries and keys that are no padding."""
        return (
            np.flatnonzero(~self._variant.queries.padding[queries]),
            np.flatnonzero(~self._variant.keys.padding[keys]),
        )

    def _holds(self, how: bound.Relation, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> Bools:
        if not len(queries) or not len(keys):
            return np.zeros((len(queries), len(keys)), np.bool_)
        where = Environment(
            query=Tokens(self._variant.queries, queries[:, None]), key=Tokens(self._variant.keys, keys[None, :])
        )
        return holds(how, where)
