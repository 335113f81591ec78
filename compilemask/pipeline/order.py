"""The token order that a file asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError
from compilemask.intervals.codes import combine
from compilemask.intervals.order import Permutation, TokenOrder
from compilemask.intervals.selection import selected
from compilemask.intervals.vector import Tokens, value_error
from compilemask.intervals.vectors import evaluate
from compilemask.language import program as ir
from compilemask.language.axis import Axis
from compilemask.language.program import Side


def token_order(variant: ir.Variant) -> TokenOrder:
    """The order that the file asks for; `order best` is not decided here."""
    orders = [order for order in variant.orders if order.selector is not None]
    if not orders:
        return TokenOrder()
    queries = axis_order(variant.queries, orders)
    keys = queries if variant.keys is variant.queries else axis_order(variant.keys, orders)
    return TokenOrder(queries, keys)


def axis_order(axis: Axis, orders: Sequence[ir.Order]) -> Permutation | None:
    """Selected tokens sorted by the coordinate, stably, in the slots that they occupy; None if nothing moves."""
    held = np.arange(axis.length)
    for order in orders:
        if order.selector is None or order.coordinate is None:
            raise InternalError("`order best` has no coordinate")
        slots = np.flatnonzero(selected(order.selector, axis)[held])
        if slots.size:
            tokens = held[slots]
            held[slots] = tokens[np.argsort(_sort_key(axis, tokens, order), kind="stable")]
    return None if (held == np.arange(axis.length)).all() else held.astype(np.int32)


def _sort_key(axis: Axis, tokens: NDArray[np.int64], order: ir.Order) -> NDArray[np.int64]:
    assert order.coordinate is not None
    columns = []
    for part in order.coordinate.parts:
        vector = evaluate(part.expression, dict.fromkeys(Side, Tokens(axis, tokens)))
        if vector.present is not None and not vector.present.all():
            missing = int(tokens[np.flatnonzero(~vector.present)[0]])
            raise value_error(f"token {missing:,} has no such coordinate to be stored by", order.span)
        columns.append(np.broadcast_to(vector.values, tokens.shape))
    return combine([(column, column[:1]) for column in columns])[0]
