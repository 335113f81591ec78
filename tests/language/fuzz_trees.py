"""Random syntax trees: every node of the language, with names that may also be words of it."""

from __future__ import annotations

from hypothesis import strategies as st

from compilemask.language import syntax
from compilemask.source import Source, Span

NOWHERE = Span(Source("<made>", ""), 0, 0, 0, 0)
NAMES = st.sampled_from(
    [
        "a",
        "document",
        "first",
        "last",
        "limit",
        "best",
        "start",
        "stored",
        "repeat",
        "per",
        "of",
        "see",
        "title",
    ]
)
TEXTS = st.text("abc .,:#é()[]", max_size=6)


def _literal() -> st.SearchStrategy[syntax.Expression]:
    values = st.one_of(st.integers(0, (1 << 63) - 1), TEXTS, st.booleans())
    return values.map(lambda v: syntax.Literal(NOWHERE, v))


LEAVES = st.one_of(_literal(), NAMES.map(lambda n: syntax.Name(NOWHERE, n)), st.just(syntax.AnyLiteral(NOWHERE)))


def _inner(part: st.SearchStrategy[syntax.Expression]) -> st.SearchStrategy[syntax.Expression]:
    optional = st.none() | part
    argument = st.builds(syntax.Argument, st.just(NOWHERE), st.none() | NAMES, part)
    at = st.just(NOWHERE)
    return st.one_of(
        st.builds(syntax.Attribute, at, part, NAMES),
        st.builds(syntax.Index, at, part, part),
        st.builds(syntax.Slice, at, part, optional, optional),
        st.builds(syntax.Call, at, NAMES, st.lists(argument, max_size=2).map(tuple)),
        st.builds(syntax.ListOf, at, st.lists(part, max_size=3).map(tuple)),
        st.builds(syntax.TupleOf, at, st.lists(part, min_size=2, max_size=3).map(tuple)),
        st.builds(syntax.Unary, at, st.sampled_from(["-", "not"]), part),
        st.builds(syntax.Binary, at, st.sampled_from(["+", "-", "*", "//", "%", "and", "or", "except"]), part, part),
        st.builds(_compare, part, part, part, st.sampled_from(["<", "<=", "==", "!=", ">=", ">", "in", "not in"])),
        st.builds(syntax.Conditional, at, part, part, part),
        st.builds(syntax.Same, at, part),
        st.builds(syntax.By, at, part, part),
        st.builds(syntax.Within, at, part, NAMES),
    )


def _compare(a: syntax.Expression, b: syntax.Expression, c: syntax.Expression, operator: str) -> syntax.Expression:
    if operator in ("in", "not in"):
        return syntax.Compare(NOWHERE, (a, b), (operator,))
    return syntax.Compare(NOWHERE, (a, b, c), (operator, "<"))


EXPRESSIONS = st.recursive(LEAVES, _inner, max_leaves=8)
SMALL = st.recursive(LEAVES, _inner, max_leaves=3)
PATHS = st.lists(NAMES, min_size=1, max_size=2).map(lambda names: syntax.RegionPath(NOWHERE, tuple(names)))


def _selector(part: st.SearchStrategy[syntax.Selector]) -> st.SearchStrategy[syntax.Selector]:
    at = st.just(NOWHERE)
    return st.one_of(
        st.builds(syntax.Ends, at, st.sampled_from(["first", "last"]), SMALL, part),
        st.builds(syntax.Where, at, part, SMALL),
        st.builds(syntax.Union, at, st.lists(part, min_size=2, max_size=3).map(tuple)),
    )


SELECTORS = st.recursive(
    st.one_of(
        PATHS,
        st.just(syntax.Everything(NOWHERE)),
        st.builds(syntax.Numbered, st.just(NOWHERE), PATHS, SMALL),
        st.builds(syntax.Range, st.just(NOWHERE), PATHS, st.none() | SMALL, st.none() | SMALL),
    ),
    _selector,
    max_leaves=3,
)


def _group(part: st.SearchStrategy[syntax.Item]) -> st.SearchStrategy[syntax.Item]:
    items = st.lists(part, min_size=1, max_size=3).map(tuple)
    return st.builds(syntax.Group, st.just(NOWHERE), NAMES, st.none() | SMALL, items)


ITEMS = st.recursive(
    st.one_of(
        st.builds(syntax.Leaf, st.just(NOWHERE), NAMES, SMALL, st.none() | SMALL),
        st.builds(syntax.Padding, st.just(NOWHERE), SMALL),
    ),
    _group,
    max_leaves=4,
)
RULES = st.one_of(
    st.builds(syntax.Rule, st.just(NOWHERE), SELECTORS, SELECTORS, EXPRESSIONS, st.booleans()),
    st.builds(syntax.Limit, st.just(NOWHERE), EXPRESSIONS),
)
PARAMETERS = st.one_of(
    st.builds(
        syntax.Parameter,
        st.just(NOWHERE),
        NAMES,
        st.sampled_from([None, "batch", "head"]),
        st.none() | SMALL,
        st.none(),
    ),
    st.builds(syntax.Parameter, st.just(NOWHERE), NAMES, st.sampled_from([None, "batch", "head"]), st.none(), TEXTS),
)


def _tuples(part: st.SearchStrategy[object], least: int = 1) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(part, min_size=least, max_size=3).map(tuple)


REPEATABLE = st.one_of(
    st.builds(syntax.Include, st.just(NOWHERE), TEXTS),
    st.builds(syntax.Parameters, st.just(NOWHERE), _tuples(PARAMETERS)),
    st.builds(syntax.Require, st.just(NOWHERE), SMALL, st.none() | TEXTS),
    st.builds(syntax.Let, st.just(NOWHERE), NAMES, _tuples(NAMES, 0), EXPRESSIONS, st.just(())),
    st.builds(
        syntax.Let,
        st.just(NOWHERE),
        NAMES,
        _tuples(NAMES, 0),
        st.none(),
        _tuples(st.builds(syntax.Case, st.just(NOWHERE), SELECTORS, SMALL)),
    ),
    st.builds(syntax.Rules, st.just(NOWHERE), st.none() | SMALL, _tuples(RULES)),
    st.builds(syntax.Order, st.just(NOWHERE), SELECTORS, SMALL),
)
ONCE = st.one_of(
    st.builds(syntax.Title, st.just(NOWHERE), TEXTS),
    st.builds(syntax.Heads, st.just(NOWHERE), SMALL),
    st.builds(syntax.Layout, st.just(NOWHERE), st.sampled_from(["layout", "queries", "keys"]), _tuples(ITEMS)),
    st.builds(syntax.QueriesFrom, st.just(NOWHERE), SELECTORS),
    st.builds(syntax.Align, st.just(NOWHERE), st.sampled_from(["start", "end"]), st.none() | NAMES),
    st.builds(syntax.Position, st.just(NOWHERE), st.sampled_from([None, "queries", "keys"]), SMALL),
    st.just(syntax.Order(NOWHERE, None, None)),
)
FILES = st.builds(
    lambda once, others: syntax.File(NOWHERE.source, (*once, *others)),
    st.none().map(lambda _: ()) | ONCE.map(lambda s: (s,)),
    st.lists(REPEATABLE, max_size=3),
)
