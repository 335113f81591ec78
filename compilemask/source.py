"""Where text came from and what is wrong with it: sources, spans, diagnostics with carets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache


class Severity(Enum):
    """How much a diagnostic matters: an error stops compilation, a warning and a note do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Source:
    """A named text. `name` is what messages show: a path, or a word such as `<text>`."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line end; empty past the end."""
        lines = _lines(self.text)
        return lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else ""


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return text.split("\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source: 1-based line and column of its first character and of the one after its last."""

    source: Source = field(repr=False, compare=False)
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about a mask file: what is wrong, where, what was expected, what to do."""

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    hint: str | None = None

    def render(self) -> str:
        """`file:line:column: error[code]: message`, the source line, a caret line and the hint."""
        head = f"{self.severity.value}[{self.code}]: {self.message}"
        lines = [head]
        if self.span is not None:
            lines = [f"{self.span.source.name}:{self.span.line}:{self.span.column}: {head}", *_picture(self.span)]
        if self.hint:
            lines.append(f"   = {self.hint}")
        return printable("\n".join(lines))

    def __str__(self) -> str:
        return self.render()


def printable(text: str) -> str:
    """The text with every control character but the line end shown as `?`: a file can't steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else "?" for c in text.replace("\t", " "))


def _picture(span: Span) -> list[str]:
    """The source line and its carets; a long line is cut to the part around them."""
    text = span.source.line(span.line)
    end = span.end_column if span.end_line == span.line else len(text) + 1
    first = max(0, span.column - 1 - _CONTEXT) if len(text) > _WIDTH else 0
    shown = text[first : first + _WIDTH]
    before, after = "…" * bool(first), "…" * (first + _WIDTH < len(text))
    indent = span.column - 1 - first + len(before)
    carets = "^" * max(1, min(end - span.column, len(before) + len(shown) - indent))
    gutter = str(span.line)
    return [f" {gutter} | {before}{shown}{after}", f" {' ' * len(gutter)} | {' ' * indent}{carets}"]


_WIDTH = 160
_CONTEXT = 60
