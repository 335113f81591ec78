"""What to say when a line makes no sense: what stands there, what could stand there, what was probably meant."""

from __future__ import annotations

from compilemask.language.lexing import Token
from compilemask.language.names import RESERVED, STATEMENT_WORDS, another
from compilemask.language.parser_hints import hint
from compilemask.language.parser_situation import VALUE, Situation
from compilemask.language.parser_tables import UnexpectedTokenError, tables
from compilemask.source import Diagnostic, Severity

_EXPRESSION = VALUE | {"NOT", "SAME", "MINUS"}
_REGION = frozenset({"EVERYTHING", "FIRST", "LAST", "NAME", "LPAR"})
_OPERATOR = frozenset({"PLUS", "MINUS", "STAR", "__ANON_0", "PERCENT", "COMPARE", "AND", "OR", "EXCEPT"})
_OPERATOR |= {"IF", "BY", "WITHIN", "DOT", "LSQB", "LPAR"}
_AFTER_REGION = frozenset({"COMMA", "DOT", "LSQB", "WHERE"})
_STATEMENT = frozenset(word.upper() for word in STATEMENT_WORDS)
_NAMED = {"NAME": "a name", "NUMBER": "a number", "STRING": 'a text between `"`', "COMPARE": "a comparison"}
_NAMED |= {"NL": "the end of the line", "INDENT": "an indented block", "DEDENT": "the end of the block"}
_NAMED |= {"CANNOT": "`cannot see`"}


def unexpected(line: tuple[Token, ...], at: int, token: Token, error: UnexpectedTokenError) -> Diagnostic:
    """The message for token number `at` of a line, or for its end; `error.accepted` says what could stand there."""
    here = Situation(line, at, token, error.accepted)
    if _is_refused_name(here):
        message = f"`{token.text}` can't be used as a name: it is a word of the language"
        return Diagnostic(Severity.ERROR, "reserved-name", message, token.span, another(token.text))
    return Diagnostic(Severity.ERROR, "syntax", _message(here), token.span, hint(here))


def _is_refused_name(here: Situation) -> bool:
    """Whether a word of the language stands where a parameter, `let`, argument or region is declared."""
    if here.token.text not in RESERVED or here.token.text == "padding" or "NAME" not in here.accepted:
        return False
    if here.first.text in ("param", "let"):
        return here.previous("param", "let", ",", "(") and not here.accepted >= VALUE
    return here.at == 0 and "PADDING" in here.accepted and here.next_is(":", "repeat")


def missing_block(header: Token, end: Token) -> Diagnostic:
    """The message for a header without lines below it."""
    example = _BLOCK_EXAMPLES.get(header.text, "item : 8")
    what_to_do = f"indent its lines by four spaces, for instance  {example}"
    return Diagnostic(Severity.ERROR, "syntax", "an indented block is missing after this line", end.span, what_to_do)


_BLOCK_EXAMPLES = {
    "rules": "everything sees everything : causal",
    "layout": "token : 8",
    "queries": "token : 8",
    "keys": "token : 8",
    "let": "token : pos",
}


def _message(here: Situation) -> str:
    expected = _expected(here.accepted)
    if not here.token.text:
        return f"this line ends too early: expected {expected}"
    if here.token.text in RESERVED and "NAME" in here.accepted and not here.accepted >= VALUE:
        return f"`{here.token.text}` is a word of the language and can't be a name here: expected {expected}"
    return f"`{here.token.text}` makes no sense here: expected {expected}"


def _expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words: whole groups by their name, and of the rest what leads on."""
    rest = set(accepted)
    words: list[str] = []
    tail: list[str] = []
    if len(rest & _STATEMENT) > 5:
        words.append("a statement")
        rest -= _STATEMENT
    if rest >= VALUE:
        words.append("an expression" if "NOT" in rest else "a value")
        rest -= _EXPRESSION | {"EVERYTHING"}
    elif rest >= _REGION:
        words.append("a region")
        rest -= _REGION
    elif "COMPARE" in rest or "STAR" in rest:
        tail.append("an operator")
        rest -= _OPERATOR
    elif "WHERE" in rest and rest & {"SEES", "COLON", "STORED", "NL", "RPAR"}:
        rest -= _AFTER_REGION
    if len(rest) > 1:
        rest.discard("DEDENT")
    words += sorted(_word(t) for t in rest) + tail
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _word(terminal: str) -> str:
    if terminal in _NAMED:
        return _NAMED[terminal]
    for text, name in (*tables().keywords.items(), *tables().marks.items()):
        if name == terminal:
            return f"`{text}`"
    return terminal.lower()
