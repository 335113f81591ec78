"""The relations with arguments: window, disc, box, path, rectangles, intervals, random."""

from __future__ import annotations

from compilemask.language import program as ir
from compilemask.language import syntax
from compilemask.language.axis import CoordinateKind
from compilemask.language.bind_arguments import Arguments
from compilemask.language.bind_coordinates import RuleTokens, default_by, grid_by
from compilemask.language.bind_expressions import require_number
from compilemask.language.bind_lists import interval_lists, parents_of, rectangle_rows
from compilemask.language.bind_scope import Context, Scope
from compilemask.language.findings import counted, reject
from compilemask.language.values import ANY, INT64_MAX, ListValue, Value, show
from compilemask.source import Span

LARGEST_BOX = 2**31
_SIDES = "say how many keys on each side: `window(behind=3, ahead=0)`; `any` is no bound"
_EDGES = "`edge=cut`: the window is cut at the border; `edge=shift`: it moves inwards and keeps its number of keys"
_LEANS = "`lean=behind` or `lean=ahead`: which side of an even size is longer"


def called_relation(
    scope: Scope, node: syntax.Call, context: Context, tokens: RuleTokens, given: ir.By | None
) -> ir.Relation:
    """A relation with arguments; `given` is the coordinate of an enclosing `by`."""
    match node.name:
        case "window":
            return _window(scope, node, context, given)
        case "disc":
            return _disc(scope, node, context, tokens, given)
        case "box":
            return _box(scope, node, context, tokens, given)
        case "path":
            return _path(scope, node, context, given)
        case "rectangles":
            return _rectangles(scope, node, context, given)
        case "intervals":
            return _intervals(scope, node, context, given)
        case _:
            return _random(scope, node, context, given)


def _one(by: ir.By, word: str) -> ir.By:
    if len(by.parts) != 1:
        raise reject("one-coordinate", f"`{word}` compares one coordinate, not {len(by.parts)}", by.span)
    return by


def _window(scope: Scope, node: syntax.Call, context: Context, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, ("behind", "ahead"), 0)
    behind, ahead = arguments.reach("behind", _SIDES), arguments.reach("ahead", _SIDES)
    by = given or default_by(scope, CoordinateKind.POS, node.span)
    return ir.Window(node.span, behind, ahead, _one(by, "window"))


def _disc(scope: Scope, node: syntax.Call, context: Context, tokens: RuleTokens, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, ("below", "upto", "edge"), 0)
    radii = [name for name in ("below", "upto") if name in arguments.named]
    if len(radii) != 1:
        raise arguments.missing("below", "`below=r`: squared distance < r * r; `upto=r`: <= r * r; exactly one of them")
    edges = arguments.words("edge", ("cut", "shift"), 1)
    if edges is None:
        raise arguments.missing("edge", "`edge=cut`: a disc is cut at the border; it cannot shift")
    if edges[0] == "shift":
        raise reject(
            "disc-shift", "a disc cannot shift at the border", arguments.named["edge"].span, "write `edge=cut`"
        )
    radius = arguments.bound(arguments.named[radii[0]])
    require_number(radius, f"`{radii[0]}`")
    if isinstance(radius, ir.Constant) and type(radius.value) is int:
        if radius.value < 0:
            text = arguments.how(arguments.named[radii[0]], radius.value)
            raise reject("too-small", f"`{radii[0]}` is {text}, at least 0 is needed", node.span)
        if radius.value > 2**31:
            raise reject("too-large", f"`{radii[0]}` is {radius.value}, at most 2^31 is allowed", node.span)
    return ir.Disc(node.span, radius, radii[0] == "upto", given or grid_by(scope, tokens, "disc", node.span))


# ---------------------------------------------------------------- box


def _box(scope: Scope, node: syntax.Call, context: Context, tokens: RuleTokens, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, ("edge", "lean", "dilation", "stride", "causal"), 3)
    sizes = _box_sizes(arguments)
    by = given or grid_by(scope, tokens, "box", node.span)
    if len(sizes) != len(by.parts):
        raise reject(
            "argument-count",
            f"`box` has {counted(len(sizes), 'size')} for {counted(len(by.parts), 'coordinate')}",
            node.span,
            "one size per coordinate, slowest first: `box(ky, kx, ...)`; `any` is the whole axis",
        )
    count = len(sizes)
    edges = arguments.words("edge", ("cut", "shift"), count)
    if edges is None:
        raise arguments.missing("edge", _EDGES)
    causal = [_flag(arguments, value) for value in arguments.each("causal", count, False)]
    leans = arguments.words("lean", ("behind", "ahead"), count)
    sides = tuple(
        ir.BoxSide(
            LARGEST_BOX if size is None and causal[place] else size,
            ir.Edge(edges[place]),
            _lean(arguments, size, causal[place], leans[place] if leans else None),
            _positive(arguments, "dilation", arguments.each("dilation", count, 1)[place]),
            _positive(arguments, "stride", arguments.each("stride", count, 1)[place]),
            causal[place],
        )
        for place, size in enumerate(sizes)
    )
    return ir.Box(node.span, sides, by)


def _box_sizes(arguments: Arguments) -> list[int | None]:
    node = arguments.node
    if not arguments.ordered:
        raise reject("argument-count", "`box` needs its sizes", node.span, "as in `box(3, 5, edge=shift)`")
    values: list[Value] = [arguments.constant(item, "a size") for item in arguments.ordered]
    if len(values) == 1 and isinstance(values[0], ListValue):
        values = list(values[0].items)
    sizes: list[int | None] = []
    for value in values:
        if value is ANY:
            sizes.append(None)
        elif type(value) is int and 1 <= value <= LARGEST_BOX:
            sizes.append(value)
        else:
            raise reject("box-size", f"a size of `box` is {show(value)}, expected 1 or more, or `any`", node.span)
    return sizes


def _lean(arguments: Arguments, size: int | None, causal: bool, word: str | None) -> ir.Lean:
    if size is None or size % 2 or causal:
        return ir.Lean.ODD
    if word is None:
        raise arguments.missing("lean", f"the size {size} is even. {_LEANS}")
    return ir.Lean(word)


def _flag(arguments: Arguments, value: Value) -> bool:
    if value in (0, 1):
        return bool(value)
    raise reject("not-a-condition", f"`causal` is {show(value)}, expected true, false, 1 or 0", arguments.node.span)


def _positive(arguments: Arguments, name: str, value: Value) -> int:
    if type(value) is int and 1 <= value <= 2**31:
        return value
    raise reject("too-small", f"`{name}` is {show(value)}, expected 1 or more", arguments.named[name].span)


# ---------------------------------------------------------------- lists


def _needs_by(node: syntax.Call, given: ir.By | None, example: str) -> ir.By:
    if given is None:
        raise reject("missing-by", f"`{node.name}` needs the coordinate it is about", node.span, f"write `{example}`")
    return _one(given, node.name)


def _path(scope: Scope, node: syntax.Call, context: Context, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, ("parents",), 1)
    source = arguments.ordered[0] if arguments.ordered else arguments.named.get("parents")
    if source is None:
        raise arguments.missing("parents", "as in `path(parents) by node`")
    by = _needs_by(node, given, "path(parents) by node")
    parents = arguments.bound(source)
    parents_of(scope, parents, source.span)
    return ir.Path(node.span, parents, by)


def _rectangles(scope: Scope, node: syntax.Call, context: Context, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, (), 1)
    source = _list_argument(arguments, "rectangles([[q0, q1, k0, k1], ...])")
    rows = rectangle_rows(scope, arguments.constant(source, "the list"), source.span, bounded=given is None)
    return ir.Rectangles(node.span, rows, _slots_by(scope, node, given))


def _intervals(scope: Scope, node: syntax.Call, context: Context, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, (), 1)
    source = _list_argument(arguments, "intervals([[[start, end], ...], ...])")
    offsets, starts, ends = interval_lists(scope, arguments.constant(source, "the list"), source.span, given is None)
    return ir.IntervalLists(node.span, offsets, starts, ends, _slots_by(scope, node, given))


def _list_argument(arguments: Arguments, usage: str) -> syntax.Expression:
    if not arguments.ordered:
        raise reject(
            "argument-count", f"`{arguments.node.name}` needs its list", arguments.node.span, f"as in `{usage}`"
        )
    return arguments.ordered[0]


def _slots_by(scope: Scope, node: syntax.Call, given: ir.By | None) -> ir.By:
    """Storage slots unless the text says `by`; a warning where `pos` counts otherwise."""
    if given is not None:
        return _one(given, node.name)
    if scope.aligned:
        scope.findings.warn(
            "slots-and-positions",
            f"`{node.name}` counts storage slots, and `pos` is shifted here by `align` or `position`",
            node.span,
            f"for positions write `{node.name}(...) by pos`; to keep slots write `by index`",
        )
    return default_by(scope, CoordinateKind.INDEX, node.span)


def _random(scope: Scope, node: syntax.Call, context: Context, given: ir.By | None) -> ir.Relation:
    arguments = Arguments.of(scope, node, context, ("count", "seed"), 0)
    for name in ("count", "seed"):
        if name not in arguments.named:
            raise arguments.missing(name, "as in `random(count=2, seed=7) by block`; `seed=7 + head` differs per head")
    count = arguments.whole(arguments.named["count"], "count", 1)
    seed = arguments.whole(arguments.named["seed"], "seed", 0)
    return ir.RandomKeys(node.span, count, seed, _needs_by(node, given, "random(count=2, seed=7) by block"))


def outside(span: Span | None, what: str, value: int, most: int) -> None:
    """Refuse a value that is out of an axis."""
    if not 0 <= value <= min(most, INT64_MAX):
        raise reject("out-of-axis", f"{what} {value} is outside of 0 to {most}", span)
