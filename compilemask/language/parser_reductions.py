"""What every grammar rule becomes: one method per rule, named in grammar.lark, from parsed values to syntax nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from compilemask.language import syntax
from compilemask.language.lexing import MAX_BRACKETS, Token
from compilemask.language.parser_tables import UnexpectedTokenError
from compilemask.language.printer_expressions import format_expression
from compilemask.source import Diagnostic, Severity, Span

MAX_DEPTH = 3 * MAX_BRACKETS
Values = list[Any]
Tree = TypeVar("Tree", bound=syntax.Node)


class TooDeepError(UnexpectedTokenError):
    """The line has too many operations on top of one another to go on with it."""

    def __init__(self, span: Span) -> None:
        super().__init__("too deep", frozenset())
        hint = "give a part of it a name with `let` or `param`"
        message = f"this is more than {MAX_DEPTH} operations deep"
        self.diagnostic = Diagnostic(Severity.ERROR, "too-deep", message, span, hint)


class Reductions:
    """Builds the nodes of one file and collects what is wrong with their form."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._bracketed: dict[int, syntax.Expression] = {}
        self._depth: dict[int, tuple[int, syntax.Node]] = {}

    def builders(self) -> dict[str, Callable[[Values], Any]]:
        """The methods by the name that grammar.lark gives them."""
        return {name: getattr(self, f"build_{name}") for name in _NAMES}

    def _report(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(Severity.ERROR, code, message, span, hint))

    # ------------------------------------------------------------ expressions

    def build_number(self, v: Values) -> syntax.Expression:
        return syntax.Literal(v[0].span, int(v[0].text.replace("_", "")))

    def build_string(self, v: Values) -> syntax.Expression:
        return syntax.Literal(v[0].span, v[0].text[1:-1])

    def build_boolean(self, v: Values) -> syntax.Expression:
        return syntax.Literal(v[0].span, v[0].text == "true")

    def build_name(self, v: Values) -> syntax.Expression:
        return syntax.Name(v[0].span, v[0].text)

    def build_any(self, v: Values) -> syntax.Expression:
        return syntax.AnyLiteral(v[0].span)

    def build_attribute(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Attribute(_span(v), v[0], v[2].text), v)

    def build_index(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Index(_span(v), v[0], v[2]), v)

    def build_slice(self, v: Values) -> syntax.Expression:
        start, stop = _ends(v[2:-1])
        return self._deeper(syntax.Slice(_span(v), v[0], start, stop), v)

    def build_call(self, v: Values) -> syntax.Expression:
        arguments = tuple(v[2]) if len(v) == 4 else ()
        return self._deeper(syntax.Call(_span(v), v[0].text, arguments), [a.value for a in arguments])

    def build_arguments(self, v: Values) -> list[syntax.Argument]:
        return v[::2]

    def build_positional(self, v: Values) -> syntax.Argument:
        return syntax.Argument(v[0].span, None, v[0])

    def build_keyword(self, v: Values) -> syntax.Argument:
        return syntax.Argument(_span(v), v[0].text, v[2])

    def build_list(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.ListOf(_span(v), tuple(v[1:-1:2])), v)

    def build_tuple(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.TupleOf(_span(v), tuple(v[1:-1:2])), v)

    def build_bracketed(self, v: Values) -> syntax.Expression:
        node: syntax.Expression = replace(v[1], span=_span(v))
        self._bracketed[id(node)] = node
        return self._deeper(node, [v[1]])

    def build_unary(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Unary(_span(v), v[0].text, v[1]), v)

    def build_binary(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Binary(_span(v), v[1].text, v[0], v[2]), v)

    def build_either(self, v: Values) -> syntax.Expression:
        if self._is(v[0], "except"):
            self._mixed(v[1], v[0], v[2])
        elif self._is(v[2], "except"):
            self._mixed_right(v[1], v[0], v[2])
        return self.build_binary(v)

    def build_both(self, v: Values) -> syntax.Expression:
        if self._is(v[0], "except"):
            self._mixed(v[1], v[0], v[2])
        return self.build_binary(v)

    def build_both_except(self, v: Values) -> syntax.Expression:
        if self._is(v[0], "and"):
            self._mixed(v[1], v[0], v[2])
        return self.build_binary(v)

    def build_conditional(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Conditional(_span(v), v[0], v[2], v[4]), v)

    def build_compare(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Compare(_span(v), tuple(v[::2]), tuple(o.text for o in v[1::2])), v)

    def build_same(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Same(_span(v), v[1]), v)

    def build_by(self, v: Values) -> syntax.Expression:
        if isinstance(v[0], syntax.Compare) and id(v[0]) not in self._bracketed:
            hint = "a comparison names its coordinates itself: q.C and k.C"
            self._report("by-comparison", "`by` has no relation to act on", v[1].span, hint)
        return self._deeper(syntax.By(_span(v), v[0], v[2]), v)

    def build_within(self, v: Values) -> syntax.Expression:
        return self._deeper(syntax.Within(_span(v), v[0], v[2].text), v)

    def _is(self, node: syntax.Expression, operator: str) -> bool:
        return isinstance(node, syntax.Binary) and node.operator == operator and id(node) not in self._bracketed

    def _mixed(self, operator: Token, left: syntax.Binary, right: syntax.Expression) -> None:
        a, b, c = (format_expression(x, part=True) for x in (left.left, left.right, right))
        first = f"({a} {left.operator} {b}) {operator.text} {c}"
        self._report_mixed(operator, first, f"{a} {left.operator} ({b} {operator.text} {c})")

    def _mixed_right(self, operator: Token, left: syntax.Expression, right: syntax.Binary) -> None:
        a, b, c = (format_expression(x, part=True) for x in (left, right.left, right.right))
        first = f"({a} {operator.text} {b}) {right.operator} {c}"
        self._report_mixed(operator, first, f"{a} {operator.text} ({b} {right.operator} {c})")

    def _report_mixed(self, operator: Token, first: str, second: str) -> None:
        word = "except" if operator.text != "except" else "and"
        message = f"`{operator.text}` beside `{word}` needs brackets"
        self._report("mixed-except", message, operator.span, f"write  {first}\n     or  {second}")

    def _deeper(self, node: Tree, parts: Iterable[object]) -> Tree:
        """Bounds the height of the tree, so that neither the parser nor a later stage recurses too far."""
        depth = 1 + max((self._depth[id(p)][0] for p in parts if id(p) in self._depth), default=0)
        self._depth[id(node)] = (depth, node)
        if depth == MAX_DEPTH:
            raise TooDeepError(node.span)
        return node

    # ------------------------------------------------------------ selectors

    def build_path(self, v: Values) -> syntax.Selector:
        return syntax.RegionPath(_span(v), tuple(t.text for t in v[::2]))

    def build_numbered(self, v: Values) -> syntax.Selector:
        return self._deeper(syntax.Numbered(_span(v), v[0], v[2]), v)

    def build_numbers(self, v: Values) -> syntax.Selector:
        start, stop = _ends(v[2:-1])
        return self._deeper(syntax.Range(_span(v), v[0], start, stop), v)

    def build_everything(self, v: Values) -> syntax.Selector:
        return syntax.Everything(v[0].span)

    def build_ends(self, v: Values) -> syntax.Selector:
        return self._deeper(syntax.Ends(_span(v), v[0].text, v[1], v[3]), v)

    def build_where(self, v: Values) -> syntax.Selector:
        return self._deeper(syntax.Where(_span(v), v[0], v[2]), v)

    def build_selector(self, v: Values) -> syntax.Selector:
        parts: tuple[syntax.Selector, ...] = tuple(v[::2])
        return parts[0] if len(parts) == 1 else self._deeper(syntax.Union(_span(v), parts), parts)

    def build_bracketed_selector(self, v: Values) -> syntax.Selector:
        inner: syntax.Selector = v[1]
        return self._deeper(replace(inner, span=_span(v)), [inner])

    # ------------------------------------------------------------ statements

    def build_title(self, v: Values) -> syntax.Statement:
        return syntax.Title(_span(v[:-1]), v[1].text[1:-1])

    def build_include(self, v: Values) -> syntax.Statement:
        return syntax.Include(_span(v[:-1]), v[1].text[1:-1])

    def build_parameters(self, v: Values) -> syntax.Statement:
        return syntax.Parameters(_span(v[:-1]), tuple(v[1:-1:2]))

    def build_parameter(self, v: Values) -> syntax.Parameter:
        default = v[-1] if isinstance(v[-1], syntax.Expression) else None
        return syntax.Parameter(_span(v), v[0].text, _per(v), default, None)

    def build_parameter_file(self, v: Values) -> syntax.Parameter:
        return syntax.Parameter(_span(v), v[0].text, _per(v), None, v[-1].text[1:-1])

    def build_require(self, v: Values) -> syntax.Statement:
        text = v[3].text[1:-1] if len(v) > 3 else None
        return syntax.Require(_span(v[:-1]), v[1], text)

    def build_heads(self, v: Values) -> syntax.Statement:
        return syntax.Heads(_span(v[:-1]), v[1])

    def build_layout(self, v: Values) -> syntax.Statement:
        items = tuple(v[3:-1])
        return syntax.Layout(_span([v[0], items[-1]]), v[0].text, items)

    def build_queries_from(self, v: Values) -> syntax.Statement:
        return syntax.QueriesFrom(_span(v[:-1]), v[2])

    def build_align(self, v: Values) -> syntax.Statement:
        return syntax.Align(_span(v[:-1]), v[1].text, v[3].text if len(v) > 3 else None)

    def build_position(self, v: Values) -> syntax.Statement:
        axis = v[1].text if len(v) == 5 else None
        return syntax.Position(_span(v[:-1]), axis, v[-2])

    def build_let(self, v: Values) -> syntax.Statement:
        formals = v[2] if isinstance(v[2], tuple) else ()
        return syntax.Let(_span(v[:-1]), v[1].text, formals, v[-2], ())

    def build_let_cases(self, v: Values) -> syntax.Statement:
        formals = v[2] if isinstance(v[2], tuple) else ()
        cases = tuple(c for c in v if isinstance(c, syntax.Case))
        return syntax.Let(_span([v[0], cases[-1]]), v[1].text, formals, None, cases)

    def build_formals(self, v: Values) -> tuple[str, ...]:
        return tuple(t.text for t in v[1:-1:2])

    def build_rules(self, v: Values) -> syntax.Statement:
        when = v[2] if isinstance(v[2], syntax.Expression) else None
        rules = tuple(r for r in v if isinstance(r, syntax.Rule | syntax.Limit))
        return syntax.Rules(_span([v[0], rules[-1]]), when, rules)

    def build_order_best(self, v: Values) -> syntax.Statement:
        return syntax.Order(_span(v[:-1]), None, None)

    def build_order(self, v: Values) -> syntax.Statement:
        return syntax.Order(_span(v[:-1]), v[1], v[4])

    # ------------------------------------------------------------ lines of blocks

    def build_leaf(self, v: Values) -> syntax.Item:
        return syntax.Leaf(_span(v[:-1]), v[0].text, v[2], v[5] if len(v) > 4 else None)

    def build_padding(self, v: Values) -> syntax.Item:
        return syntax.Padding(_span(v[:-1]), v[2])

    def build_group(self, v: Values) -> syntax.Item:
        items = tuple(i for i in v if isinstance(i, syntax.Item))
        repeat = v[2] if isinstance(v[2], syntax.Expression) else None
        return syntax.Group(_span([v[0], items[-1]]), v[0].text, repeat, items)

    def build_case(self, v: Values) -> syntax.Case:
        return syntax.Case(_span(v[:-1]), v[0], v[2])

    def build_sees(self, v: Values) -> syntax.Rule:
        return syntax.Rule(_span(v[:-1]), v[0], v[2], v[4], shows=True)

    def build_cannot_see(self, v: Values) -> syntax.Rule:
        return syntax.Rule(_span(v[:-1]), v[0], v[3], v[5], shows=False)

    def build_limit(self, v: Values) -> syntax.Limit:
        return syntax.Limit(_span(v[:-1]), v[2])


_NAMES = tuple(name.removeprefix("build_") for name in vars(Reductions) if name.startswith("build_"))


def _span(values: Values) -> Span:
    first, last = values[0].span, values[-1].span
    return Span(first.source, first.line, first.column, last.end_line, last.end_column)


def _ends(values: Values) -> tuple[syntax.Expression | None, syntax.Expression | None]:
    """Start and stop around the colon of a slice."""
    colon = next(i for i, value in enumerate(values) if isinstance(value, Token))
    return (values[0] if colon else None), (values[-1] if colon + 1 < len(values) else None)


def _per(values: Values) -> str | None:
    words = [v.text for v in values[1:3] if isinstance(v, Token)]
    return words[1] if words[:1] == ["per"] else None
