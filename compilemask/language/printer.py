"""Syntax tree to canonical text: four spaces, aligned colons, at most one empty line, every comment kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from compilemask.language import syntax
from compilemask.language.printer_expressions import format_expression, format_selector
from compilemask.source import Source

INDENT = 4
MAX_WIDTH = 120
_ALIGN_NAMES = 12
_ALIGN_WHO = 6
_ALIGN_COLONS = 40


@dataclass(frozen=True, slots=True)
class _Line:
    """One line to print: `head mark tail`, and the lines of the source, first to last, that it comes from."""

    depth: int
    head: str
    mark: str
    tail: str
    first: int
    last: int

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.head, self.mark, self.tail) if part)


def format_file(file: syntax.File) -> str:
    """The canonical text of a file. Formatting it again changes nothing; its tree equals that of the file."""
    lines = _lines(file.statements, file.comments)
    return "".join(f"{line}\n" for line in _with_comments(file.source, file.comments, lines))


# ---------------------------------------------------------------- statements


def source_lines(file: syntax.File) -> frozenset[int]:
    """The 1-based lines of the source that the tree was read from."""
    lines = _lines(file.statements, file.comments)
    return frozenset(number for line in lines for number in range(line.first, line.last + 1))


def _lines(statements: Sequence[syntax.Statement], comments: Collection[int]) -> list[_Line]:
    """All lines; neighbouring one-line statements of one kind have their `=` aligned."""
    lines: list[_Line] = []
    group: list[_Line] = []
    kind: type[syntax.Statement] | None = None
    for statement in statements:
        own = _statement(statement)
        joins = len(own) == 1 and own[0].mark == "="
        if kind is not type(statement) or not joins or (group and _parted(group[-1], own[0], comments)):
            lines += _aligned(group, _ALIGN_NAMES)
            group = []
        kind = type(statement)
        if joins:
            group += own
        else:
            lines += own
    return lines + _aligned(group, _ALIGN_NAMES)


def _parted(line: _Line, following: _Line, comments: Collection[int]) -> bool:
    """Whether something stands between two lines, or will: all comments inside a line but the last go before it."""
    inside = sum(following.first <= number <= following.last for number in comments)
    return following.first > line.last + 1 or inside > 1


def _aligned(lines: Sequence[_Line], limit: int) -> list[_Line]:
    """The lines with their heads padded to one width, unless the widths differ too much."""
    widths = [len(line.head) for line in lines]
    width = max(widths, default=0)
    if not widths or width - min(widths) > limit:
        return list(lines)
    return [replace(line, head=line.head.ljust(width)) for line in lines]


def _statement(node: syntax.Statement) -> list[_Line]:
    match node:
        case syntax.Layout():
            return [_line(node, 0, node.axis), *_items(node.items, 1)]
        case syntax.Let(value=None):
            cases = [_line(c, 1, format_selector(c.selector), ":", format_expression(c.value)) for c in node.cases]
            return [_line(node, 0, f"let {_signature(node)}"), *_aligned(cases, _ALIGN_COLONS)]
        case syntax.Rules():
            when = f" when {format_expression(node.when)}" if node.when else ""
            return [_line(node, 0, f"rules{when}"), *_rules(node.rules)]
        case _:
            head, mark, tail = _one_line(node)
            return [_line(node, 0, head, mark, tail)]


def _one_line(node: syntax.Statement) -> tuple[str, str, str]:
    match node:
        case syntax.Title():
            return f'title "{node.text}"', "", ""
        case syntax.Include():
            return f'include "{node.path}"', "", ""
        case syntax.Parameters():
            return _parameters(node.parameters)
        case syntax.Require():
            text = f', "{node.text}"' if node.text is not None else ""
            return f"require {format_expression(node.condition)}{text}", "", ""
        case syntax.Heads():
            return f"heads {format_expression(node.count)}", "", ""
        case syntax.QueriesFrom():
            return f"queries are {format_selector(node.selector)}", "", ""
        case syntax.Align():
            return f"align {node.side}" + (f" within {node.within}" if node.within else ""), "", ""
        case syntax.Position():
            return f"position {node.axis}" if node.axis else "position", "=", format_expression(node.value)
        case syntax.Let(value=syntax.Expression() as value):
            return f"let {_signature(node)}", "=", format_expression(value)
        case syntax.Order(selector=syntax.Selector() as selector, coordinate=syntax.Expression() as coordinate):
            return f"order {format_selector(selector)} stored by {format_expression(coordinate)}", "", ""
        case syntax.Order():
            return "order best", "", ""
        case _:
            raise TypeError(f"no text for {type(node).__name__}")


def _parameters(parameters: Sequence[syntax.Parameter]) -> tuple[str, str, str]:
    if len(parameters) == 1 and parameters[0].default is not None:
        parameter = parameters[0]
        return f"param {_declared(parameter)}", "=", format_expression(parameters[0].default)
    return "param " + ", ".join(map(_parameter, parameters)), "", ""


def _declared(parameter: syntax.Parameter) -> str:
    return f"{parameter.name} per {parameter.per}" if parameter.per else parameter.name


def _parameter(parameter: syntax.Parameter) -> str:
    text = _declared(parameter)
    if parameter.file is not None:
        return f'{text} from "{parameter.file}"'
    return text if parameter.default is None else f"{text} = {format_expression(parameter.default)}"


def _signature(node: syntax.Let) -> str:
    return f"{node.name}({', '.join(node.formals)})" if node.formals else node.name


# ---------------------------------------------------------------- lines of blocks


def _items(items: Sequence[syntax.Item], depth: int) -> list[_Line]:
    sized: list[tuple[int, _Line]] = []
    lines: list[list[_Line]] = []
    for item in items:
        if isinstance(item, syntax.Group):
            head = item.name + (f" repeat {format_expression(item.repeat)}" if item.repeat else "")
            lines.append([_line(item, depth, head), *_items(item.items, depth + 1)])
        else:
            sized.append((len(lines), _sized(item, depth)))
            lines.append([])
    aligned = _aligned([line for _, line in sized], _ALIGN_COLONS)
    for (at, _), line in zip(sized, aligned, strict=True):
        lines[at] = [line]
    return [line for group in lines for line in group]


def _sized(item: syntax.Item, depth: int) -> _Line:
    match item:
        case syntax.Leaf():
            stored = f" stored by {format_expression(item.stored_by)}" if item.stored_by else ""
            return _line(item, depth, item.name, ":", format_expression(item.size) + stored)
        case syntax.Padding():
            return _line(item, depth, "padding", ":", format_expression(item.size))
        case _:
            raise TypeError(f"no text for {type(item).__name__}")


def _rules(rules: Sequence[syntax.Rule | syntax.Limit]) -> list[_Line]:
    """Aligned colons, and an aligned verb where the words before it are about as long."""
    who = [format_selector(rule.who) for rule in rules if isinstance(rule, syntax.Rule)]
    widths = [len(text) for text in who]
    width = max(widths, default=0) if max(widths, default=0) - min(widths, default=0) <= _ALIGN_WHO else 0
    heads = [_head(rule, width) for rule in rules if isinstance(rule, syntax.Rule)]
    lengths = [len(head) for head in heads]
    colon = max(lengths, default=0) if max(lengths, default=0) - min(lengths, default=0) <= _ALIGN_COLONS else 0
    lines = []
    for rule in rules:
        head = _head(rule, width).ljust(colon) if isinstance(rule, syntax.Rule) else "limit"
        lines.append(_line(rule, 1, head, ":", format_expression(rule.how)))
    return lines


def _head(rule: syntax.Rule, width: int) -> str:
    verb = "sees" if rule.shows else "cannot see"
    return f"{format_selector(rule.who).ljust(width)} {verb} {format_selector(rule.whom)}"


def _line(node: syntax.Node, depth: int, head: str, mark: str = "", tail: str = "") -> _Line:
    last = node.span.line if not mark and not tail and _has_block(node) else node.span.end_line
    return _Line(depth, head, mark, tail, node.span.line, last)


def _has_block(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Layout | syntax.Rules | syntax.Group) or (
        isinstance(node, syntax.Let) and node.value is None
    )


# ---------------------------------------------------------------- comments, empty lines, long lines


def _with_comments(source: Source, comments: dict[int, str], lines: Sequence[_Line]) -> Iterator[str]:
    """The lines as text, each comment before or behind the line that it stands at."""
    rows = source.text.split("\n")
    waiting = sorted(comments)
    previous = 0
    depth = 0
    for line in lines:
        while waiting and waiting[0] < line.first:
            number = waiting.pop(0)
            inside = _indentation(rows[number - 1]) > 0
            yield from _gap(rows, previous, number)
            yield " " * INDENT * (max(depth, line.depth) if inside else 0) + comments[number]
            previous = number
        here = [number for number in waiting if number <= line.last]
        del waiting[: len(here)]
        if line.first > 0:
            yield from _gap(rows, previous, min([*here[:1], line.first]))
        for number in here[:-1]:
            yield " " * INDENT * line.depth + comments[number]
        behind = f"  {comments[here[-1]]}" if here else ""
        yield from _broken(" " * INDENT * line.depth + line.text + behind, len(behind))
        previous = max(previous, line.last)
        depth = line.depth
    for number in waiting:
        inside = _indentation(rows[number - 1]) > 0
        yield from _gap(rows, previous, number)
        yield " " * INDENT * (depth if inside else 0) + comments[number]
        previous = number


def _indentation(row: str) -> int:
    return len(row) - len(row.lstrip())


def _gap(rows: list[str], previous: int, following: int) -> Iterator[str]:
    """One empty line if the source has any between these two lines of it."""
    if previous > 0 and any(not row.strip() for row in rows[previous : following - 1]):
        yield ""


def _broken(text: str, behind: int) -> Iterator[str]:
    """A long line, broken after commas inside brackets; the comment of `behind` characters does not count."""
    indent = " " * (_indentation(text) + INDENT)
    depth = 0
    while len(text) - behind > MAX_WIDTH:
        found = _break(text[: len(text) - behind], depth)
        if found is None:
            break
        at, depth = found
        yield text[:at]
        text = indent + text[at + 1 :]
    yield text


def _break(text: str, depth: int) -> tuple[int, int] | None:
    """Where to break, and in how many brackets: after the last comma, of the outermost bracket, that fits the line.

    `depth` counts the brackets that are open before the text.
    """
    quoted = False
    best: dict[int, int] = {}
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth > 0 and (at < MAX_WIDTH or not best):
            best[depth] = at + 1
    if not best:
        return None
    outermost = min(best)
    return best[outermost], outermost
