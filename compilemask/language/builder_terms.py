"""Expressions and selectors written in Python: operators on terms make the same trees that the parser makes.

`&` is and, `|` is or, `~` is not, and `-` is except between relations and minus between numbers.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from compilemask.errors import UsageError
from compilemask.language import syntax
from compilemask.language.names import BARE_RELATIONS, CALLED_WORDS
from compilemask.language.vocabulary import Kind, by_name
from compilemask.source import Source, Span

NOWHERE = Span(Source("<python>", ""), 0, 0, 0, 0)

Liftable: TypeAlias = Union["Term", "Selector", int, str, bool, "list[Liftable]", "tuple[Liftable, ...]"]

_RELATION_NODES = (syntax.Same, syntax.By, syntax.Within, syntax.Compare)


class Term:
    """A number, list, condition or relation of the language."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: syntax.Expression) -> None:
        self.node = node

    def __bool__(self) -> bool:
        raise UsageError("a term of a mask has no truth in Python: write `&`, `|`, `~` and chain(a, '<', b, '<', c)")

    def __repr__(self) -> str:
        from compilemask.language.printer_expressions import format_expression

        return f"Term({format_expression(self.node)})"

    def __add__(self, other: Liftable) -> Term:
        return _binary("+", self, other)

    def __radd__(self, other: Liftable) -> Term:
        return _binary("+", other, self)

    def __sub__(self, other: Liftable) -> Term:
        return _binary("except" if is_relation(self.node) else "-", self, other)

    def __rsub__(self, other: Liftable) -> Term:
        return _binary("-", other, self)

    def __mul__(self, other: Liftable) -> Term:
        return _binary("*", self, other)

    def __rmul__(self, other: Liftable) -> Term:
        return _binary("*", other, self)

    def __floordiv__(self, other: Liftable) -> Term:
        return _binary("//", self, other)

    def __mod__(self, other: Liftable) -> Term:
        return _binary("%", self, other)

    def __and__(self, other: Liftable) -> Term:
        return _binary("and", self, other)

    def __or__(self, other: Liftable) -> Term:
        return _binary("or", self, other)

    def __invert__(self) -> Term:
        return Term(syntax.Unary(NOWHERE, "not", self.node))

    def __neg__(self) -> Term:
        return Term(syntax.Unary(NOWHERE, "-", self.node))

    def __lt__(self, other: Liftable) -> Term:
        return chain(self, "<", other)

    def __le__(self, other: Liftable) -> Term:
        return chain(self, "<=", other)

    def __gt__(self, other: Liftable) -> Term:
        return chain(self, ">", other)

    def __ge__(self, other: Liftable) -> Term:
        return chain(self, ">=", other)

    def __eq__(self, other: Liftable) -> Term:  # type: ignore[override]
        return chain(self, "==", other)

    def __ne__(self, other: Liftable) -> Term:  # type: ignore[override]
        return chain(self, "!=", other)

    def __getitem__(self, index: Liftable | slice) -> Term:
        if isinstance(index, slice):
            return Term(syntax.Slice(NOWHERE, self.node, _end(index.start), _end(index.stop)))
        return Term(syntax.Index(NOWHERE, self.node, lift(index)))

    def except_(self, other: Liftable) -> Term:
        """`self except other`, also where `-` would mean minus."""
        return _binary("except", self, other)

    def minus(self, other: Liftable) -> Term:
        """The difference, also where `-` would mean except."""
        return _binary("-", self, other)

    def is_in(self, values: Liftable) -> Term:
        """`self in values`."""
        return chain(self, "in", values)

    def not_in(self, values: Liftable) -> Term:
        """`self not in values`."""
        return chain(self, "not in", values)

    def attribute(self, name: str) -> Term:
        """`self.name`."""
        return Term(syntax.Attribute(NOWHERE, self.node, name))

    def by(self, coordinate: Liftable) -> Term:
        """`self by coordinate`."""
        return Term(syntax.By(NOWHERE, self.node, lift(coordinate)))

    def within(self, region: Selector | str) -> Term:
        """`self within region`."""
        return Term(syntax.Within(NOWHERE, self.node, region if isinstance(region, str) else region.name))


class Side(Term):
    """`q` or `k`: its attributes are the coordinates of that token, `q.pos` or `q["pos"]`."""

    def __getattr__(self, name: str) -> Term:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.attribute(name)

    def __getitem__(self, index: Liftable | slice) -> Term:
        return self.attribute(index) if isinstance(index, str) else super().__getitem__(index)


class Selector:
    """A set of tokens: a region, some of its instances, its ends, those that meet a condition, or a union."""

    def __init__(self, node: syntax.Selector) -> None:
        self.node = node

    @property
    def name(self) -> str:
        """The name of a plain region."""
        if isinstance(self.node, syntax.RegionPath) and len(self.node.names) == 1:
            return self.node.names[0]
        raise UsageError("only a single region has a name")

    @property
    def number(self) -> Term:
        """The number of a token's instance of this region."""
        return Term(syntax.Name(NOWHERE, self.name))

    @property
    def at(self) -> Term:
        """How many tokens of its instance were written before a token."""
        return self.number.attribute("at")

    @property
    def size(self) -> Term:
        """How many tokens a token's instance has."""
        return self.number.attribute("size")

    def __truediv__(self, inner: Selector) -> Selector:
        """`outer.inner`."""
        return Selector(syntax.RegionPath(NOWHERE, (*self._path().names, *inner._path().names)))

    def __getitem__(self, index: Liftable | slice) -> Selector:
        if isinstance(index, slice):
            return Selector(syntax.Range(NOWHERE, self._path(), _end(index.start), _end(index.stop)))
        return Selector(syntax.Numbered(NOWHERE, self._path(), lift(index)))

    def __or__(self, other: Selector) -> Selector:
        return union(*_parts(self), *_parts(other))

    def where(self, condition: Liftable) -> Selector:
        """Those tokens for which the condition holds."""
        return Selector(syntax.Where(NOWHERE, self.node, lift(condition)))

    def _path(self) -> syntax.RegionPath:
        if not isinstance(self.node, syntax.RegionPath):
            raise UsageError("only a region has instances and inner regions")
        return self.node


def _parts(selector: Selector) -> tuple[Selector, ...]:
    if isinstance(selector.node, syntax.Union):
        return tuple(Selector(part) for part in selector.node.parts)
    return (selector,)


def lift(value: Liftable) -> syntax.Expression:
    """The tree of a Python value: terms as they are, a region as its number, lists and tuples part by part."""
    match value:
        case Term():
            return value.node
        case Selector():
            return value.number.node
        case bool():
            return syntax.Literal(NOWHERE, value)
        case str():
            return syntax.Literal(NOWHERE, one_text(value))
        case int():
            literal = syntax.Literal(NOWHERE, abs(value))
            return syntax.Unary(NOWHERE, "-", literal) if value < 0 else literal
        case list():
            return syntax.ListOf(NOWHERE, tuple(map(lift, value)))
        case tuple() if len(value) > 1:
            return syntax.TupleOf(NOWHERE, tuple(map(lift, value)))
        case _:
            raise UsageError(f"{value!r} can't stand in a mask: integers, texts, booleans, lists and terms can")


def one_text(text: str) -> str:
    """A text that can stand between two `"` in a mask file. Raises UsageError for any other."""
    if '"' in text or not text.replace("\t", " ").isprintable():
        raise UsageError(f"{text!r} can't stand in a mask: a text holds no `\"` and no control characters")
    return text


def lit(value: Liftable) -> Term:
    """A term from a Python value, so that operators on it make a tree: `lit(2) + 3`."""
    return Term(lift(value))


def _end(value: Liftable | None) -> syntax.Expression | None:
    return None if value is None else lift(value)


def _binary(operator: str, left: Liftable, right: Liftable) -> Term:
    return Term(syntax.Binary(NOWHERE, operator, lift(left), lift(right)))


def is_relation(node: syntax.Expression) -> bool:
    """Whether `-` behind this means `except`."""
    match node:
        case syntax.Name(name=name):
            return name in BARE_RELATIONS
        case syntax.Call(name=name):
            word = by_name().get(name)
            return word is not None and word.kind is Kind.RELATION
        case syntax.Binary(operator=operator):
            return operator in ("and", "or", "except")
        case syntax.Unary(operator=operator):
            return operator == "not"
        case _:
            return isinstance(node, _RELATION_NODES)


def chain(*parts: Liftable) -> Term:
    """A comparison with any number of steps: `chain(0, "<=", q.x, "<", n)`."""
    operands = tuple(lift(part) for part in parts[::2])
    operators = tuple(str(part) for part in parts[1::2])
    return Term(syntax.Compare(NOWHERE, operands, operators))


def choose(condition: Liftable, value: Liftable, otherwise: Liftable) -> Term:
    """`value if condition else otherwise`."""
    return Term(syntax.Conditional(NOWHERE, lift(value), lift(condition), lift(otherwise)))


def same(coordinate: Liftable) -> Term:
    """`same coordinate`."""
    return Term(syntax.Same(NOWHERE, lift(coordinate)))


def argument(name: str | None, value: Liftable) -> syntax.Argument:
    """One argument of `call`, with its name if it has one."""
    return syntax.Argument(NOWHERE, name, lift(value))


def call(name: str, *arguments: Liftable | syntax.Argument, **named: Liftable) -> Term:
    """`name(arguments)`: a function, a relation, or a `let` with arguments."""
    given = [a if isinstance(a, syntax.Argument) else argument(None, a) for a in arguments]
    given += [argument(key, value) for key, value in named.items()]
    return Term(syntax.Call(NOWHERE, name, tuple(given)))


def first(count: Liftable, of: Selector) -> Selector:
    """`first count of selector`."""
    return Selector(syntax.Ends(NOWHERE, "first", lift(count), of.node))


def last(count: Liftable, of: Selector) -> Selector:
    """`last count of selector`."""
    return Selector(syntax.Ends(NOWHERE, "last", lift(count), of.node))


def union(*parts: Selector) -> Selector:
    """`a, b, ...`."""
    return Selector(syntax.Union(NOWHERE, tuple(part.node for part in parts)))


class _Terms:
    """`n.length` or `n["length"]`: the parameter, coordinate or `let` of that name."""

    def __getattr__(self, name: str) -> Term:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Term:
        return Term(syntax.Name(NOWHERE, name))


class _Regions:
    """`r.document` or `r["document"]`: the region of that name."""

    def __getattr__(self, name: str) -> Selector:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Selector:
        return Selector(syntax.RegionPath(NOWHERE, (name,)))


class _Calls:
    """`f.window(behind=3, ahead=0)`: a relation with arguments or a function, by its name."""

    def __getattr__(self, name: str) -> _Call:
        if name not in CALLED_WORDS:
            raise AttributeError(f"no function or relation is called {name}; use call({name!r}, ...) for a `let`")
        return _Call(name)


class _Call:
    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Liftable, **named: Liftable) -> Term:
        return call(self._name, *arguments, **named)


n, r, f = _Terms(), _Regions(), _Calls()
q, k = Side(syntax.Name(NOWHERE, "q")), Side(syntax.Name(NOWHERE, "k"))
everything = Selector(syntax.Everything(NOWHERE))
unbounded = Term(syntax.AnyLiteral(NOWHERE))
causal, before, diagonal, every, none = (n[name] for name in ("causal", "before", "self", "all", "none"))
