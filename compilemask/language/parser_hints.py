"""What to do about a line that makes no sense: what was probably meant, by what stands there and beside it."""

from __future__ import annotations

from compilemask.language.names import STATEMENT_WORDS
from compilemask.language.parser_rule_hints import RULE_HINTS
from compilemask.language.parser_situation import VALUE, Hints, Situation
from compilemask.language.parser_words import meant


def hint(here: Situation) -> str | None:
    """What to do about it, where that is known."""
    for applies, said in (*RULE_HINTS, *_HINTS):
        if applies(here):
            return said(here) if callable(said) else said
    return meant(here)


_ENDS = ("first", "last")
_GOES_ON = frozenset(
    ["and", "or", "except", "not", "else", "in", "+", "-", "*", "//", "%", "<", "<=", "==", "!=", ">=", ">"]
) | {"not in"}

_HINTS: Hints = (
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
    (lambda s: s.token.text == "." and s.accepted >= VALUE, "integers only"),
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
        lambda s: not s.token.text and s.accepted >= VALUE and s.before is not None and s.before.text in _GOES_ON,
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


def _bare_value(here: Situation) -> str:
    value = here.after[1].text if len(here.after) == 2 else "..."
    name = here.token.text
    return f"write `param {name} = {value}`, or `let {name} = {value}` for a value that is never set from outside"
