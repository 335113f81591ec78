"""Expressions and selectors to canonical text: brackets only where they are needed."""

from __future__ import annotations

import re

from compilemask.language import syntax

_OR, _AND, _NOT, _QUALIFIED, _COMPARE, _SUM, _TERM, _FACTOR, _ATOM = range(1, 10)
_BINARY = {"or": _OR, "and": _AND, "except": _AND, "+": _SUM, "-": _SUM, "*": _TERM, "//": _TERM, "%": _TERM}


def format_expression(node: syntax.Expression, part: bool = False) -> str:
    """The text of an expression; with `part`, bracketed where it would need that beside `and`."""
    return _wrap(node, _NOT) if part else _text(node)


def _strength(node: syntax.Expression) -> int:
    """How tightly the outermost operator of a node binds."""
    match node:
        case syntax.Conditional():
            return 0
        case syntax.Binary(operator=operator):
            return _BINARY[operator]
        case syntax.Unary(operator=operator):
            return _NOT if operator == "not" else _FACTOR
        case syntax.By() | syntax.Within():
            return _QUALIFIED
        case syntax.Compare():
            return _COMPARE
        case syntax.Same():
            return _FACTOR
        case syntax.Literal(value=int() as value) if value is not True and value is not False and value < 0:
            return _FACTOR
        case _:
            return _ATOM


def _wrap(node: syntax.Expression, least: int) -> str:
    text = _text(node)
    return text if _strength(node) >= least else f"({text})"


def _text(node: syntax.Expression) -> str:
    match node:
        case syntax.Literal(value=bool() as value):
            return "true" if value else "false"
        case syntax.Literal(value=str() as value):
            return f'"{value}"'
        case syntax.Literal(value=value):
            return str(value)
        case syntax.AnyLiteral():
            return "any"
        case syntax.Name(name=name):
            return name
        case syntax.Attribute():
            return f"{_wrap(node.value, _ATOM)}.{node.name}"
        case syntax.Index():
            return f"{_wrap(node.value, _ATOM)}[{_text(node.index)}]"
        case syntax.Slice():
            return f"{_wrap(node.value, _ATOM)}[{_range(node.start, node.stop)}]"
        case syntax.Call():
            return f"{node.name}({', '.join(_argument(a) for a in node.arguments)})"
        case syntax.ListOf():
            return f"[{', '.join(map(_text, node.items))}]"
        case syntax.TupleOf():
            return f"({', '.join(map(_text, node.items))})"
        case _:
            return _operation(node)


def _operation(node: syntax.Expression) -> str:
    match node:
        case syntax.Unary(operator="not"):
            return f"not {_wrap(node.operand, _NOT)}"
        case syntax.Unary():
            return f"-{_wrap(node.operand, _FACTOR)}"
        case syntax.Binary():
            return _binary(node)
        case syntax.Compare():
            words = [_wrap(node.operands[0], _SUM)]
            for operator, operand in zip(node.operators, node.operands[1:], strict=True):
                words += [operator, _wrap(operand, _SUM)]
            return " ".join(words)
        case syntax.Conditional():
            return f"{_wrap(node.value, _OR)} if {_wrap(node.condition, _OR)} else {_text(node.otherwise)}"
        case syntax.Same():
            return f"same {_wrap(node.coordinate, _ATOM)}"
        case syntax.By():
            relation = _text(node.relation)
            if _strength(node.relation) < _QUALIFIED or isinstance(node.relation, syntax.Compare):
                relation = f"({relation})"
            return f"{relation} by {_wrap(node.coordinate, _ATOM)}"
        case syntax.Within():
            return f"{_wrap(node.relation, _QUALIFIED)} within {node.region}"
        case _:
            raise TypeError(f"no text for {type(node).__name__}")


def _binary(node: syntax.Binary) -> str:
    strength = _BINARY[node.operator]
    left, right = _side(node.left, node.operator, strength), _side(node.right, node.operator, strength + 1)
    return f"{left} {node.operator} {right}"


def _side(child: syntax.Expression, operator: str, least: int) -> str:
    """One side; brackets also between `except` and any other of `and`, `or`, where the grammar demands them."""
    mixed = False
    if operator in ("and", "except", "or") and isinstance(child, syntax.Binary):
        mixed = child.operator in ("and", "except", "or") and (child.operator == "except") != (operator == "except")
    return f"({_text(child)})" if mixed else _wrap(child, least)


def _range(start: syntax.Expression | None, stop: syntax.Expression | None) -> str:
    return f"{_text(start) if start else ''}:{_text(stop) if stop else ''}"


def _argument(argument: syntax.Argument) -> str:
    value = _text(argument.value)
    return value if argument.name is None else f"{argument.name}={value}"


# ---------------------------------------------------------------- selectors


def format_selector(node: syntax.Selector) -> str:
    """The text of a selector. A condition beside a comma is bracketed, since it holds for its own part only."""
    match node:
        case syntax.Union():
            return ", ".join(_part(p) for p in node.parts)
        case syntax.Where():
            return f"{_part(node.of)} where {format_expression(node.condition)}"
        case syntax.Everything():
            return "everything"
        case syntax.RegionPath():
            return ".".join(node.names)
        case syntax.Numbered():
            return f"{format_selector(node.path)}[{format_expression(node.index)}]"
        case syntax.Range():
            return f"{format_selector(node.path)}[{_range(node.start, node.stop)}]"
        case syntax.Ends():
            return f"{node.which} {_count(node.count)} of {_counted(node.of)}"
        case _:
            raise TypeError(f"no text for {type(node).__name__}")


def _part(node: syntax.Selector) -> str:
    text = format_selector(node)
    return f"({text})" if isinstance(node, syntax.Union | syntax.Where) else text


def _counted(node: syntax.Selector) -> str:
    """Behind `of`, `outer.inner` is bracketed: the tokens of each inner instance are counted, not instances."""
    text = _part(node)
    return f"({text})" if isinstance(node, syntax.RegionPath) and len(node.names) > 1 else text


def _count(node: syntax.Expression) -> str:
    """The number after `first`: what could follow a region of that name is bracketed."""
    text = _wrap(node, _SUM)
    return f"({text})" if text.startswith("[") or re.match(r"(stored|of)\b", text) else text
