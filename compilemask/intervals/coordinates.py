"""Values of coordinates: what a comparison of a query with a key compares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compilemask.errors import InternalError, MaskFileError
from compilemask.intervals import terms
from compilemask.intervals.codes import UNBOUNDED, numbers
from compilemask.intervals.vector import Tokens, Vector, value_error
from compilemask.intervals.vectors import evaluate
from compilemask.language import effort
from compilemask.language import program as ir
from compilemask.language.program import Side
from compilemask.language.values import ANY
from compilemask.source import Diagnostic, Severity, Span

LARGEST = 2**60


def coordinate(coord: terms.Coord, tokens: Tokens) -> Vector:
    """[tokens] values of a coordinate; [tokens, parts] where several compare lexicographically."""
    match coord:
        case terms.Enclosing(region=region, outer=outer):
            return Vector(tokens.axis.enclosing(region, outer)[tokens.slots], None)
        case terms.WindowEnd():
            return _window_end(coord, tokens)
        case terms.Expressed(parts=parts):
            columns = [_column(part, tokens) for part in parts]
            present = None
            for column in columns:
                present = column.present if present is None else _and(present, column.present)
            if len(columns) == 1:
                return columns[0]
            return Vector(np.stack([numbers(column.values, parts[0].span) for column in columns], axis=1), present)
    raise InternalError(f"coordinate {coord} is not known")


def _column(expression: ir.Expression, tokens: Tokens) -> Vector:
    vector = evaluate(expression, every_side(tokens))
    shape = tokens.slots.shape
    present = None if vector.present is None else np.broadcast_to(vector.present, shape)
    return Vector(np.broadcast_to(vector.values, shape), present)


def _window_end(end: terms.WindowEnd, tokens: Tokens) -> Vector:
    expression, bound, sign = end.expression, end.bound, end.sign
    coordinate, reach = _column(expression, tokens), _column(bound, tokens)
    present = coordinate.present if reach.present is None else _and(reach.present, coordinate.present)
    amount = numbers(reach.values, bound.span)
    live = amount if present is None else amount[present]
    if end.checked and live.size and int(live.min()) < 0:
        raise value_error(f"a side of the window is {int(live.min())}", bound.span, "a side of a window is 0 or more")
    ends = numbers(coordinate.values, expression.span) + sign * np.minimum(amount, UNBOUNDED)
    if reach.values.dtype == object:
        effort.spend(effort.AN_OBJECT * reach.values.size, bound.span)
        endless = np.array([value is ANY for value in reach.values.tolist()], np.bool_)
        ends = np.where(endless, sign * UNBOUNDED, ends)
    return Vector(ends, present)


def _and(a: NDArray[np.bool_], b: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return a if b is None else a & b


def every_side(tokens: Tokens) -> dict[Side, Tokens]:
    """The same tokens for whatever side an expression names."""
    return dict.fromkeys(Side, tokens)


def check_size(values: NDArray[Any], span: Span | None) -> None:
    """Bounds and shifts are added to coordinates, so these must be well below 64 bits."""
    if values.dtype != np.int64 or not values.size:
        return
    least, most = int(values.min()), int(values.max())
    if max(most, -least) > LARGEST:
        message = f"a coordinate here reaches {most if most > LARGEST else least}"
        hint = f"coordinates that are compared by order lie between -{LARGEST} and {LARGEST}"
        raise MaskFileError([Diagnostic(Severity.ERROR, "too-large", message, span, hint)])


def moved(values: NDArray[Any], part: terms.Compare) -> NDArray[Any]:
    """What an equal key coordinate is: the query's plus the shift; `any` stays `any`."""
    if values.dtype == object:
        effort.spend(effort.AN_OBJECT * values.size, span_of(part))
        return np.array([value if value is ANY else value + part.shift for value in values.tolist()], object)
    return numbers(values, span_of(part)) + part.shift


def span_of(part: terms.Compare) -> Span | None:
    """Where the text says what is compared."""
    return part.query.parts[0].span if isinstance(part.query, terms.Expressed) else None
