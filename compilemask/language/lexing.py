"""Text to tokens: words, numbers, strings, marks, comments, and the logical lines they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compilemask.source import Diagnostic, Severity, Source, Span

MAX_TEXT = 1 << 20
MAX_TOKENS = 100_000
MAX_BRACKETS = 40
MAX_ERRORS = 50

_TOKEN = re.compile(
    r'(?P<WORD>[A-Za-z_][A-Za-z0-9_]*)|(?P<NUMBER>[0-9][0-9_]*)|(?P<STRING>"[^"\n]*")'
    r"|(?P<MARK><=|>=|==|!=|//|[<>=+\-*%.,:()\[\]])|(?P<SPACE>[ \t]+)|(?P<COMMENT>\#.*)|(?P<BAD>.)"
)
_LONG = 'keep long tables in a .json or .npy file: param table from "table.json"'
_OPENING = {"(": ")", "[": "]"}
_CLOSING = frozenset(_OPENING.values())


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is WORD, NUMBER, STRING or MARK here; the parser turns a word into a name or a keyword."""

    kind: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """One line, or several joined inside brackets. A line that could not be read is `broken` and has no tokens."""

    indent: int
    tokens: tuple[Token, ...]
    span: Span
    broken: bool = False


@dataclass(slots=True)
class Scan:
    """What a text consists of. `comments` maps a 1-based line to its comment."""

    lines: list[LogicalLine] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(Severity.ERROR, code, message, span, hint))

    @property
    def full(self) -> bool:
        return len(self.diagnostics) >= MAX_ERRORS


@dataclass(frozen=True, slots=True)
class _Physical:
    """One line of the text: its tokens, and whether all of them could be read."""

    number: int
    tokens: tuple[Token, ...]
    good: bool


def scan(source: Source, statements: frozenset[str]) -> Scan:
    """All logical lines of a text. `statements` are the words that start one: they end an unclosed bracket."""
    result = Scan()
    if len(source.text) > MAX_TEXT:
        span = Span(source, 1, 1, 1, 2)
        message = f"this file has {len(source.text):,} characters; at most {MAX_TEXT:,} are read"
        result.report(
            "too-long", message, span, 'keep long tables in a .json or .npy file: param table from "table.json"'
        )
        return result
    physical = [line for line in _physical_lines(source, result) if line.tokens or not line.good]
    if sum(len(line.tokens) for line in physical) > MAX_TOKENS:
        message = f"this file has more than {MAX_TOKENS:,} words, numbers and marks"
        result.report("too-long", message, Span(source, 1, 1, 1, 2), _LONG)
        return result
    at = 0
    while at < len(physical) and not result.full:
        at = _join(physical, at, statements, result)
    return result


def scan_open(source: Source) -> tuple[list[LogicalLine], int, tuple[Token, ...]]:
    """A text that ends in the middle of a line: the lines before, and the last one's indentation and tokens."""
    lines: list[LogicalLine] = []
    pending: list[Token] = []
    depth = 0
    for physical in _physical_lines(source, Scan()):
        if physical.tokens and pending and depth <= 0:
            lines.append(_logical(pending))
            pending, depth = [], 0
        pending += physical.tokens
        depth += sum(+1 if t.text in _OPENING else -1 if t.text in _CLOSING else 0 for t in physical.tokens)
    last = source.text.rpartition("\n")[2]
    if depth <= 0 and pending and pending[-1].span.line < source.text.count("\n") + 1:
        lines.append(_logical(pending))
        return lines, len(last) - len(last.lstrip(" ")), ()
    indent = pending[0].span.column - 1 if pending else len(last) - len(last.lstrip(" "))
    return lines, indent, _join_not_in(pending)


def _logical(tokens: list[Token]) -> LogicalLine:
    return LogicalLine(tokens[0].span.column - 1, _join_not_in(tokens), tokens[0].span.to(tokens[-1].span))


def _physical_lines(source: Source, result: Scan) -> Iterator[_Physical]:
    """The lines up to the one that goes over a limit."""
    text = source.text.removeprefix("\ufeff")
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if result.full or count > MAX_TOKENS:
            return
        read = _read_line(source, number, line.removesuffix("\r"), result)
        count += len(read.tokens)
        yield read


def _read_line(source: Source, number: int, line: str, result: Scan) -> _Physical:
    tokens: list[Token] = []
    good = True
    for match in _TOKEN.finditer(line):
        if len(tokens) > MAX_TOKENS or result.full:
            break
        kind = match.lastgroup or "BAD"
        if kind == "SPACE" and "\t" not in match.group():
            continue
        start, end = match.start(), match.end()
        span = Span(source, number, start + 1, number, end + 1)
        if kind == "SPACE":
            if start == 0 and line.strip():
                result.report("tab", "a tab in the indentation", span, "indent with spaces; blocks use four")
                good = False
            continue
        problem = _problem(kind, match.group(), line[:start], line[end:])
        if problem is not None:
            code, message, hint = problem
            result.report(code, message, span, hint)
            good = False
            if code == "unclosed-string":
                break
        elif kind == "COMMENT":
            result.comments[number] = match.group().rstrip()
        else:
            tokens.append(Token(kind, match.group(), span))
    return _Physical(number, tuple(tokens), good)


def _problem(kind: str, text: str, before: str, behind: str) -> tuple[str, str, str | None] | None:
    """Code, message and hint when this piece of text can't stand in a mask file."""
    if kind == "BAD":
        if text == '"':
            return "unclosed-string", 'this text has no closing `"`', 'a text stands in one line between two `"`'
        shown = text if text.isprintable() else f"U+{ord(text):04X}"
        hint = _apostrophe(before, behind) if text in "'\u2019" else _CHARACTER_HINTS.get(text)
        return "unknown-character", f"the character `{shown}` has no meaning here", hint
    if kind in ("STRING", "COMMENT") and not text.replace("\t", " ").isprintable():
        return "control-character", "a control character inside a text or comment", "remove it"
    if kind == "NUMBER":
        if behind[:1].isalpha():
            return (
                "bad-number",
                f"`{text}` runs into a word",
                "write numbers in full; a name does not start with a digit",
            )
        if int(text[:25].replace("_", "") or "0") >= 1 << 63 or len(text) > 25:
            return "bad-number", "this number is too large", "numbers have 64 bits: at most 9223372036854775807"
    return None


def _apostrophe(before: str, behind: str) -> str:
    """`doesn't see` is a rule; any other quotation mark begins or ends a text."""
    if _NEGATED.search(before) and re.match(r"t\b", behind):
        return "write `cannot see`"
    return 'texts stand between `"`'


_NEGATED = re.compile(r"\b(?:does|do|ca|is|are|wo|must|should|could|would)n$", re.IGNORECASE)

_CHARACTER_HINTS = {
    "/": "integers only: `a // b` divides and rounds down",
    "&": "write `and` between conditions; numbers have no bits: `n % 2` is 1 for odd ones, `n % 4` keeps the last two",
    "|": "write `or` between conditions; numbers have no bits",
    "~": "write `not`",
    "!": "write `not`, or `!=` between two values",
    "{": "lists stand between `[` and `]`",
    "}": "lists stand between `[` and `]`",
    ";": "one statement per line",
    "^": "there is neither a power nor an exclusive or: write `r * r`, or `a != b` for two conditions",
}


def _join(physical: list[_Physical], at: int, statements: frozenset[str], result: Scan) -> int:
    """Add the logical line that starts at `at`; the index of the next physical line."""
    open_brackets: list[Token] = []
    tokens: list[Token] = []
    last = at
    while True:
        line = physical[last]
        if not line.good or not _brackets(line.tokens, open_brackets, result):
            return _broken(physical, at, last, result)
        tokens += line.tokens
        if not open_brackets:
            break
        if last + 1 >= len(physical) or _starts_statement(physical[last + 1], statements):
            bracket = open_brackets[-1]
            wanted = _OPENING[bracket.text]
            result.report("unclosed-bracket", f"`{bracket.text}` is never closed", bracket.span, f"add the `{wanted}`")
            return _broken(physical, at, at, result)
        last += 1
    result.lines.append(_logical(tokens))
    return last + 1


def _join_not_in(tokens: list[Token]) -> tuple[Token, ...]:
    """`not` directly before `in` is one operator."""
    out: list[Token] = []
    for token in tokens:
        if token.kind == "WORD" and token.text == "in" and out and out[-1].kind == "WORD" and out[-1].text == "not":
            out[-1] = Token("WORD", "not in", out[-1].span.to(token.span))
        else:
            out.append(token)
    return tuple(out)


def _broken(physical: list[_Physical], at: int, last: int, result: Scan) -> int:
    tokens = physical[at].tokens
    if tokens:
        span = tokens[0].span.to(tokens[-1].span)
        result.lines.append(LogicalLine(tokens[0].span.column - 1, (), span, broken=True))
    return last + 1


def _brackets(tokens: tuple[Token, ...], open_brackets: list[Token], result: Scan) -> bool:
    """Follow the brackets of one physical line; False, after a report, when they don't match."""
    for token in tokens:
        if token.kind != "MARK":
            continue
        if token.text in _OPENING:
            open_brackets.append(token)
            if len(open_brackets) > MAX_BRACKETS:
                message = f"brackets are nested more than {MAX_BRACKETS} deep"
                result.report("too-deep", message, token.span, "give the inner part a name with `let` or `param`")
                return False
        elif token.text in _CLOSING:
            if not open_brackets or _OPENING[open_brackets[-1].text] != token.text:
                opened = f"`{open_brackets[-1].text}` is open here" if open_brackets else "no bracket is open here"
                result.report("unmatched-bracket", f"`{token.text}` closes nothing: {opened}", token.span)
                return False
            open_brackets.pop()
    return True


def _starts_statement(line: _Physical, statements: frozenset[str]) -> bool:
    if not line.tokens:
        return False
    first = line.tokens[0]
    return first.span.column == 1 and first.kind == "WORD" and first.text in statements
