"""What to say where a word that is no relation, or brackets that a relation does not take, stand for a relation."""

from __future__ import annotations

from compilemask.language import syntax
from compilemask.language.bind_scope import CALLED_RELATIONS, RELATIONS
from compilemask.language.findings import RejectError, reject, suggestion
from compilemask.language.printer_expressions import format_expression
from compilemask.source import Span

_LISTED = ", ".join([*RELATIONS, "same C", *(f"{name}(...)" for name in CALLED_RELATIONS)])


def unknown_relation(name: str, span: Span) -> RejectError:
    """The error for a word that means nothing where a relation stands."""
    close = suggestion(name, (*RELATIONS, *CALLED_RELATIONS, "same"))
    hint = close or f"relations: {_LISTED}; or a condition such as `q.pos > k.pos`"
    return reject("unknown-name", f"`{name}` is not known", span, hint)


def called_without_need(node: syntax.Call) -> RejectError:
    """The error for `causal(block)` and the like: what is compared stands behind `by`."""
    values = [argument.value for argument in node.arguments]
    bare = len(values) == 1 and isinstance(values[0], syntax.Name | syntax.Attribute | syntax.TupleOf)
    written = ", ".join(map(format_expression, values))
    by = written if bare else f"({written})"
    usage = f"{node.name} by {by}" if values and node.name not in ("all", "none") else node.name
    return reject("argument-count", f"`{node.name}` takes no brackets", node.span, f"write `{usage}`")
