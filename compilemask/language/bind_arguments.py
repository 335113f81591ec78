"""Arguments of relations: by name or in order, numbers, words and lists, each checked where it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.bind_expressions import expression, require_number
from compilemask.language.bind_kinds import Kind, kind_of
from compilemask.language.bind_scope import Context, Scope
from compilemask.language.findings import RejectError, counted, reject, suggestion
from compilemask.language.shown_arithmetic import arithmetic_text, constant_in
from compilemask.language.values import ListValue, Value, describe
from compilemask.source import Span


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one relation: those in order, then by name."""

    scope: Scope
    node: syntax.Call
    context: Context
    ordered: tuple[syntax.Expression, ...]
    named: dict[str, syntax.Expression]

    @staticmethod
    def of(scope: Scope, node: syntax.Call, context: Context, names: tuple[str, ...], ordered: int) -> Arguments:
        """Sort the arguments; `names` may be given by name, at most `ordered` stand in order."""
        first: list[syntax.Expression] = []
        named: dict[str, syntax.Expression] = {}
        for argument in node.arguments:
            if argument.name is None:
                first.append(argument.value)
                continue
            if argument.name not in names:
                takes = f"it takes {', '.join(f'{name}=' for name in names)}"
                close = suggestion(argument.name, names) or takes
                raise reject("unknown-argument", f"`{node.name}` has no `{argument.name}=`", argument.span, close)
            if argument.name in named:
                raise reject("given-twice", f"`{argument.name}=` is given twice", argument.span)
            named[argument.name] = argument.value
        if len(first) > ordered:
            hint = f"name them: {', '.join(f'{name}=' for name in names)}" if names else None
            takes = (
                f"takes {counted(ordered, 'argument')} in order, not {len(first)}" if ordered else "names its arguments"
            )
            raise reject("argument-count", f"`{node.name}` {takes}", node.span, hint)
        return Arguments(scope, node, replace(context, without=("k",)), tuple(first), named)

    def missing(self, name: str, choices: str) -> RejectError:
        """The error for an argument that has no default."""
        return reject("missing-argument", f"`{self.node.name}` needs `{name}=`", self.node.span, choices)

    def bound(self, node: syntax.Expression) -> ir.Expression:
        """An argument that may use parameters and the query's coordinates."""
        return expression(self.scope, node, self.context)

    def constant(self, node: syntax.Expression, name: str) -> Value:
        """An argument that may use parameters only."""
        bound = self.bound(node)
        if not isinstance(bound, ir.Constant):
            raise reject("argument-not-constant", f"`{name}` of `{self.node.name}` may use parameters only", node.span)
        return bound.value

    def whole(self, node: syntax.Expression, name: str, least: int) -> int:
        """A constant number of at least `least`."""
        value = self.constant(node, name)
        if type(value) is not int:
            raise reject("not-a-number", f"`{name}` is {describe(value)}, expected a number", node.span)
        if value < least:
            raise reject(
                "too-small",
                f"`{name}` is {self.how(node, value)}, at least {least} is needed",
                node.span,
            )
        return value

    def reach(self, name: str, sides: str) -> ir.Expression:
        """One side of a window: a number >= 0 or `any`; it may use the query's coordinates."""
        node = self.named.get(name)
        if node is None:
            raise self.missing(name, sides)
        bound = self.bound(node)
        if kind_of(bound) is not Kind.ANY:
            require_number(bound, f"`{name}`")
        if isinstance(bound, ir.Constant) and type(bound.value) is int and bound.value < 0:
            raise reject(
                "negative-window",
                f"`{name}` is {self.how(node, bound.value)}: a window counts the keys beside the query's own",
                node.span,
                "0 sees the query's own position only; for `at least n back` write `q.pos - k.pos >= n`",
            )
        return bound

    def how(self, node: syntax.Expression, value: Value) -> str:
        """How the value of an argument came about."""
        return arithmetic_text(self.scope, node, value, constant_in(self.scope, self.context))

    def words(self, name: str, allowed: tuple[str, ...], count: int) -> tuple[str, ...] | None:
        """A word, or a list of words with one per coordinate; None where it is not given."""
        node = self.named.get(name)
        if node is None:
            return None
        nodes = node.items if isinstance(node, syntax.ListOf) else (node,) * count
        if len(nodes) != count:
            raise reject("argument-count", f"`{name}` has {len(nodes)} entries for {count} coordinates", node.span)
        for item in nodes:
            if not isinstance(item, syntax.Name) or item.name not in allowed:
                raise reject(
                    "unknown-word", f"`{name}` must be {' or '.join(f'`{word}`' for word in allowed)}", item.span
                )
        return tuple(item.name for item in nodes if isinstance(item, syntax.Name))

    def each(self, name: str, count: int, default: Value) -> tuple[Value, ...]:
        """A value, or a list with one per coordinate."""
        node = self.named.get(name)
        if node is None:
            return (default,) * count
        value = self.constant(node, name)
        if not isinstance(value, ListValue):
            return (value,) * count
        if len(value) != count:
            raise reject("argument-count", f"`{name}` has {len(value)} entries for {count} coordinates", node.span)
        return value.items


def where(span: Span | None) -> str:
    """The line of a span in words."""
    return f"line {span.line}" if span is not None else "the file"
