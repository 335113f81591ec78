"""What to do about a rule that makes no sense: relations side by side, arithmetic after `by`, conditions out of place.

Each entry asks for as much of the line as makes the advice right: where two things may be meant, it names both.
"""

from __future__ import annotations

from compilemask.language.names import BARE_RELATIONS, CALLED_WORDS, RESERVED
from compilemask.language.parser_situation import Hints, Situation
from compilemask.language.parser_words import meant

_ENDS = {"first": "turn[0]", "last": "turn[-1]"}
_OPEN, _CLOSED = ("(", "["), (")", "]")
_ENDS_ARITHMETIC = frozenset(["and", "or", "except", "within", "by", "if", "else", "in", "not in", "stored", *_CLOSED])
_ENDS_ARITHMETIC |= {",", "<", "<=", "==", "!=", ">=", ">"}
_CONDITION_WORDS = ("if", "when")
_JOIN = "join relations: `A and B` where both must hold, `A or B` where one is enough"
_COMPARE = BARE_RELATIONS - {"all", "none"}
"""The bare relations that take `by`."""


def _is_can_see(here: Situation) -> bool:
    """`can see` for `sees`, `does not see` for `cannot see`."""
    return "SEES" in here.accepted and here.token.text in ("can", "do", "does", "may", "should", "must")


def _can_see(here: Situation) -> str:
    words = [token.text for token in (here.token, *here.after[:2])]
    denied = words[1:2] == ["not"]
    written = words[: 2 + denied] if "see" in words else words[: 1 + denied]
    return f"write `{'cannot see' if denied else 'sees'}` for `{' '.join(written)}`"


def _is_joined(here: Situation) -> bool:
    return here.in_relation and here.after_operand and here.starts_relation(here.at)


def _is_joined_by_comma(here: Situation) -> bool:
    """A comma at the end of a whole relation; inside of brackets a comma would be accepted."""
    if here.token.text != "," or not (here.in_relation and here.after_operand) or "COMMA" in here.accepted:
        return False
    return here.starts_relation(here.at + 1) or (here.in_how and here.following is not None and not here.after_by)


def _is_named_after_relation(here: Situation) -> bool:
    named = here.token.kind == "WORD" and here.token.text not in RESERVED
    return here.in_relation and here.after_value and here.previous(*_COMPARE) and named and meant(here) is None


def _what_is_it(here: Situation) -> str:
    relation = here.before.text if here.before is not None else "causal"
    name = here.token.text
    if here.next_is("(") or name in CALLED_WORDS:
        return f"write `{relation} and {name}(...)` for a relation, `{relation} by {name}(...)` for a coordinate"
    return f"write `{relation} by {name}` to compare it, `{relation} within {name}` to stay in one `{name}`"


def _is_arithmetic_after_by(here: Situation) -> bool:
    return (
        here.in_relation
        and here.after_by
        and here.token.text in ("+", "-", "*", "//", "%")
        and bool(_coordinate_before(here))
    )


def _coordinate_before(here: Situation) -> int:
    """The place of the first token of what `by` compares, 0 where the line has no `by` outside of brackets."""
    depth = 0
    for place in reversed(range(here.at)):
        text = here.line[place].text
        depth += (text in _CLOSED) - (text in _OPEN)
        if text == "by" and not depth:
            return place + 1
        if depth < 0:
            return 0
    return 0


def _bracketed_coordinate(here: Situation) -> str:
    start = _coordinate_before(here)
    end, depth = here.at, 0
    while end < len(here.line) and (depth or here.line[end].text not in _ENDS_ARITHMETIC):
        depth += (here.line[end].text in _OPEN) - (here.line[end].text in _CLOSED)
        end += 1
    return f"brackets: `by ({here.written(start, end)})`"


def _is_tuple_after_by(here: Situation) -> bool:
    texts = [token.text for token in here.line[: here.at]]
    ends_order = "stored" in texts and here.after_operand and texts[texts.index("stored") + 1 :][:1] == ["by"]
    return here.token.text == "," and here.following is not None and (here.after_by or ends_order)


def _is_where_in_how(here: Situation) -> bool:
    return here.token.text == "where" and here.after_operand and here.in_how


def _is_condition_of_tokens(here: Situation) -> bool:
    whom = "COLON" in here.accepted and any(token.text in ("sees", "see") for token in here.line[: here.at])
    return here.token.text in _CONDITION_WORDS and here.after_region and ("SEES" in here.accepted or whom)


def _condition_of_tokens(here: Situation) -> str:
    region = here.before.text if here.before is not None and here.before.kind == "WORD" else "REGION"
    where = f"`{region} where ...` for a condition on these tokens"
    return f"{where}; `rules when ...` above the rule for one on the head, the sample or parameters"


def _is_when_in_how(here: Situation) -> bool:
    return here.token.text == "when" and here.after_operand and here.in_how


def _is_end_without_region(here: Situation) -> bool:
    """`last turn sees`, `first 3 sees`: the selector is over, and `of` has not come."""
    over = not here.token.text or here.token.text in ("sees", "cannot", "where", ":", ",", "stored", ")")
    return "OF" in here.accepted and over and here.at > 1 and here.line[here.at - 2].text in _ENDS


def _end_without_region(here: Situation) -> str:
    end, said = here.line[here.at - 2].text, here.line[here.at - 1]
    if said.kind != "WORD":
        return f"of which region? `{end} {said.text} of REGION`"
    if said.text == "everything":
        return f"`{end} N of everything`: how many?"
    instance = f"{said.text}[{0 if end == 'first' else -1}]"
    return f"`{end} N of {said.text}` for tokens, so many of every `{said.text}`; `{instance}` for a whole instance"


def _is_index_inside_path(here: Situation) -> bool:
    return here.token.text == "." and here.previous("]") and here.after_region and here.next_kind == "WORD"


def _index_inside_path(here: Situation) -> str:
    """`turn[1].bot`: the number of the outer region becomes a condition."""
    opened, depth = here.at - 1, 1
    while depth:
        opened -= 1
        depth += (here.line[opened].text in _CLOSED) - (here.line[opened].text in _OPEN)
    start = opened - 1
    while start >= 2 and here.line[start - 1].text == ".":
        start -= 2
    outer, inner = here.line[opened - 1].text, here.following.text if here.following is not None else ""
    path = f"{here.written(start, opened)}.{inner}"
    number = here.line[opened + 1]
    single = here.at - opened == 3 and number.kind in ("NUMBER", "WORD")
    asked = f"`{path} where {outer} == {number.text}`" if single else f"`{path} where {outer} == ...`"
    return f"an index stands on the last name only: write {asked}"


def _is_call_of_a_side(here: Situation) -> bool:
    side = here.at > 2 and here.line[here.at - 2].text == "." and here.line[here.at - 3].text in ("q", "k")
    return here.token.text == "(" and side and here.after_value


def _call_of_a_side(here: Situation) -> str:
    """`q.seg(0)`: what has arguments is compared by `same` and `by`, or gets a name without."""
    end, depth = here.at + 1, 1
    while end < len(here.line) and depth:
        depth += (here.line[end].text in _OPEN) - (here.line[end].text in _CLOSED)
        end += 1
    call = here.written(here.at - 1, end)
    return f"a `let` with arguments takes a name first: `let c = {call}`, then `q.c`; or compare it by `same {call}`"


RULE_HINTS: Hints = (
    (_is_can_see, _can_see),
    (_is_joined, _JOIN),
    (_is_joined_by_comma, _JOIN),
    (_is_named_after_relation, _what_is_it),
    (_is_arithmetic_after_by, _bracketed_coordinate),
    (_is_tuple_after_by, "several coordinates stand in brackets: `by (y, x)`"),
    (
        _is_where_in_how,
        "`where` chooses tokens before the `:`, as in `b where pos > 3`; behind it a condition is joined with `and`",
    ),
    (_is_condition_of_tokens, _condition_of_tokens),
    (
        _is_when_in_how,
        "`A if CONDITION else none` here, or `rules when CONDITION` above the rule; "
        "a condition on tokens belongs before the `:`, as in `b where pos > 3`",
    ),
    (_is_end_without_region, _end_without_region),
    (_is_index_inside_path, _index_inside_path),
    (_is_call_of_a_side, _call_of_a_side),
)
