"""What to say where a word that is no relation, or brackets that a relation does not take, stand for a relation."""

from __future__ import annotations

from collections.abc import Iterable

from compilemask.language import syntax
from compilemask.language.bind_scope import CALLED_RELATIONS, FUNCTIONS, RELATIONS
from compilemask.language.findings import RejectError, reject, suggestion
from compilemask.language.printer_expressions import format_expression
from compilemask.source import Span

_LISTED = ", ".join([*RELATIONS, "same C", *(f"{name}(...)" for name in CALLED_RELATIONS)])


def unknown_relation(name: str, span: Span) -> RejectError:
    """The error for a word that means nothing where a relation stands."""
    close = suggestion(name, (*RELATIONS, *CALLED_RELATIONS, "same"))
    hint = close or f"relations: {_LISTED}; or a condition such as `q.pos > k.pos`"
    return reject("unknown-name", f"`{name}` is not known", span, hint)


def unknown_call(node: syntax.Call, lets: Iterable[str]) -> RejectError:
    """The error for `block(4)`: brackets behind a word that is no relation; `lets` are those that take arguments."""
    written = _divisor(node.arguments[0].value) if len(node.arguments) == 1 else "N"
    message = f"`{node.name}` is no relation, function or `let` with arguments"
    hint = suggestion(node.name, lets)
    if hint is None and node.name.lower() in _BLOCKS:
        hint = f"blocks of {written}: `same (pos // {written})`, or `same` of a region that they are"
    elif hint is None and node.name.lower() in _STRIDES:
        hint = f"every {written} positions: `(q.pos - k.pos) % {written} == 0`"
    hint = hint or suggestion(node.name, (*RELATIONS, *CALLED_RELATIONS)) or suggestion(node.name, FUNCTIONS)
    listed = f"relations: {_LISTED}; blocks of N are `same (pos // N)`"
    return reject("unknown-function", message, node.span, hint or listed)


def _divisor(node: syntax.Expression) -> str:
    text = format_expression(node)
    return text if isinstance(node, syntax.Literal | syntax.Name) else f"({text})"


_BLOCKS = frozenset(["block", "blocks", "blockwise", "block_diagonal", "chunk", "chunks", "chunked", "segment"])
_STRIDES = frozenset(["stride", "strided", "dilated", "dilation", "every"])


def called_without_need(node: syntax.Call) -> RejectError:
    """The error for `causal(block)` and the like: what is compared stands behind `by`."""
    values = [argument.value for argument in node.arguments]
    bare = len(values) == 1 and isinstance(values[0], syntax.Name | syntax.Attribute | syntax.TupleOf)
    written = ", ".join(map(format_expression, values))
    by = written if bare else f"({written})"
    usage = f"{node.name} by {by}" if values and node.name not in ("all", "none") else node.name
    return reject("argument-count", f"`{node.name}` takes no brackets", node.span, f"write `{usage}`")
