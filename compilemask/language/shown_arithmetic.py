"""How a value came about, for messages: the expression, the same with its values filled in, and the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.bind_expressions import expression
from compilemask.language.bind_scope import Context, Scope
from compilemask.language.findings import RejectError
from compilemask.language.printer_expressions import format_expression
from compilemask.language.values import ANY, Value, show

Known = Callable[[syntax.Expression], Value | None]


def arithmetic_text(scope: Scope, node: syntax.Expression, value: Value, known: Known) -> str:
    """`room - sum(a) = 5 - 7 = -2`; `known` is the value of a part of the expression, None where it has none."""
    written = format_expression(node)
    filled = format_expression(filled_in(scope, node, known))
    steps = list(dict.fromkeys([written, filled, show(value)]))
    return " = ".join(steps)


def constant_in(scope: Scope, context: Context) -> Known:
    """The values of the parts that depend on parameters only."""

    def known(node: syntax.Expression) -> Value | None:
        try:
            bound = expression(scope, node, context)
        except (RejectError, EvaluationError):
            return None
        return bound.value if isinstance(bound, ir.Constant) else None

    return known


def filled_in(scope: Scope, node: syntax.Expression, known: Known) -> syntax.Expression:
    """The expression with a value in place of every part that is no arithmetic itself."""
    match node:
        case syntax.Literal() | syntax.AnyLiteral():
            return node
        case syntax.Binary():
            left, right = filled_in(scope, node.left, known), filled_in(scope, node.right, known)
            return replace(node, left=left, right=right)
        case syntax.Unary():
            return replace(node, operand=filled_in(scope, node.operand, known))
        case syntax.Compare():
            return replace(node, operands=tuple(filled_in(scope, one, known) for one in node.operands))
        case syntax.Name() if node.name in scope.lets and not scope.lets[node.name].formals:
            inner = scope.lets[node.name].value
            return filled_in(scope, inner, known) if inner is not None else node
    value = known(node)
    if value is ANY:
        return syntax.AnyLiteral(node.span)
    return syntax.Literal(node.span, value) if isinstance(value, int | str) else node
