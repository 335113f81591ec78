"""Where a token stands that can't stand there: its line, its neighbours, and what could follow instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compilemask.language.lexing import Token
from compilemask.language.names import BARE_RELATIONS, CALLED_WORDS
from compilemask.language.vocabulary import Kind, words

VALUE = frozenset({"NUMBER", "STRING", "ANY", "TRUE", "FALSE", "LSQB", "LPAR", "NAME"})
"""The terminals that a value can begin with."""

_CALLED_RELATIONS = CALLED_WORDS - {word.name for word in words(Kind.FUNCTION)}
_HEADS = ("sees", "see", "limit")


@dataclass(frozen=True, slots=True)
class Situation:
    """Token number `at` of a line, or the mark for its end, which can't stand there, and the terminals that could."""

    line: tuple[Token, ...]
    at: int
    token: Token
    accepted: frozenset[str]

    @property
    def first(self) -> Token:
        """The token that begins the line."""
        return self.line[0]

    @property
    def before(self) -> Token | None:
        """The token on the left."""
        return self.line[self.at - 1] if self.at else None

    @property
    def following(self) -> Token | None:
        """The token on the right."""
        return self.line[self.at + 1] if self.at + 1 < len(self.line) else None

    @property
    def after(self) -> tuple[Token, ...]:
        """All tokens on the right."""
        return self.line[self.at + 1 :]

    def previous(self, *texts: str) -> bool:
        """Whether one of these stands on the left."""
        return self.before is not None and self.before.text in texts

    def next_is(self, *texts: str) -> bool:
        """Whether one of these stands on the right."""
        return self.following is not None and self.following.text in texts

    @property
    def next_kind(self) -> str:
        """WORD, NUMBER, STRING or MARK: what stands on the right; empty at the end."""
        return self.following.kind if self.following is not None else ""

    @property
    def after_value(self) -> bool:
        """Whether a sum has just ended, so that a comparison could go on."""
        return "COMPARE" in self.accepted

    @property
    def after_operand(self) -> bool:
        """Whether anything that `and` may join has just ended."""
        return "EXCEPT" in self.accepted

    @property
    def after_by(self) -> bool:
        """Whether this stands right behind the coordinate of a `by`, which takes no arithmetic without brackets."""
        return {"EXCEPT", "WITHIN", "DOT"} <= self.accepted and not self.after_value

    @property
    def after_region(self) -> bool:
        """Whether a selector has just ended that could take a `where`."""
        return "WHERE" in self.accepted

    @property
    def in_how(self) -> bool:
        """Whether this stands behind the `:` of a rule."""
        heads = [place for place, token in enumerate(self.line[: self.at]) if token.text in _HEADS]
        return bool(heads) and any(token.text == ":" for token in self.line[heads[-1] : self.at])

    @property
    def in_relation(self) -> bool:
        """Whether a relation may stand here: behind the `:` of a rule, or in a `let`."""
        return self.in_how or self.first.text == "let"

    def written(self, start: int, end: int) -> str:
        """The tokens from `start` up to `end` as the file has them, on one line."""
        text = ""
        for token, last in zip(self.line[start:end], (None, *self.line[start : end - 1]), strict=True):
            near = last is None or (last.span.end_line, last.span.end_column) == (token.span.line, token.span.column)
            text += token.text if near else f" {token.text}"
        return text

    def starts_relation(self, place: int) -> bool:
        """Whether token number `place` begins a relation of the language."""
        if place >= len(self.line):
            return False
        text = self.line[place].text
        behind = self.line[place + 1].text if place + 1 < len(self.line) else ""
        if text in ("q", "k") or text in _CALLED_RELATIONS:
            return behind == ("." if text in ("q", "k") else "(")
        return text in ("same", "not") or text in BARE_RELATIONS


Hint = str | Callable[[Situation], str]
Hints = tuple[tuple[Callable[[Situation], bool], Hint], ...]
