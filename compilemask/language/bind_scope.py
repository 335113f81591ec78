"""What the names of one file mean while it is bound for one sample and one head, and the findings on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compilemask.language import effort, syntax
from compilemask.language import program as ir
from compilemask.language.arithmetic import EvaluationError
from compilemask.language.axis import Axis, CoordinateKind, follows, leaves_by_name
from compilemask.language.findings import NAME_CODES, Findings, RejectError, reject
from compilemask.language.program import Side
from compilemask.language.values import Value
from compilemask.language.vocabulary import Kind, words
from compilemask.source import Span

MOST_NODES = 100_000
DEEPEST_EXPRESSION = 100


COORDINATES = ("index", "pos", "at", "t", "y", "x")
ATTRIBUTES = ("at", "number", "size")
RELATIONS = tuple(word.name for word in words(Kind.RELATION) if not word.called and word.name != "same")
CALLED_RELATIONS = tuple(word.name for word in words(Kind.RELATION) if word.called)
FUNCTIONS = tuple(word.name for word in words(Kind.FUNCTION))


def bracketed(span: Span) -> bool:
    """Whether an opening bracket stands right before the span in the text, or begins it."""
    line = span.source.line(span.line)
    return line[: span.column - 1].rstrip().endswith("(") or line[span.column - 1 :].startswith("(")


class Mode(Enum):
    """Where an expression stands: VALUE: no token (sizes, parameters, `when`); LAYOUT: sizes inside `repeat`, where a
    region's name is its number; TOKEN: one token; PAIR: HOW, a query and a key."""

    VALUE = auto()
    LAYOUT = auto()
    TOKEN = auto()
    PAIR = auto()


@dataclass(frozen=True, slots=True)
class Closure:
    """An argument of a `let`: an expression with the arguments that it may refer to itself."""

    expression: syntax.Expression
    arguments: Arguments


Arguments = dict[str, Closure]


@dataclass(frozen=True, slots=True)
class Context:
    """How names are to be read. `axes` are the axes that `side` THIS may stand for; `regions` the numbers of LAYOUT."""

    mode: Mode
    side: Side = Side.THIS
    axes: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    arguments: Arguments = field(default_factory=dict)
    without: tuple[str, ...] = ()
    without_reason: str = ""
    pinned: frozenset[str] = frozenset()

    def on(self, side: Side, axes: tuple[str, ...]) -> Context:
        """The same for one token."""
        return replace(self, mode=Mode.TOKEN, side=side, axes=axes)

    def with_arguments(self, arguments: Arguments) -> Context:
        """The same inside of a `let` with these arguments, or inside of an argument."""
        return replace(self, arguments=arguments)


@dataclass(frozen=True)
class AxisNames:
    """The regions of an axis by name, from the layout's text: the paths of its leaves from the outside in."""

    name: str
    paths: tuple[tuple[str, ...], ...]
    grids: bool

    @cached_property
    def regions(self) -> frozenset[str]:
        """All region names."""
        return frozenset(self._leaves)

    @cached_property
    def _leaves(self) -> dict[str, list[int]]:
        return leaves_by_name(self.paths)

    def around(self, region: str) -> frozenset[str]:
        """The names that stand around a region somewhere."""
        paths = [self.paths[leaf] for leaf in self._leaves.get(region, ())]
        return frozenset(name for path in paths for name in path[: path.index(region)])

    def leaves(self, path: tuple[str, ...]) -> list[int]:
        """The leaves where the names stand in one another in this order, as places in `paths`."""
        return [leaf for leaf in self._leaves.get(path[-1], ()) if follows(self.paths[leaf], path)]

    def has(self, path: tuple[str, ...]) -> bool:
        """Whether the names stand in one another in this order somewhere."""
        return bool(self.leaves(path))


Binder = Callable[["Scope", syntax.Expression, Context], ir.Expression]


class Scope:
    """All names of a file for one sample and head. Lookups note what was used, so that equal heads are bound once."""

    def __init__(self, findings: Findings, bind: Binder) -> None:
        self.findings = findings
        self.bind = bind
        self.parameters: dict[str, Value] = {}
        self.broken: set[str] = set()
        self.lets: dict[str, syntax.Let] = {}
        self.let_order: dict[str, int] = {}
        self.axis_names: dict[str, AxisNames] = {}
        self.axes: dict[str, Axis] = {}
        self.two_axes = False
        self.aligned = False
        self.per_head: frozenset[str] = frozenset()
        self.head: int | None = None
        self.batch: int | None = None
        self.used_head = False
        self.used_batch = False
        self.nodes = 0
        self.statement: Span | None = None
        self.depth = 0
        self.inlining: list[str] = []
        self.fixed_by_limit = False
        self.checked: set[tuple[int, int, ir.Rule | ir.Limit]] = set()
        self.skimmed: set[int] = set()
        self.selections: dict[tuple[int, ir.Selector], NDArray[np.int64]] = {}
        self.select: Callable[[Scope, syntax.Selector, Context], ir.Selector] = _no_selectors

    # ------------------------------------------------------------ lookups

    def parameter(self, name: str, span: Span) -> Value:
        """The value of a parameter."""
        if name in self.per_head:
            self.used_head = True
            if self.head is None:
                raise reject(
                    "head-in-layout",
                    f"`{name}` has a value per head, and the layout is the same for all heads",
                    span,
                    "use it in rules only",
                )
        return self.parameters[name]

    def sample(self, name: str, span: Span) -> Value:
        """The value of `head` or `batch`."""
        if name == "head":
            self.used_head = True
            if self.head is None:
                raise reject(
                    "head-in-layout",
                    "`head` cannot be used here: layout, positions and `heads` are the same for all heads",
                    span,
                    "use it in `rules when head == ...`, in a selector or in a relation",
                )
            return self.head
        self.used_batch = True
        return self.batch or 0

    def regions(self, axes: Iterable[str] = ()) -> frozenset[str]:
        """The region names of these axes, or of all."""
        chosen = tuple(axes) or tuple(self.axis_names)
        return frozenset(name for axis in chosen for name in self.axis_names[axis].regions)

    def many(self, region: str) -> bool:
        """Whether a region has several instances on some axis."""
        for axis in self.axes.values():
            table = axis.runs.regions.get(region)
            if table is not None and len(table.number) > 1:
                return True
        return False

    def check_position(self, by: ir.By, span: Span) -> None:
        """Refuse to compare `pos` of two axes that nothing relates."""
        if self.two_axes and not self.aligned and _uses_pos(by.parts):
            raise _not_aligned(span)

    def check_aligned(self, condition: ir.Expression, span: Span) -> None:
        """The same for a comparison of `q.` with `k.`."""
        if not self.two_axes or self.aligned:
            return
        parts = condition.parts if isinstance(condition, ir.AllOf | ir.AnyOf) else (condition,)
        for part in parts:
            if {Side.QUERY, Side.KEY} <= _pos_sides(part):
                raise _not_aligned(span)

    def known(self) -> set[str]:
        """Every name that an expression may use, for suggestions."""
        words = {*COORDINATES, *FUNCTIONS, *RELATIONS, *CALLED_RELATIONS, "head", "batch"}
        return words | set(self.parameters) | set(self.lets) | set(self.regions())

    def grow(self, span: Span) -> None:
        """Count one node of an expanded expression."""
        self.nodes += 1
        effort.spend(effort.A_PART, span)
        if self.nodes > MOST_NODES:
            raise reject(
                "expansion-too-large",
                f"this expands to more than {MOST_NODES:,} parts",
                self.statement or span,
                "a `let` that uses others twice doubles at each step: use fewer, or a list",
            )

    @contextmanager
    def names_only(self) -> Iterator[None]:
        """Bind a part that is not evaluated with these values: only unknown names and wrong forms are reported."""
        saved = self.used_head, self.used_batch, self.findings.muted
        self.findings.muted = True
        try:
            yield
        except RejectError as rejected:
            if rejected.diagnostic is not None and rejected.diagnostic.code in NAME_CODES:
                raise
        finally:
            self.used_head, self.used_batch, self.findings.muted = saved

    @contextmanager
    def inside(self, name: str, span: Span) -> Iterator[None]:
        """Guard the inlining of a `let` against depth; the order of the file keeps it from using itself."""
        if len(self.inlining) >= DEEPEST_EXPRESSION:
            raise reject("expansion-too-deep", f"more than {DEEPEST_EXPRESSION} `let`s in one another", span)
        self.inlining.append(name)
        try:
            yield
        finally:
            self.inlining.pop()


def _no_selectors(scope: Scope, node: syntax.Selector, context: Context) -> ir.Selector:
    raise AssertionError("selectors are bound by bind_selectors")


@contextmanager
def evaluating(span: Span | None, axis: Axis | None = None) -> Iterator[None]:
    """Give an evaluation error its place in the text and, where it belongs to a token, that token in words."""
    try:
        yield
    except EvaluationError as error:
        message = error.message
        if error.slot is not None and axis is not None:
            message = f"{message}, for {token_words(axis, error.slot)}"
        raise reject("evaluation", message, span, error.hint) from None


def token_words(axis: Axis, slot: int) -> str:
    """A token as people find it: `query 12 = answer[2] + 3`."""
    noun = {"queries": "query", "keys": "key"}.get(axis.name, "token")
    path = axis.path_of(slot)
    if not path:
        return f"{noun} {slot} (padding)"
    region, _, at = path[-1]
    names = ".".join(f"{name}[{number}]" for name, number, _ in path)
    return f"{noun} {slot} = {names} + {at}" if region else f"{noun} {slot}"


def _not_aligned(span: Span) -> RejectError:
    return reject(
        "not-aligned",
        "this compares `pos` of two axes, and nothing says how they stand to each other",
        span,
        "add `align start` (first query at first key) or `align end` (last at last), or `position queries = ...`",
    )


def _uses_pos(parts: tuple[ir.Part, ...]) -> bool:
    return any(_pos_sides(part.expression) for part in parts)


def _pos_sides(node: object) -> set[Side]:
    """The sides whose `pos` an expression uses."""
    if isinstance(node, ir.Coordinate):
        return {node.side} if node.kind is CoordinateKind.POS else set()
    if isinstance(node, tuple):
        return {side for item in node for side in _pos_sides(item)}
    if isinstance(node, ir.Selector):
        return set()
    if isinstance(node, ir.Bound):
        return {side for member in fields(node) for side in _pos_sides(getattr(node, member.name))}
    return set()
