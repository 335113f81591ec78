"""Every word of the language that means something by itself: how it is written, what it means, a mask that uses it.

The checker, completion and the reference read this one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache


class Kind(Enum):
    """Where a word stands."""

    STATEMENT = "statement"
    ITEM = "line of a layout"
    RULE = "line of rules"
    SELECTOR = "selector"
    RELATION = "relation"
    QUALIFIER = "qualifier"
    COORDINATE = "coordinate"
    FUNCTION = "function"
    OPERATOR = "operator"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Word:
    """One entry. `keywords` are the named arguments of a call; `called` tells whether it takes brackets.

    `example` is a whole mask file of at most six lines, or empty. `view` names queries of a grid:
    (height, width, queries), whose keys are drawn on the grid instead of the whole matrix.
    """

    name: str
    kind: Kind
    signature: str
    meaning: str
    example: str = ""
    keywords: tuple[str, ...] = ()
    called: bool = False
    view: tuple[int, int, tuple[int, ...]] | None = None


def _layout(size: str, rules: str, name: str = "token") -> str:
    return f"layout\n    {name} : {size}\nrules\n    {rules}\n"


_STATEMENTS = (
    Word("title", Kind.STATEMENT, 'title "TEXT"', "What the mask is called in tables and pictures."),
    Word(
        "include",
        Kind.STATEMENT,
        'include "FILE.mask"',
        "The statements of another file in the same folder or below it, as if they stood here.",
    ),
    Word(
        "param",
        Kind.STATEMENT,
        'param NAME [per batch|head] [= VALUE | from "FILE"]',
        "A value that whoever uses the mask may set; several in one line stand between commas.",
    ),
    Word("require", Kind.STATEMENT, 'require CONDITION, "TEXT"', "Checked for every sample before anything is built."),
    Word(
        "heads",
        Kind.STATEMENT,
        "heads NUMBER",
        "How many query heads the mask has; without it one mask serves all heads.",
    ),
    Word("layout", Kind.STATEMENT, "layout", "The regions of the tokens, for queries and keys alike."),
    Word(
        "queries",
        Kind.STATEMENT,
        "queries  |  queries are SELECTOR",
        "The regions of the queries; or: only these tokens ask.",
    ),
    Word("keys", Kind.STATEMENT, "keys", "The regions of the keys, beside `queries`."),
    Word(
        "align",
        Kind.STATEMENT,
        "align start|end [within REGION]",
        "Which query stands at which key: the first at the first, or the last at the last, padding left out.",
    ),
    Word("position", Kind.STATEMENT, "position [queries|keys] = VALUE", "Gives `pos` by arithmetic or from a table."),
    Word(
        "let",
        Kind.STATEMENT,
        "let NAME[(ARGUMENTS)] = VALUE  |  let NAME and a case per region",
        "A name for a number, a coordinate or a relation; it may use only names above it.",
    ),
    Word("rules", Kind.STATEMENT, "rules [when CONDITION]", "Who sees whom; from top to bottom, a later rule wins."),
    Word(
        "order",
        Kind.STATEMENT,
        "order SELECTOR stored by COORDINATE  |  order best",
        "In which order the kernel runs the tokens; it never changes the mask.",
    ),
)

_ITEMS = (
    Word(
        "padding",
        Kind.ITEM,
        "padding : SIZE",
        "Tokens that see nothing and that nobody sees; they belong to no region.",
    ),
    Word(
        "repeat",
        Kind.ITEM,
        "REGION  |  REGION repeat NUMBER",
        "One instance, or so many, each with the regions of the block below it.",
    ),
    Word(
        "stored", Kind.ITEM, "REGION : SIZE stored by COORDINATE", "The region lies in memory sorted by a coordinate."
    ),
)

_RULES = (
    Word(
        "sees",
        Kind.RULE,
        "WHO sees WHOM : HOW",
        "Shows the pairs for which HOW holds.",
        _layout("6", "token sees token : causal"),
    ),
    Word(
        "cannot see",
        Kind.RULE,
        "WHO cannot see WHOM : HOW",
        "Hides the pairs for which HOW holds.",
        _layout("6", "token sees token                  : causal\n    token cannot see first 2 of token : q.pos > 3"),
    ),
    Word(
        "limit",
        Kind.RULE,
        "limit : HOW",
        "One of the rules, indented as they are, before or after any: a pair is visible only if HOW holds too.",
        _layout("6", "token sees token : window(behind=2, ahead=2)\n    limit : causal"),
    ),
)

_SELECTORS = (
    Word("everything", Kind.SELECTOR, "everything", "All tokens of the axis but padding."),
    Word(
        "first",
        Kind.SELECTOR,
        "first N of SELECTOR",
        "Tokens whose `at` in the selector's region is below N, in each instance.",
    ),
    Word(
        "last",
        Kind.SELECTOR,
        "last N of SELECTOR",
        "The N tokens at the end of each instance of the selector's region.",
    ),
    Word(
        "where",
        Kind.SELECTOR,
        "SELECTOR where CONDITION",
        "Those of the tokens for which a condition on their own coordinates holds.",
    ),
)

_DOCUMENTS = "layout\n    document : [3, 4, 1]\nrules\n    document sees document : "
_GRID = "layout\n    image : grid(6, 9)\nrules\n    image sees image : "

_RELATIONS = (
    Word("all", Kind.RELATION, "all", "Every pair.", _layout("[2, 3]", "part[1] sees part : all", "part")),
    Word(
        "none",
        Kind.RELATION,
        "none",
        "No pair; for a `let` or an `if` that may show nothing.",
        _layout("4", "token sees token : none"),
    ),
    Word(
        "causal",
        Kind.RELATION,
        "causal",
        "The key's position is not after the query's.",
        _layout("8", "token sees token : causal"),
    ),
    Word(
        "before",
        Kind.RELATION,
        "before",
        "The key's position is before the query's: never itself.",
        _layout("8", "token sees token : before"),
    ),
    Word(
        "self",
        Kind.RELATION,
        "self",
        "Both have the same position: the diagonal.",
        _layout("8", "token sees token : self"),
    ),
    Word(
        "same",
        Kind.RELATION,
        "same COORDINATE",
        "Both have the same value of a coordinate; a token that lacks it matches nothing.",
        f"{_DOCUMENTS}same document\n",
    ),
    Word(
        "window",
        Kind.RELATION,
        "window(behind=N, ahead=N)",
        "At most so many positions behind and ahead, the token itself not counted; `any` is no bound.",
        _layout("8", "token sees token : window(behind=2, ahead=1)"),
        ("behind", "ahead"),
        True,
    ),
    Word(
        "disc",
        Kind.RELATION,
        "disc(below=R, edge=cut)  |  disc(upto=R, edge=cut)",
        "The squared distance on the grid is below R*R; with `upto` it may be equal.",
        f"{_GRID}disc(below=3, edge=cut)\n",
        ("below", "upto", "edge"),
        True,
        (6, 9, (0, 31)),
    ),
    Word(
        "box",
        Kind.RELATION,
        "box(K, ..., edge=cut|shift, lean=behind|ahead, dilation=, stride=, causal=)",
        "So many keys per grid coordinate around the query, cut at the border or shifted inwards.",
        f"{_GRID}box(3, 5, edge=shift)\n",
        ("edge", "lean", "dilation", "stride", "causal"),
        True,
        (6, 9, (0, 31)),
    ),
    Word(
        "path",
        Kind.RELATION,
        "path(PARENTS) by COORDINATE",
        "The key lies on the way from the query's node to its root, both ends included.",
        "layout\n    node : [1, 1, 1, 1, 1, 1]\nrules\n    node sees node : path([-1, 0, 0, 1, 1, 2]) by node\n",
        (),
        True,
    ),
    Word(
        "rectangles",
        Kind.RELATION,
        "rectangles([[Q0, Q1, K0, K1], ...])",
        "A rectangle [Q0, Q1) x [K0, K1) holds the pair; two more numbers bound its diagonal, LO <= k - q <= HI.",
        _layout("8", "token sees token : rectangles([[0, 3, 0, 5], [4, 8, 2, 4]])"),
        (),
        True,
    ),
    Word(
        "intervals",
        Kind.RELATION,
        "intervals([[[START, END], ...], ...])",
        "Entry q lists the intervals [START, END) of keys that query q sees.",
        _layout("4", "token sees token : intervals([[[0, 1]], [[0, 2]], [], [[0, 1], [3, 4]]])"),
        (),
        True,
    ),
    Word(
        "random",
        Kind.RELATION,
        "random(count=N, seed=S) by COORDINATE",
        "N key values drawn for every query value, the same on every machine.",
        _layout("8", "token sees token : random(count=2, seed=7) by (pos // 2)"),
        ("count", "seed"),
        True,
    ),
)

_QUALIFIERS = (
    Word(
        "by",
        Kind.QUALIFIER,
        "RELATION by COORDINATE",
        "The relation compares this coordinate instead of `pos`.",
        _layout("8", "token sees token : causal by (pos // 3)"),
    ),
    Word(
        "within",
        Kind.QUALIFIER,
        "RELATION within REGION",
        "Both tokens are in the same instance of a region, and the relation holds.",
        f"{_DOCUMENTS}causal within document\n",
    ),
)

_COORDINATES = (
    Word("pos", Kind.COORDINATE, "pos", "Place in the written layout, or what `align` and `position` say."),
    Word("at", Kind.COORDINATE, "at  |  REGION.at", "How many tokens of its instance were written before it."),
    Word("index", Kind.COORDINATE, "index", "Storage slot on its axis, padding counted."),
    Word("t", Kind.COORDINATE, "t", "First coordinate of a grid of three."),
    Word("y", Kind.COORDINATE, "y", "Row in a grid of two or three."),
    Word("x", Kind.COORDINATE, "x", "Column in a grid."),
    Word(
        "number",
        Kind.COORDINATE,
        "REGION  |  REGION.number",
        "Number of its instance of a region within the enclosing region, from 0.",
    ),
    Word("size", Kind.COORDINATE, "REGION.size", "How many tokens its instance of a region has."),
    Word("q", Kind.COORDINATE, "q.COORDINATE", "The query's coordinate, in HOW."),
    Word("k", Kind.COORDINATE, "k.COORDINATE", "The key's coordinate, in HOW."),
    Word("head", Kind.COORDINATE, "head", "Number of the query head, from 0."),
    Word("batch", Kind.COORDINATE, "batch", "Number of the sample, from 0."),
)

_FUNCTIONS = (
    ("len", "len(LIST)", "Number of entries."),
    ("sum", "sum(LIST)", "Sum of the entries; of an empty list 0."),
    ("min", "min(A, B, ...)  |  min(LIST)", "Smallest; of an empty list an error."),
    ("max", "max(A, B, ...)  |  max(LIST)", "Largest; of an empty list an error."),
    ("abs", "abs(A)", "Without its sign."),
    ("range", "range(STOP)  |  range(START, STOP)", "The list START, START + 1, ..., STOP - 1."),
    ("diff", "diff(LIST)", "Differences of neighbours: the sizes between cumulative lengths."),
    (
        "cumsum",
        "cumsum(LIST)  |  cumsum(COORDINATE)",
        "Running totals of a list, or of a coordinate over the tokens up to this one.",
    ),
    ("runs", "runs(LIST)", "Lengths of the runs of equal entries: sizes from ids."),
    ("count", "count(LIST, X)", "How many entries of a sorted list are <= X."),
    ("find", "find(LIST, X)", "Place of the first entry that equals X; absent if there is none."),
    ("grid", "grid(H, W)", "The size of a region with coordinates: x; y x; or t y x."),
    ("morton", "morton(Y, X)", "The bits of Y and X interleaved: a Z-shaped order."),
    ("hilbert", "hilbert(Y, X)", "Place on a Hilbert curve: neighbours on it are neighbours on the grid."),
)

_OPERATORS = (
    ("and", "A and B", "Both hold."),
    ("or", "A or B", "One of them holds."),
    ("except", "A except B", "A holds and B does not; beside `and` or `or` it needs brackets."),
    ("not", "not A", "A does not hold."),
    ("in", "A in LIST", "An entry of the list equals A."),
    ("not in", "A not in LIST", "No entry of the list equals A."),
    ("if", "A if CONDITION else B", "One of two values or relations."),
)

_VALUES = (
    ("any", "any", "No bound: for the sides of a window and the sizes of a box."),
    ("true", "true", "The condition that always holds."),
    ("false", "false", "The condition that never holds."),
)

WORDS: tuple[Word, ...] = (
    *_STATEMENTS,
    *_ITEMS,
    *_RULES,
    *_SELECTORS,
    *_RELATIONS,
    *_QUALIFIERS,
    *_COORDINATES,
    *(Word(name, Kind.FUNCTION, signature, meaning, called=True) for name, signature, meaning in _FUNCTIONS),
    *(Word(name, Kind.OPERATOR, signature, meaning) for name, signature, meaning in _OPERATORS),
    *(Word(name, Kind.VALUE, signature, meaning) for name, signature, meaning in _VALUES),
)


def words(kind: Kind) -> tuple[Word, ...]:
    """The entries of one kind, in the order of the reference."""
    return tuple(word for word in WORDS if word.kind is kind)


@cache
def by_name() -> dict[str, Word]:
    """The entries by their word."""
    return {word.name: word for word in WORDS}
