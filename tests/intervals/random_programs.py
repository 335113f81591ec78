"""Random mask files that bind: layouts of several shapes, and rules over all relations and kinds of comparison."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

NUMBERS = (
    "pos",
    "index",
    "at",
    "r",
    "2 * at - r",
    "pos // 3",
    "pos % 4",
    "table[pos % 5]",
    "(pos * 7) % 11",
    "total",
    "place",
)
SIDED = (
    "{s}.pos",
    "{s}.index",
    "{s}.at",
    "{s}.r",
    "{s}.mark",
    "2 * {s}.at",
    "({s}.pos // 3)",
    "({s}.pos % 4)",
    "{s}.total",
    "{s}.place",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout block, the regions that selectors may name, and whether tokens have y and x, and numbers to nest."""

    text: str
    regions: tuple[str, ...]
    grid: bool = False
    region: str = "a"


LAYOUTS = (
    Layout("layout\n    a : [3, 0, 4]\n    b : 5\n", ("a", "b")),
    Layout("layout\n    a : 2\n    padding : 1\n    b : grid(3, 4)\n    padding : 2\n", ("a", "b"), grid=True),
    Layout("layout\n    b : [grid(2, 3), grid(3, 2)]\n    a : 2\n", ("a", "b"), grid=True, region="b"),
    Layout(
        "layout\n    doc repeat 3\n        a : 1 + doc\n        b : [2, 1]\n    padding : 1\n",
        ("a", "b", "doc", "doc.b"),
        region="doc",
    ),
    Layout(
        "queries\n    a : [3, 4]\n    b : 2\nkeys\n    b : 3\n    a : [4, 2]\n    padding : 1\nalign end\n", ("a", "b")
    ),
    Layout("layout\n    a : [4, 5] stored by 0 - at\n    b : 6 stored by at % 2\n", ("a", "b")),
)


def number(layout: Layout) -> st.SearchStrategy[str]:
    """A coordinate of one token."""
    grids = ("x", "y + x") if layout.grid else ()
    return st.sampled_from(NUMBERS + grids).map(lambda text: text.replace("r", layout.region) if "r" in text else text)


@st.composite
def sums(draw: st.DrawFn, layout: Layout, side: str) -> str:
    """A term of the query or of the key."""
    return draw(st.sampled_from(SIDED)).format(s=side).replace(".r", f".{layout.region}")


@st.composite
def conditions(draw: st.DrawFn, layout: Layout) -> str:
    """A comparison of the query with the key."""
    q, k = draw(sums(layout, "q")), draw(sums(layout, "k"))
    small = draw(st.integers(-2, 6))
    operator = draw(st.sampled_from(["<", "<=", "==", "!=", ">=", ">"]))
    shape = draw(
        st.sampled_from(
            (
                "{q} {o} {k}",
                "{q} - {k} {o} {n}",
                "{k} + {n} {o} {q}",
                "({q} + {k}) % 3 {o} {m}",
                "({q} - {k}) % 4 {o} {m}",
                "abs({q} - {k}) {o} {n}",
                "({q} - {k}) // 2 {o} {n}",
                "max({q}, {k}) {o} {n}",
                "min({q} + 1, {k}, {n}) {o} {m}",
                "{q} * {k} % 3 {o} {m}",
                "{k} in [{n}, 1, 3]",
                "{q} - {k} in [0, {m}, 2]",
                "{k} not in [{n}, 2]",
                "table[{q} % 5] {o} {k}",
                "grid_of[{q} % 3][{k} % 3] {o} {m}",
                "({q}, {k}) == ({k}, {q})",
                "(q.at, q.pos) {o} (k.at, k.pos)",
                "{q} {o} {n}",
                "{k} {o} {m}",
                "({q} if q.pos % 2 == 0 else {k}) {o} {n}",
                "q.word == k.word",
                "k.word in words[q.pos % 2]",
                "k.pos in lists[q.pos % 3]",
                "{q} in lists[k.pos % 3]",
                "count([1, 2, 5, 5], {q} - {k}) {o} {m}",
                "len(lists[q.pos % 3]) {o} {k}",
                "q.pos - k.pos <= reach[q.pos % 3]",
                "{k} != 0 and {q} % {k} {o} {m}",
                "not {q} {o} {k}",
                "{q} < {k} < {n} + {q}",
            )
        )
    )
    return f"({shape.format(q=q, k=k, o=operator, n=small, m=draw(st.integers(0, 3)))})"


@st.composite
def relations(draw: st.DrawFn, layout: Layout, depth: int = 2) -> str:
    """A relation, in brackets where that is needed."""
    if depth and draw(st.booleans()):
        left, right = draw(relations(layout, depth - 1)), draw(relations(layout, depth - 1))
        word = draw(st.sampled_from(["and", "or", "except", "not"]))
        return f"(not {left})" if word == "not" else f"({left} {word} {right})"
    by = draw(number(layout))
    behind, ahead = draw(st.sampled_from(["any", "0", "1", "3"])), draw(st.sampled_from(["any", "0", "2"]))
    simple = [
        "all",
        "none",
        "causal",
        "before",
        "self",
        f"(causal by ({by}))",
        f"(before by ({by}))",
        f"(same ({by}))",
        f"(same {layout.region})",
        f"(causal within {layout.region})",
        f"window(behind={behind}, ahead={ahead})",
        f"(window(behind={behind}, ahead={ahead}) by ({by}))",
        "window(behind=table[q.at % 5], ahead=q.at)",
        "window(behind=reach[q.pos % 3], ahead=any)",
        "(same word)",
        "(same (pos % 2 == 0))",
        "(same (word, pos % 2))",
        f"(causal by (at, {by}))",
        f"(disc(upto={draw(st.integers(0, 3))}, edge=cut) by (at, {by}))",
        f"(box({draw(st.integers(1, 4))}, edge=shift, lean=behind) by at)",
        "(box(3, 2, edge=cut, lean=ahead, dilation=[2, 1]) by (at, index))",
        "(path(parents) by (pos % 6))",
        "rectangles([[0, 3, 1, 5], [2, 5, 0, 2], [3, 5, 2, 5, -2, 1]])",
        f"(random(count=2, seed=3) by ({draw(st.sampled_from(['index', 'index // 3', 'at']))}))",
    ]
    if layout.grid:
        simple += ["disc(below=2, edge=cut)", "box(3, any, edge=shift)", "box(2, 3, edge=shift, lean=ahead, stride=2)"]
    return draw(st.one_of(st.sampled_from(simple), conditions(layout)))


@st.composite
def selectors(draw: st.DrawFn, layout: Layout) -> str:
    """WHO or WHOM."""
    region = draw(st.sampled_from((*layout.regions, "everything")))
    shape = draw(
        st.sampled_from(("{r}", "{r}", "everything", "first 2 of {r}", "last 1 of {r}", "{r} where at % 2 == 0"))
    )
    return shape.format(r=region)


@st.composite
def mask_texts(draw: st.DrawFn) -> str:
    """A whole file."""
    layout = draw(st.sampled_from(LAYOUTS))
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        who, whom = draw(selectors(layout)), draw(selectors(layout))
        verb = draw(st.sampled_from(["sees", "sees", "cannot see"]))
        lines.append(f"{who} {verb} {whom} : {draw(relations(layout))}")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"limit : {draw(relations(layout, 1))}")
    return file_of(layout, lines)


def file_of(layout: Layout, rules: list[str]) -> str:
    """A whole file of these rules, with the parameters and coordinates that they may use."""
    lines = [
        "param table = [3, 1, 4, 1, 5], grid_of = [[0, 1, 2], [2, 0, 1], [1, 1, 0]], parents = [-1, 0, 0, 1, 3, 2]\n",
        layout.text,
        'param words = [["x"], ["y", "z"]], lists = [[1, 2], [], [0, 4, 5]], reach = [any, 1, 3]\n',
        'let mark\n    a : at\nlet word = ["x", "y", "x", "z"][pos % 4]\nlet total = cumsum(pos % 3)\n',
        "let place = find([4, 2, 0, 3], pos % 6)\n",
        "rules\n",
    ]
    return "".join(lines + [f"    {rule}\n" for rule in rules])
