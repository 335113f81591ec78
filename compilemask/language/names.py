"""Which words mean something by themselves, and which word a mistyped one may have been."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from compilemask.language.vocabulary import Kind, words

STATEMENT_WORDS = frozenset(word.name for word in words(Kind.STATEMENT))

OPERATOR_WORDS = frozenset(["and", "or", "not", "except", "in", "if", "else", "any", "true", "false", "same"])
CONNECTING_WORDS = frozenset(["sees", "cannot", "where", "by", "within", "everything", "padding"])
CALLED_WORDS = frozenset(word.name for kind in (Kind.RELATION, Kind.FUNCTION) for word in words(kind) if word.called)
BARE_RELATIONS = frozenset(word.name for word in words(Kind.RELATION) if not word.called) - OPERATOR_WORDS
BUILT_IN_COORDINATES = frozenset(word.name for word in words(Kind.COORDINATE)) - {"number", "size"}

RESERVED = OPERATOR_WORDS | CONNECTING_WORDS
"""Words that the grammar never takes for a name."""

UNDECLARABLE = RESERVED | BARE_RELATIONS | BUILT_IN_COORDINATES
"""Words that no parameter, region, `let` or argument may be called."""


_SYNONYMS = {
    "bidirectional": "all",
    "ball": "disc",
    "circle": "disc",
    "cols": "x",
    "column": "x",
    "diagonal": "self",
    "everyone": "everything",
    "full": "all",
    "identity": "self",
    "local": "window",
    "natten": "box",
    "neighborhood": "box",
    "neighbourhood": "box",
    "nothing": "none",
    "position": "pos",
    "row": "y",
    "sliding": "window",
    "sliding_window": "window",
    "strict": "before",
    "tree": "path",
}


def another(name: str) -> str:
    """What to do about a name that nobody may declare."""
    return f"choose another one, `{name}_` or a word that says more"


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that the word was probably meant to be, in letters or in sense; or None."""
    pool = sorted(set(candidates) - {word})
    lowered = {c.lower(): c for c in pool}
    synonym = _SYNONYMS.get(word.lower())
    if synonym in lowered:
        return lowered[synonym]
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None
