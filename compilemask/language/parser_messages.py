"""What to say when a line makes no sense: what stands there, what could stand there, what was probably meant."""

from __future__ import annotations

from compilemask.language.lexing import Token
from compilemask.language.names import RESERVED, nearest
from compilemask.language.parser_tables import UnexpectedTokenError, tables
from compilemask.source import Diagnostic, Severity

_EXPRESSION = frozenset({"NUMBER", "STRING", "ANY", "TRUE", "FALSE", "LSQB", "NOT", "SAME", "MINUS"})
_SELECTOR = frozenset({"EVERYTHING", "FIRST", "LAST"})
_OPERATORS = frozenset(
    {
        "PLUS",
        "MINUS",
        "STAR",
        "__ANON_0",
        "PERCENT",
        "COMPARE",
        "AND",
        "OR",
        "EXCEPT",
        "IF",
        "BY",
        "WITHIN",
        "DOT",
        "LSQB",
    }
)
_NAMED = {"NAME": "a name", "NUMBER": "a number", "STRING": 'a text between `"`', "COMPARE": "a comparison"}
_NAMED |= {"NL": "the end of the line", "INDENT": "an indented block", "DEDENT": "the end of the block"}

_OTHER_WORDS = {
    "see": "sees",
    "attends": "sees",
    "attend": "sees",
    "looks": "sees",
    "cant": "cannot",
    "not": "cannot see",
    "hides": "cannot see",
    "parameter": "param",
    "def": "let",
    "const": "let",
    "import": "include",
    "assert": "require",
    "region": "layout",
    "regions": "layout",
    "mask": "rules",
    "rule": "rules",
    "unless": "except",
    "minus": "except",
    "xor": "except",
    "inside": "within",
}


def unexpected(token: Token, before: Token | None, following: Token | None, error: UnexpectedTokenError) -> Diagnostic:
    """The message for a token that can't stand where it does; `error.accepted` says what could."""
    expected = _expected(error.accepted)
    hint = _hint(token, before, following, error.accepted)
    if not token.text:
        if "INDENT" in error.accepted:
            message = "an indented block is missing after this line"
        else:
            message = f"this line ends too early: expected {expected}"
        return Diagnostic(Severity.ERROR, "syntax", message, token.span, hint)
    if token.text in RESERVED and "NAME" in error.accepted and not _EXPRESSION & error.accepted:
        message = f"`{token.text}` is a word of the language and can't be a name here: expected {expected}"
        return Diagnostic(Severity.ERROR, "syntax", message, token.span, hint)
    return Diagnostic(
        Severity.ERROR, "syntax", f"`{token.text}` makes no sense here: expected {expected}", token.span, hint
    )


def _expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words, the most telling first."""
    rest = set(accepted)
    words: list[str] = []
    if rest >= _EXPRESSION:
        words.append("an expression")
        rest -= _EXPRESSION | {"NAME", "LPAR"}
    elif rest >= _SELECTOR:
        words.append("a region")
        rest -= _SELECTOR | {"NAME", "LPAR"}
    operators = rest & _OPERATORS
    if len(operators) > 4:
        rest -= operators
    if len(rest) > 1:
        rest.discard("DEDENT")
    words += sorted(_word(t) for t in rest)
    if len(operators) > 4:
        words.append("an operator")
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _word(terminal: str) -> str:
    if terminal in _NAMED:
        return _NAMED[terminal]
    for text, name in (*tables().keywords.items(), *tables().marks.items()):
        if name == terminal:
            return f"`{text}`"
    return terminal.lower()


def _hint(token: Token, before: Token | None, following: Token | None, accepted: frozenset[str]) -> str | None:
    if token.kind == "WORD":
        keywords = {text for text, name in tables().keywords.items() if name in accepted}
        other = _OTHER_WORDS.get(token.text)
        if other is not None and other.split()[0] in keywords:
            return f"did you mean `{other}`?"
        close = nearest(token.text, keywords)
        if close is not None:
            return f"did you mean `{close}`?"
    if token.text == "=" and "COMPARE" in accepted:
        return "`==` compares two values"
    if token.text == "=" and "COLON" in accepted:
        return "a size, a case or a relation stands after `:`"
    if token.text == ":" and "EQUAL" in accepted:
        return "a parameter or `let` takes `=`: name = value"
    if token.text == "." and before is not None and before.kind == "NUMBER":
        return "integers only"
    if not token.text and "COLON" in accepted and "SEES" not in accepted:
        return "a rule ends in `: relation`, for instance `: all`"
    if token.text in ("*", "+", "-", "//", "%") and following is not None and following.text == "=":
        return "values never change; give a new name with `let`"
    if "EQUAL" in accepted and token.kind in ("NUMBER", "STRING"):
        return "write `=` before the value"
    return None
