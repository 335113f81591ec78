"""Text to syntax tree. A line that makes no sense is reported and left out, so one pass finds all errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from compilemask.errors import MaskFileError
from compilemask.language import syntax
from compilemask.language.lexing import LogicalLine, Scan, Token, scan
from compilemask.language.names import RESERVED, STATEMENT_WORDS
from compilemask.language.parser_checks import check_file, without_uses
from compilemask.language.parser_messages import missing_block, unexpected
from compilemask.language.parser_reductions import Reductions, TooDeepError
from compilemask.language.parser_tables import Automaton, UnexpectedTokenError, tables
from compilemask.source import Diagnostic, Source, Span

TEXTS_KEPT = 32  # a file and what it includes count one by one
NOWHERE = Span(Source("", ""), 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be read of a text, and everything that is wrong with its form, in file order."""

    file: syntax.File
    diagnostics: tuple[Diagnostic, ...]


def parse(source: Source) -> syntax.File:
    """The syntax tree of a mask file.

    Raises MaskFileError with every error of form in the text.
    """
    parsed = parse_tolerant(source)
    if parsed.diagnostics:
        raise MaskFileError(parsed.diagnostics)
    return parsed.file


@lru_cache(maxsize=TEXTS_KEPT)
def parse_once(source: Source) -> syntax.File:
    """As `parse`, but a text that has been parsed lately is not parsed again: other sizes of a mask only bind again."""
    return parse(source)


def parse_tolerant(source: Source) -> Parsed:
    """The statements that could be read, and the errors; for editors."""
    scanned = scan(source, STATEMENT_WORDS)
    statements: list[syntax.Statement] = []
    for lines in _statements(scanned):
        if scanned.full:
            break
        statement = _StatementParser(scanned).parse(lines)
        if statement is not None:
            statements.append(statement)
    check_file(tuple(statements), scanned)
    without_uses(scanned)
    file = syntax.File(source, tuple(statements), scanned.comments)
    ordered = sorted(scanned.diagnostics, key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
    return Parsed(file, tuple(ordered))


def accepted_after(before: Sequence[LogicalLine], indent: int, tokens: Sequence[Token]) -> frozenset[str]:
    """The terminals that can follow `tokens`, which start a line with `indent` spaces; for completion.

    `before` are the lines above it in the same statement. Empty if the tokens make no sense.
    """
    scanned = Scan()
    parser = _StatementParser(scanned)
    for line in before:
        parser.read(line)
    return parser.accepted(indent, tokens)


def _statements(scanned: Scan) -> list[list[LogicalLine]]:
    """The lines grouped by statement: a line without indentation and the indented ones below it."""
    groups: list[list[LogicalLine]] = []
    for line in scanned.lines:
        if line.indent == 0 or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


class _StatementParser:
    """Runs the automaton over the lines of one statement."""

    def __init__(self, scanned: Scan) -> None:
        self._scanned = scanned
        self._reductions = Reductions()
        self._automaton = Automaton(self._reductions.builders())
        self._indents = [0]
        self._failed = False

    def parse(self, lines: Sequence[LogicalLine]) -> syntax.Statement | None:
        """The statement, or None when nothing of it can be kept."""
        skip_deeper_than: int | None = None
        for line in lines:
            if self._scanned.full:
                break
            if skip_deeper_than is not None and line.indent > skip_deeper_than:
                continue
            skip_deeper_than = None
            if not self.read(line, header=line is lines[0] and len(lines) > 1):
                self._failed = True
                skip_deeper_than = line.indent
                if line is lines[0]:
                    break
        statement = None if skip_deeper_than is not None and line is lines[0] else self._finish(lines[0], lines[-1])
        self._scanned.diagnostics += self._reductions.diagnostics
        return statement

    def read(self, line: LogicalLine, header: bool = False) -> bool:
        """Take one line; False, after a report, when it is left out. The good beginning of a header opens its block."""
        if line.broken or not self._indent(line):
            return False
        saved = self._automaton.save()
        reported = len(self._reductions.diagnostics)
        at, token = 0, line.tokens[0]
        try:
            for at, token in enumerate(line.tokens):
                following = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
                self._automaton.feed(self._classify(token, following), token)
            at, token = len(line.tokens), _mark("", _after(line.span))
            self._automaton.feed("NL", token)
        except UnexpectedTokenError as error:
            found = error.diagnostic if isinstance(error, TooDeepError) else unexpected(line.tokens, at, token, error)
            self._scanned.diagnostics.append(found)
            if header and "NL" in error.accepted and token.text:
                self._failed = True
                self._automaton.feed("NL", token)
                return True
            del self._reductions.diagnostics[reported:]
            self._automaton.restore(saved)
            return False
        return True

    def accepted(self, indent: int, tokens: Sequence[Token]) -> frozenset[str]:
        """What can follow these tokens at the start of the next line."""
        try:
            if indent > self._indents[-1]:
                self._automaton.feed("INDENT", _mark("", NOWHERE))
            while len(self._indents) > 1 and indent < self._indents[-1]:
                self._indents.pop()
                self._automaton.feed("DEDENT", _mark("", NOWHERE))
            for at, token in enumerate(tokens):
                following = tokens[at + 1] if at + 1 < len(tokens) else None
                self._automaton.feed(self._classify(token, following), token)
        except UnexpectedTokenError:
            return frozenset()
        return self._automaton.accepted()

    def _indent(self, line: LogicalLine) -> bool:
        """Open and close blocks up to this line's indentation."""
        span = line.tokens[0].span
        if line.indent > self._indents[-1]:
            if not self._automaton.may_follow("INDENT"):
                if not self._failed or len(self._indents) == 1:
                    hint = "align it with the line above" if len(self._indents) > 1 else "start it in the first column"
                    self._scanned.report(
                        "indentation", "this line is indented, but nothing above opens a block", span, hint
                    )
                return False
            self._indents.append(line.indent)
            self._automaton.feed("INDENT", _mark("", span))
            return True
        while line.indent < self._indents[-1]:
            if not self._close(span):
                return False
        if line.indent != self._indents[-1]:
            self._scanned.report(
                "indentation", "this indentation matches no line above", span, "blocks use four spaces"
            )
            return False
        return True

    def _close(self, span: Span) -> bool:
        self._indents.pop()
        try:
            self._automaton.feed("DEDENT", _mark("", span))
        except UnexpectedTokenError:
            return False
        return True

    def _finish(self, first: LogicalLine, last: LogicalLine) -> syntax.Statement | None:
        try:
            while len(self._indents) > 1:
                self._indents.pop()
                self._automaton.feed("DEDENT", _mark("", _after(last.span)))
            statement: syntax.Statement = self._automaton.finish()
        except UnexpectedTokenError:
            if not self._failed:
                self._scanned.diagnostics.append(missing_block(first.tokens[0], _mark("", _after(last.span))))
            return None
        return statement

    def _classify(self, token: Token, following: Token | None) -> str:
        """The terminal of a token here. A word is a keyword only where the grammar has a place for it."""
        if token.kind == "MARK":
            return tables().marks[token.text]
        if token.kind != "WORD":
            return token.kind
        if token.text in ("in", "not in"):
            return "COMPARE"
        keyword = tables().keywords.get(token.text)
        if keyword is None:
            return "NAME"
        if token.text in RESERVED:
            return keyword
        if not self._automaton.may_follow(keyword):
            return "NAME"
        return "NAME" if self._automaton.may_follow("NAME") and not _is_keyword(token, following) else keyword


def _is_keyword(token: Token, following: Token | None) -> bool:
    """For the words that may start a line or selector as a keyword or as a region's name: by what follows."""
    if token.text == "best":
        return following is None
    if token.text == "limit":
        return following is not None and following.text == ":"
    if token.text in ("first", "last"):
        if following is None:
            return False
        return following.kind in ("NUMBER", "STRING") or following.text in ("(", "-") or _starts_count(following)
    return True


def _starts_count(token: Token) -> bool:
    return token.kind == "WORD" and token.text not in ("sees", "cannot", "where", "stored", "of")


def _mark(text: str, span: Span) -> Token:
    return Token("MARK", text, span)


def _after(span: Span) -> Span:
    return Span(span.source, span.end_line, span.end_column, span.end_line, span.end_column + 1)
