"""Which keyword a word was probably meant to be, where a line makes no sense."""

from __future__ import annotations

from compilemask.language.names import nearest
from compilemask.language.parser_situation import Situation
from compilemask.language.parser_tables import tables


def meant(here: Situation) -> str | None:
    """A keyword that could stand here and that the word resembles, in letters or in sense."""
    if here.token.kind != "WORD":
        return None
    possible = {text for text, name in tables().keywords.items() if name in here.accepted}
    other = _SYNONYMS.get(here.token.text)
    if other is not None and other.split()[0] in possible:
        return f"did you mean `{other}`?"
    close = nearest(here.token.text, possible)
    return f"did you mean `{close}`?" if close is not None else None


_SYNONYMS = {
    "see": "sees",
    "attends": "sees",
    "attend": "sees",
    "looks": "sees",
    "cant": "cannot see",
    "not": "cannot see",
    "never": "cannot see",
    "hides": "cannot see",
    "parameter": "param",
    "def": "let",
    "import": "include",
    "assert": "require",
    "regions": "layout",
    "region": "layout",
    "unless": "except",
    "but": "except",
    "minus": "except",
    "inside": "within",
    "is": "are",
    "sample": "batch",
    "times": "repeat",
    "auto": "best",
}
