"""The Python program that builds a given mask file, comments and empty lines included."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Sequence

from compilemask.language import syntax
from compilemask.language.builder_terms import Side, Term, is_relation
from compilemask.language.names import BARE_RELATIONS, CALLED_WORDS
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.source import Source

HEADER = "from compilemask.language.builder import *\n\nmask = Mask()\n"
_RELATIONS = {"causal": "causal", "before": "before", "self": "diagonal", "all": "every", "none": "none"}


def python_program(file: syntax.File) -> str:
    """A program whose `mask.text()` is the canonical text of the file."""
    text = format_file(file)
    canonical = parse(Source(file.source.name, text))
    return HEADER + "".join(f"{line}\n" for line in _Program(canonical).lines())


class _Program:
    def __init__(self, file: syntax.File) -> None:
        self._file = file
        self._rows = file.source.text.split("\n")
        self._nodes: dict[int, tuple[int, str, int]] = {}
        for statement in file.statements:
            self._statement(statement)

    def lines(self) -> Iterator[str]:
        """The program in the order of the text's rows."""
        depth = 0
        number = 1
        while number < len(self._rows):
            row = self._rows[number - 1]
            if number in self._nodes:
                depth, code, last = self._nodes[number]
                yield "    " * depth + code
                number = last
                inner = depth + code.startswith("with ")
                if number in self._file.comments:
                    yield "    " * inner + f"mask.remark({self._file.comments[number]!r})"
                depth = inner
            elif not row.strip():
                yield "    " * depth + "mask.blank()"
            else:
                inside = row.startswith(" ")
                yield "    " * depth + f"mask.comment({self._file.comments[number]!r}, inside={inside})"
            number += 1

    def _add(self, node: syntax.Node, depth: int, code: str) -> None:
        last = node.span.line if code.startswith("with ") else node.span.end_line
        self._nodes[node.span.line] = (depth, code, last)

    def _statement(self, node: syntax.Statement) -> None:
        match node:
            case syntax.Layout():
                self._add(node, 0, f"with mask.layout({node.axis!r}) as block:")
                self._items(node.items, 1)
            case syntax.Let(value=None):
                arguments = ", ".join(repr(name) for name in (node.name, *node.formals))
                self._add(node, 0, f"with mask.cases({arguments}) as block:")
                for case in node.cases:
                    self._add(case, 1, f"block.case({_selector(case.selector)}, {expression(case.value)})")
            case syntax.Rules():
                self._add(node, 0, f"with mask.rules({expression(node.when) if node.when else ''}) as block:")
                for rule in node.rules:
                    self._add(rule, 1, _rule(rule))
            case _:
                self._add(node, 0, "mask." + _one_line(node))

    def _items(self, items: Sequence[syntax.Item], depth: int) -> None:
        block = "block" + str(depth - 1) * (depth > 1)
        for item in items:
            match item:
                case syntax.Leaf():
                    stored = f", stored_by={expression(item.stored_by)}" if item.stored_by else ""
                    self._add(item, depth, f"{block}.region({item.name!r}, {expression(item.size)}{stored})")
                case syntax.Padding():
                    self._add(item, depth, f"{block}.padding({expression(item.size)})")
                case syntax.Group():
                    repeat = f", {expression(item.repeat)}" if item.repeat else ""
                    self._add(item, depth, f"with {block}.group({item.name!r}{repeat}) as block{depth}:")
                    self._items(item.items, depth + 1)


def _one_line(node: syntax.Statement) -> str:
    match node:
        case syntax.Title():
            return f"title({node.text!r})"
        case syntax.Include():
            return f"include({node.path!r})"
        case syntax.Parameters():
            return f"params({', '.join(map(_parameter, node.parameters))})"
        case syntax.Require():
            text = None if node.text is None else repr(node.text)
            return f"require({_joined(expression(node.condition), text)})"
        case syntax.Heads():
            return f"heads({expression(node.count)})"
        case syntax.QueriesFrom():
            return f"queries_are({_selector(node.selector)})"
        case syntax.Align():
            return f"align({_joined(repr(node.side), node.within and repr(node.within))})"
        case syntax.Position():
            return f"position({_joined(expression(node.value), node.axis and repr(node.axis))})"
        case syntax.Let(value=syntax.Expression() as value):
            return f"let({_joined(repr(node.name), expression(value), *map(repr, node.formals))})"
        case syntax.Order(selector=syntax.Selector() as selector, coordinate=syntax.Expression() as coordinate):
            return f"order({_selector(selector)}, {expression(coordinate)})"
        case _:
            return "order()"


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def _parameter(node: syntax.Parameter) -> str:
    default = expression(node.default) if node.default else None
    per = f"per={node.per!r}" if node.per else None
    file = f"file={node.file!r}" if node.file is not None else None
    return f"parameter({_joined(repr(node.name), default, per, file)})"


def _rule(node: syntax.Rule | syntax.Limit) -> str:
    if isinstance(node, syntax.Limit):
        return f"block.limit({expression(node.how)})"
    verb = "sees" if node.shows else "cannot_see"
    return f"block.{verb}({_selector(node.who)}, {_selector(node.whom)}, {expression(node.how)})"


# ---------------------------------------------------------------- selectors


def _selector(node: syntax.Selector) -> str:
    match node:
        case syntax.Everything():
            return "everything"
        case syntax.RegionPath(names=names):
            return " / ".join(_entry("r", name) for name in names)
        case syntax.Numbered():
            return f"({_selector(node.path)})[{expression(node.index)}]"
        case syntax.Range():
            return f"({_selector(node.path)})[{_ends(node.start, node.stop)}]"
        case syntax.Ends():
            return f"{node.which}({expression(node.count)}, {_selector(node.of)})"
        case syntax.Where():
            return f"({_selector(node.of)}).where({expression(node.condition)})"
        case syntax.Union():
            return f"union({', '.join(map(_selector, node.parts))})"
        case _:
            raise TypeError(f"no Python for {type(node).__name__}")


def _entry(owner: str, name: str, taken: Iterable[str] = ()) -> str:
    plain = not keyword.iskeyword(name) and not name.startswith("_") and name not in taken
    return f"{owner}.{name}" if plain else f"{owner}[{name!r}]"


def _ends(start: syntax.Expression | None, stop: syntax.Expression | None) -> str:
    return f"{expression(start) if start else ''}:{expression(stop) if stop else ''}"


# ---------------------------------------------------------------- expressions


def expression(node: syntax.Expression) -> str:
    """The Python expression that makes this tree."""
    match node:
        case syntax.Literal(value=value):
            return repr(value)
        case syntax.ListOf(items=items):
            return f"[{', '.join(map(expression, items))}]"
        case syntax.TupleOf(items=items):
            return f"({', '.join(map(expression, items))})"
        case syntax.AnyLiteral():
            return "unbounded"
        case syntax.Name(name=name):
            return _name(name)
        case syntax.Attribute(value=syntax.Name(name="q" | "k" as side), name=name):
            return _entry(side, name, (*dir(Side), *dir(Term), "node"))
        case syntax.Call():
            return _call(node)
        case _:
            return _operation(node)


def _name(name: str) -> str:
    if name in BARE_RELATIONS:
        return _RELATIONS[name]
    return name if name in ("q", "k") else _entry("n", name)


def _term(node: syntax.Expression) -> str:
    """The same as something that has operators."""
    if isinstance(node, syntax.Literal | syntax.ListOf | syntax.TupleOf):
        return f"lit({expression(node)})"
    return f"({expression(node)})"


def _operation(node: syntax.Expression) -> str:
    match node:
        case syntax.Attribute():
            return f"{_term(node.value)}.attribute({node.name!r})"
        case syntax.Index(index=syntax.Literal(value=str())):
            return f"{_term(node.value)}[lit({expression(node.index)})]"
        case syntax.Index():
            return f"{_term(node.value)}[{expression(node.index)}]"
        case syntax.Slice():
            return f"{_term(node.value)}[{_ends(node.start, node.stop)}]"
        case syntax.Unary():
            return f"{'~' if node.operator == 'not' else '-'}{_term(node.operand)}"
        case syntax.Binary():
            return _binary(node)
        case syntax.Compare():
            return _compare(node)
        case syntax.Conditional():
            return f"choose({expression(node.condition)}, {expression(node.value)}, {expression(node.otherwise)})"
        case syntax.Same():
            return f"same({expression(node.coordinate)})"
        case syntax.By():
            return f"{_term(node.relation)}.by({expression(node.coordinate)})"
        case syntax.Within():
            return f"{_term(node.relation)}.within({node.region!r})"
        case _:
            raise TypeError(f"no Python for {type(node).__name__}")


def _binary(node: syntax.Binary) -> str:
    if node.operator == "except":
        return f"{_term(node.left)}.except_({expression(node.right)})"
    if node.operator == "-":
        return f"{_term(node.left)}.minus({expression(node.right)})" if is_relation(node.left) else _infix("-", node)
    return _infix({"and": "&", "or": "|"}.get(node.operator, node.operator), node)


def _infix(operator: str, node: syntax.Binary) -> str:
    return f"{_term(node.left)} {operator} {_term(node.right)}"


def _compare(node: syntax.Compare) -> str:
    parts = [expression(node.operands[0])]
    for operator, operand in zip(node.operators, node.operands[1:], strict=True):
        parts += [repr(operator), expression(operand)]
    if len(node.operators) == 1 and node.operators[0] not in ("in", "not in"):
        return f"{_term(node.operands[0])} {node.operators[0]} {_term(node.operands[1])}"
    return f"chain({', '.join(parts)})"


def _call(node: syntax.Call) -> str:
    names = [argument.name for argument in node.arguments]
    positional = names.index(next((name for name in names if name), None)) if any(names) else len(names)
    usual = all(names[positional:]) and len(set(names[positional:])) == len(names) - positional
    usual = usual and not any(name and (keyword.iskeyword(name) or name == "name") for name in names)
    if not usual:
        given = [f"argument({a.name!r}, {expression(a.value)})" for a in node.arguments]
    else:
        given = [f"{a.name}={expression(a.value)}" if a.name else expression(a.value) for a in node.arguments]
    if node.name in CALLED_WORDS and usual:
        return f"f.{node.name}({', '.join(given)})"
    return f"call({_joined(repr(node.name), *given)})"
