"""What to say when a line makes no sense: what stands there, what could stand there, what was probably meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compilemask.language.lexing import Token
from compilemask.language.names import BARE_RELATIONS, RESERVED, STATEMENT_WORDS, nearest
from compilemask.language.parser_tables import UnexpectedTokenError, tables
from compilemask.source import Diagnostic, Severity

_VALUE = frozenset({"NUMBER", "STRING", "ANY", "TRUE", "FALSE", "LSQB", "LPAR", "NAME"})
_EXPRESSION = _VALUE | {"NOT", "SAME", "MINUS"}
_REGION = frozenset({"EVERYTHING", "FIRST", "LAST", "NAME", "LPAR"})
_OPERATOR = frozenset({"PLUS", "MINUS", "STAR", "__ANON_0", "PERCENT", "COMPARE", "AND", "OR", "EXCEPT"})
_OPERATOR |= {"IF", "BY", "WITHIN", "DOT", "LSQB", "LPAR"}
_AFTER_REGION = frozenset({"COMMA", "DOT", "LSQB", "WHERE"})
_STATEMENT = frozenset(word.upper() for word in STATEMENT_WORDS)
_NAMED = {"NAME": "a name", "NUMBER": "a number", "STRING": 'a text between `"`', "COMPARE": "a comparison"}
_NAMED |= {"NL": "the end of the line", "INDENT": "an indented block", "DEDENT": "the end of the block"}
_NAMED |= {"CANNOT": "`cannot see`"}


@dataclass(frozen=True, slots=True)
class Situation:
    """A token that can't stand where it does, its neighbours in the line, and the terminals that could."""

    token: Token
    before: Token | None
    following: Token | None
    accepted: frozenset[str]
    first: Token
    after: tuple[Token, ...] = ()

    def previous(self, *texts: str) -> bool:
        return self.before is not None and self.before.text in texts

    def next_is(self, *texts: str) -> bool:
        return self.following is not None and self.following.text in texts

    @property
    def after_value(self) -> bool:
        return "COMPARE" in self.accepted

    @property
    def after_region(self) -> bool:
        return "WHERE" in self.accepted


def unexpected(line: tuple[Token, ...], at: int, token: Token, error: UnexpectedTokenError) -> Diagnostic:
    """The message for token number `at` of a line, or for its end; `error.accepted` says what could stand there."""
    before = line[at - 1] if at else None
    following = line[at + 1] if at + 1 < len(line) else None
    here = Situation(token, before, following, error.accepted, line[0], line[at + 1 :])
    return Diagnostic(Severity.ERROR, "syntax", _message(here), token.span, _hint(here))


def missing_block(header: Token, end: Token) -> Diagnostic:
    """The message for a header without lines below it."""
    example = _BLOCK_EXAMPLES.get(header.text, "item : 8")
    hint = f"indent its lines by four spaces, for instance  {example}"
    return Diagnostic(Severity.ERROR, "syntax", "an indented block is missing after this line", end.span, hint)


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
    if here.token.text in RESERVED and "NAME" in here.accepted and not here.accepted >= _VALUE:
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
    if rest >= _VALUE:
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


def _hint(here: Situation) -> str | None:
    for applies, hint in _HINTS:
        if applies(here):
            return hint(here) if callable(hint) else hint
    return _meant(here)


def _meant(here: Situation) -> str | None:
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
    "can": "cannot see",
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

_ENDS = ("first", "last")
_GOES_ON = frozenset(
    ["and", "or", "except", "not", "else", "in", "+", "-", "*", "//", "%", "<", "<=", "==", "!=", ">=", ">"]
) | {"not in"}

_COMPARE = sorted(BARE_RELATIONS - {"all", "none"})
"""The bare relations that take `by`."""

Hint = str | Callable[[Situation], str]

_HINTS: tuple[tuple[Callable[[Situation], bool], Hint], ...] = (
    (
        lambda s: s.token is s.first and "PARAM" in s.accepted and s.next_is("sees", "cannot"),
        "a rule stands indented below `rules`",
    ),
    (
        lambda s: s.token is s.first and "PARAM" in s.accepted and s.token.text == "limit",
        "a `limit` stands indented below `rules`, as a rule does",
    ),
    (
        lambda s: s.token is s.first and "PARAM" in s.accepted and s.token.kind == "WORD" and s.next_is("="),
        lambda s: _bare_value(s),
    ),
    (
        lambda s: s.after_value and s.previous(*_COMPARE) and _names_something(s),
        lambda s: f"write `{s.before.text} by {s.token.text}`" if s.before else "",
    ),
    (
        lambda s: s.token is s.first and "PARAM" in s.accepted and s.next_is(":"),
        "a region and its size stand indented below `layout`",
    ),
    (
        lambda s: s.before is s.first and s.first.text in STATEMENT_WORDS and bool({"SEES", "REPEAT"} & s.accepted),
        lambda s: f"`{s.first.text}` is a statement: start it in the first column",
    ),
    (
        lambda s: s.token.text == "padding" and "EVERYTHING" in s.accepted,
        "padding sees nothing and is seen by nothing: give tokens that should a region of their own",
    ),
    (lambda s: s.token.text == "." and s.accepted >= _VALUE, "integers only"),
    (lambda s: s.token.kind == "NUMBER" and s.previous("."), "integers only"),
    (lambda s: s.token.text == "*" and s.previous("*"), "there is no power; write `r * r`"),
    (
        lambda s: s.token.text in ("+", "-", "*", "//", "%") and s.next_is("="),
        "values never change; give a new name with `let`",
    ),
    (lambda s: s.token.text == "=" and s.previous("heads"), "write the number without `=`: heads 2"),
    (lambda s: s.token.text == "=" and s.after_value, "`==` compares two values"),
    (lambda s: s.token.text == "=" and "COLON" in s.accepted, "a size, a case or a relation stands after `:`"),
    (lambda s: s.token.text == ":" and "EQUAL" in s.accepted, "a parameter or `let` takes `=`: name = value"),
    (lambda s: s.token.text == "of" and s.previous("first", "last"), lambda s: _how_many(s)),
    (
        lambda s: s.token.kind == "WORD" and "OF" in s.accepted,
        lambda s: (
            f"`of` is missing: {s.first.text} n of {s.token.text}" if s.first.text in _ENDS else "`of` is missing"
        ),
    ),
    (lambda s: s.token.text == "by" and "STORED" in s.accepted, "write `stored by`"),
    (lambda s: s.previous("best") and "STORED" in s.accepted, "`order best` stands alone: it orders all tokens"),
    (
        lambda s: s.token.text in ("within", "by") and s.after_region and "COLON" in s.accepted,
        lambda s: f"`{s.token.text}` belongs to the relation: `: causal {s.token.text} ...`",
    ),
    (
        lambda s: not s.token.text and s.after_region and "COLON" in s.accepted,
        "a rule ends in `: relation`, for instance `: all`",
    ),
    (
        lambda s: s.token.text == ":" and s.following is None and s.before is s.first and "NL" in s.accepted,
        "leave it out: the indentation of the next lines makes the block",
    ),
    (
        lambda s: s.token.text == "," and s.following is None and "NL" in s.accepted,
        "leave it out: every line stands by itself",
    ),
    (lambda s: not s.token.text and "ELSE" in s.accepted, "`if` needs its `else`, for instance `... else none`"),
    (
        lambda s: not s.token.text and s.accepted >= _VALUE and s.before is not None and s.before.text in _GOES_ON,
        "to go on in the next line, open a bracket in this one",
    ),
    (
        lambda s: s.token.kind == "MARK" and bool(s.token.text) and "SEES" in s.accepted,
        "a rule reads `WHO sees WHOM : HOW`",
    ),
    (lambda s: "EQUAL" in s.accepted and s.token.kind in ("NUMBER", "STRING"), "write `=` before the value"),
    (
        lambda s: s.after_value and s.token.kind == "WORD" and s.next_is("=") and s.before is not None,
        lambda s: f"arguments stand in brackets: {s.before.text}({s.token.text}=...)" if s.before else "",
    ),
    (
        lambda s: s.after_value and "COMMA" in s.accepted and s.token.kind in ("NUMBER", "STRING"),
        "is a `,` missing before it?",
    ),
)


def _how_many(here: Situation) -> str:
    word = here.before.text if here.before is not None else "first"
    region = here.following.text if here.following is not None else "region"
    return f"say how many: {word} 1 of {region}"


def _names_something(here: Situation) -> bool:
    """Whether the token may be a coordinate, rather than a keyword that was meant."""
    return here.token.kind == "WORD" and here.token.text not in RESERVED and _meant(here) is None


def _bare_value(here: Situation) -> str:
    value = here.after[1].text if len(here.after) == 2 else "..."
    name = here.token.text
    return f"write `param {name} = {value}`, or `let {name} = {value}` for a value that is never set from outside"
