"""Small replacements in a text, so that comments, layout and undo survive."""

from __future__ import annotations

from dataclasses import dataclass

from compilemask.source import Span


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Put `text` in place of what stands from `start` to `end`, 0-based (row, column)."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def replacing(span: Span, text: str) -> TextEdit:
    """`text` in place of a span."""
    return TextEdit((span.line - 1, span.column - 1), (span.end_line - 1, span.end_column - 1), text)


def inserting_below(row: int, line: str) -> TextEdit:
    """A new line below the 0-based row `row`; the text need not end with a line end."""
    return TextEdit((row, -1), (row, -1), f"\n{line}")


def deleting_line(row: int) -> TextEdit:
    """The 0-based line, with its line end."""
    return TextEdit((row, 0), (row + 1, 0), "")


def placed(edit: TextEdit, lines: list[str]) -> TextEdit:
    """The edit with a column of -1 (the end of its line) and rows past the end resolved."""
    return TextEdit(_placed(edit.start, lines), _placed(edit.end, lines), edit.text)


def _placed(place: tuple[int, int], lines: list[str]) -> tuple[int, int]:
    row, column = place
    if row >= len(lines):
        return len(lines) - 1, len(lines[-1]) if lines else 0
    return row, len(lines[row]) if column < 0 else column


def applied(text: str, edits: list[TextEdit]) -> str:
    """The text after all edits; they must not overlap."""
    lines = text.split("\n")
    for edit in sorted((placed(edit, lines) for edit in edits), reverse=True):
        (row, column), (end_row, end_column) = edit.start, edit.end
        joined = lines[row][:column] + edit.text + lines[end_row][end_column:]
        lines[row : end_row + 1] = joined.split("\n")
    return "\n".join(lines)


def source_text(span: Span) -> str:
    """What stands in a span, on one line."""
    lines = span.source.text.splitlines()[span.line - 1 : span.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return " ".join(line.strip() for line in lines)
