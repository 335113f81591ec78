"""Masks written in Python. What it builds prints as a mask file; `python_program` turns a mask file into Python.

mask = Mask("Shared prompt")
answers = mask.param("answers", [1024, 1024])
with mask.layout() as layout:
    prompt = layout.region("prompt", 2048)
    answer = layout.region("answer", answers)
with mask.rules() as rules:
    rules.sees(prompt, prompt, causal)
    rules.sees(answer, prompt, every)
    rules.sees(answer, answer, causal.within(answer))
print(mask.text())
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from compilemask.language import syntax
from compilemask.language.builder_terms import (
    Liftable,
    Selector,
    Term,
    argument,
    before,
    call,
    causal,
    chain,
    choose,
    diagonal,
    every,
    everything,
    f,
    first,
    k,
    last,
    lift,
    lit,
    n,
    none,
    one_text,
    q,
    r,
    same,
    unbounded,
    union,
)
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.source import Source, Span

__all__ = [
    "Layout",
    "Mask",
    "Rules",
    "Selector",
    "Term",
    "argument",
    "before",
    "call",
    "causal",
    "chain",
    "choose",
    "diagonal",
    "every",
    "everything",
    "f",
    "first",
    "k",
    "last",
    "lit",
    "n",
    "none",
    "parameter",
    "q",
    "r",
    "same",
    "unbounded",
    "union",
]


class Mask:
    """A mask file in the making: one method per statement, in the order in which they shall stand."""

    def __init__(self, title: str | None = None) -> None:
        self._rows: list[str] = []
        self._statements: list[syntax.Statement] = []
        self._comments: dict[int, str] = {}
        self._depth = 0
        if title is not None:
            self.title(title)

    def file(self) -> syntax.File:
        """The checked syntax tree. Raises MaskFileError for anything that a mask file may not say."""
        return parse(Source("<python>", self.text()))

    def text(self) -> str:
        """The canonical text."""
        source = Source("<python>", "\n".join(self._rows))
        return format_file(syntax.File(source, tuple(self._statements), self._comments))

    # ------------------------------------------------------------ lines that say nothing to the compiler

    def comment(self, text: str, inside: bool | None = None) -> None:
        """A comment line; by default indented if a block is open."""
        indented = self._depth > 0 if inside is None else inside
        span = self.line("#", depth=1 if indented else 0)
        self._comments[span.line] = _marked(text)

    def remark(self, text: str) -> None:
        """A comment behind the last line."""
        self._comments[len(self._rows)] = _marked(text)

    def blank(self) -> None:
        """An empty line."""
        self._rows.append("")

    def line(self, text: str = "x", depth: int | None = None) -> Span:
        """The place of the next line."""
        self._rows.append(" " * 4 * (self._depth if depth is None else depth) + text)
        number = len(self._rows)
        return Span(Source("<python>", ""), number, 1, number, 2)

    # ------------------------------------------------------------ statements

    def title(self, text: str) -> None:
        """`title "text"`."""
        self._statements.append(syntax.Title(self.line(), one_text(text)))

    def include(self, path: str) -> None:
        """`include "path"`."""
        self._statements.append(syntax.Include(self.line(), one_text(path)))

    def param(
        self, name: str, default: Liftable | None = None, *, per: str | None = None, file: str | None = None
    ) -> Term:
        """`param name [per batch|head] [= default | from "file"]`; returns the name as a term."""
        self.params(parameter(name, default, per=per, file=file))
        return n[name]

    def params(self, *parameters: syntax.Parameter) -> None:
        """Several parameters in one line; see `parameter`."""
        self._statements.append(syntax.Parameters(self.line(), parameters))

    def require(self, condition: Liftable, text: str | None = None) -> None:
        """`require condition, "text"`."""
        self._statements.append(syntax.Require(self.line(), lift(condition), text and one_text(text)))

    def heads(self, count: Liftable) -> None:
        """`heads count`."""
        self._statements.append(syntax.Heads(self.line(), lift(count)))

    def align(self, side: str, within: Selector | str | None = None) -> None:
        """`align start|end [within region]`."""
        region = within.name if isinstance(within, Selector) else within
        self._statements.append(syntax.Align(self.line(), side, region))

    def position(self, value: Liftable, axis: str | None = None) -> None:
        """`position [queries|keys] = value`."""
        self._statements.append(syntax.Position(self.line(), axis, lift(value)))

    def queries_are(self, selector: Selector) -> None:
        """`queries are selector`."""
        self._statements.append(syntax.QueriesFrom(self.line(), selector.node))

    def let(self, name: str, value: Liftable, *formals: str) -> Term:
        """`let name(formals) = value`; returns the name as a term."""
        self._statements.append(syntax.Let(self.line(), name, formals, lift(value), ()))
        return n[name]

    def order(self, selector: Selector | None = None, stored_by: Liftable | None = None) -> None:
        """`order selector stored by coordinate`, or `order best` without arguments."""
        coordinate = None if stored_by is None else lift(stored_by)
        self._statements.append(syntax.Order(self.line(), selector.node if selector else None, coordinate))

    # ------------------------------------------------------------ blocks

    @contextmanager
    def layout(self, axis: str = "layout") -> Iterator[Layout]:
        """`layout`, `queries` or `keys`."""
        span = self.line()
        with self.indented():
            block = Layout(self)
            yield block
        self._statements.append(syntax.Layout(span, axis, tuple(block.items)))

    @contextmanager
    def cases(self, name: str, *formals: str) -> Iterator[Cases]:
        """`let name` with one value per region."""
        span = self.line()
        with self.indented():
            block = Cases(self)
            yield block
        self._statements.append(syntax.Let(span, name, formals, None, tuple(block.lines)))

    @contextmanager
    def rules(self, when: Liftable | None = None) -> Iterator[Rules]:
        """`rules [when condition]`."""
        span = self.line()
        with self.indented():
            block = Rules(self)
            yield block
        condition = None if when is None else lift(when)
        self._statements.append(syntax.Rules(span, condition, tuple(block.lines)))

    @contextmanager
    def indented(self) -> Iterator[None]:
        """One level further in."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


def _marked(text: str) -> str:
    """A comment in one line, whatever it holds."""
    text = "".join(letter if letter.isprintable() or letter == "\t" else " " for letter in text)
    return text if text.startswith("#") else f"# {text}"


def parameter(
    name: str, default: Liftable | None = None, *, per: str | None = None, file: str | None = None
) -> syntax.Parameter:
    """One parameter of `Mask.params`."""
    value = None if default is None else lift(default)
    return syntax.Parameter(Span(Source("<python>", ""), 0, 0, 0, 0), name, per, value, file and one_text(file))


class Layout:
    """The lines of a layout."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self.items: list[syntax.Item] = []

    def region(self, name: str, size: Liftable, stored_by: Liftable | None = None) -> Selector:
        """`name : size [stored by coordinate]`; returns the region."""
        stored = None if stored_by is None else lift(stored_by)
        self.items.append(syntax.Leaf(self._mask.line(), name, lift(size), stored))
        return r[name]

    def padding(self, size: Liftable) -> None:
        """`padding : size`."""
        self.items.append(syntax.Padding(self._mask.line(), lift(size)))

    @contextmanager
    def group(self, name: str, repeat: Liftable | None = None) -> Iterator[Layout]:
        """`name [repeat count]` and the regions inside."""
        span = self._mask.line()
        with self._mask.indented():
            inner = Layout(self._mask)
            yield inner
        count = None if repeat is None else lift(repeat)
        self.items.append(syntax.Group(span, name, count, tuple(inner.items)))


class Cases:
    """The lines of a `let` by region."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self.lines: list[syntax.Case] = []

    def case(self, selector: Selector, value: Liftable) -> None:
        """`selector : value`."""
        self.lines.append(syntax.Case(self._mask.line(), selector.node, lift(value)))


class Rules:
    """The lines of a block of rules."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self.lines: list[syntax.Rule | syntax.Limit] = []

    def sees(self, who: Selector, whom: Selector, how: Liftable) -> None:
        """`who sees whom : how`."""
        self.lines.append(syntax.Rule(self._mask.line(), who.node, whom.node, lift(how), True))

    def cannot_see(self, who: Selector, whom: Selector, how: Liftable) -> None:
        """`who cannot see whom : how`."""
        self.lines.append(syntax.Rule(self._mask.line(), who.node, whom.node, lift(how), False))

    def limit(self, how: Liftable) -> None:
        """`limit : how`."""
        self.lines.append(syntax.Limit(self._mask.line(), lift(how)))
