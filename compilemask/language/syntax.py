"""The syntax tree: what a mask file says, before any size is known. Every node carries its span."""

from __future__ import annotations

from dataclasses import dataclass, field

from compilemask.source import Source, Span


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes; spans do not take part in equality, so trees compare by meaning."""

    span: Span = field(repr=False, compare=False)


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Expression(Node):
    """One grammar serves sizes, coordinates and relations; the binder checks which stands where."""


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """An integer, a string, `true` or `false`."""

    value: int | str | bool


@dataclass(frozen=True, slots=True)
class AnyLiteral(Expression):
    """`any`: no bound."""


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A bare word: parameter, region, coordinate, `let`, relation without arguments."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute(Expression):
    """`value.name`: `q.pos`, `R.at`, `document.size`, `noisy.block`."""

    value: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """`value[index]`."""

    value: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice(Expression):
    """`value[start:stop]` on a list; a missing end is None."""

    value: Expression
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """One argument of a call; `name` is None for a positional one."""

    name: str | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """`name(arguments)`: a function, a relation with arguments, or a `let` with parameters."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Expression):
    """`[a, b, c]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TupleOf(Expression):
    """`(a, b)`: at least two parts."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`-x` or `not x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """`left operator right` with `+ - * // %`, `and`, `or` or `except`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Compare(Expression):
    """A chain `a < b <= c`: `operators[i]` stands between `operands[i]` and `operands[i + 1]`.

    Operators: `<  <=  ==  !=  >=  >  in  not in`.
    """

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """`value if condition else otherwise`."""

    value: Expression
    condition: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Same(Expression):
    """`same coordinate`."""

    coordinate: Expression


@dataclass(frozen=True, slots=True)
class By(Expression):
    """`relation by coordinate`."""

    relation: Expression
    coordinate: Expression


@dataclass(frozen=True, slots=True)
class Within(Expression):
    """`relation within region`."""

    relation: Expression
    region: str


# ---------------------------------------------------------------- selectors


@dataclass(frozen=True, slots=True)
class Selector(Node):
    """WHO or WHOM: a set of tokens of one axis."""


@dataclass(frozen=True, slots=True)
class Everything(Selector):
    """`everything`: all tokens but padding."""


@dataclass(frozen=True, slots=True)
class RegionPath(Selector):
    """`region` or `outer.inner`."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbered(Selector):
    """`path[i]`: one instance by its number within the parent."""

    path: RegionPath
    index: Expression


@dataclass(frozen=True, slots=True)
class Range(Selector):
    """`path[i:j]`: instances by number; a missing end is None."""

    path: RegionPath
    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True, slots=True)
class Ends(Selector):
    """`first n of A` (`which == "first"`) or `last n of A`."""

    which: str
    count: Expression
    of: Selector


@dataclass(frozen=True, slots=True)
class Where(Selector):
    """`A where condition`."""

    of: Selector
    condition: Expression


@dataclass(frozen=True, slots=True)
class Union(Selector):
    """`A, B, ...`; `bracketed` keeps written parentheses for the printer."""

    parts: tuple[Selector, ...]
    bracketed: bool = field(default=False, compare=False)


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """One line, or one line with its block."""


@dataclass(frozen=True, slots=True)
class Title(Statement):
    text: str


@dataclass(frozen=True, slots=True)
class Include(Statement):
    path: str


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """`name [per batch|head] [= default | from "file"]`; `per` is None, "batch" or "head"."""

    name: str
    per: str | None
    default: Expression | None
    file: str | None


@dataclass(frozen=True, slots=True)
class Parameters(Statement):
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Require(Statement):
    condition: Expression
    text: str | None


@dataclass(frozen=True, slots=True)
class Heads(Statement):
    count: Expression


@dataclass(frozen=True, slots=True)
class Item(Node):
    """One line of a layout."""


@dataclass(frozen=True, slots=True)
class Leaf(Item):
    """`name : size [stored by coordinate]`."""

    name: str
    size: Expression
    stored_by: Expression | None


@dataclass(frozen=True, slots=True)
class Padding(Item):
    """`padding : size`."""

    size: Expression


@dataclass(frozen=True, slots=True)
class Group(Item):
    """`name [repeat count]` and a block of items."""

    name: str
    repeat: Expression | None
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Layout(Statement):
    """`axis` is "layout" (both axes), "queries" or "keys"."""

    axis: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class QueriesFrom(Statement):
    """`queries are selector`: with one layout, only the selected tokens ask; numbers stay those of the whole."""

    selector: Selector


@dataclass(frozen=True, slots=True)
class Align(Statement):
    """`align start|end [within region]`."""

    side: str
    within: str | None


@dataclass(frozen=True, slots=True)
class Position(Statement):
    """`position [queries|keys] = value`; `axis` is None for both."""

    axis: str | None
    value: Expression


@dataclass(frozen=True, slots=True)
class Case(Node):
    selector: Selector
    value: Expression


@dataclass(frozen=True, slots=True)
class Let(Statement):
    """`let name(formals) = value`, or with `cases` by region when `value` is None."""

    name: str
    formals: tuple[str, ...]
    value: Expression | None
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Rule(Node):
    """`who sees whom : how` (`shows`), or `who cannot see whom : how`."""

    who: Selector
    whom: Selector
    how: Expression
    shows: bool


@dataclass(frozen=True, slots=True)
class Limit(Node):
    """`limit : how`: visible only if this holds too."""

    how: Expression


@dataclass(frozen=True, slots=True)
class Rules(Statement):
    """`rules [when condition]` and its lines."""

    when: Expression | None
    rules: tuple[Rule | Limit, ...]


@dataclass(frozen=True, slots=True)
class Order(Statement):
    """`order selector stored by coordinate`, or `order best` with no selector and no coordinate."""

    selector: Selector | None
    coordinate: Expression | None


@dataclass(frozen=True, slots=True)
class File:
    """One mask file. `comments` maps a 1-based line to its comment (with `#`), for the printer."""

    source: Source
    statements: tuple[Statement, ...]
    comments: dict[int, str] = field(default_factory=dict, compare=False)
