"""Makes grammar_tables.json from grammar.lark: `python -m compilemask.language.grammar_tables`.

lark builds the LALR(1) tables. They are kept as a file because building them takes 0.2 s, and reading them 3 ms.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLES = Path(__file__).with_name("grammar_tables.json")


def tables_text(grammar: str) -> str:
    """The JSON text of the tables: start state, words and marks by terminal, reductions and states.

    In a state a number n >= 0 means "go to state n", and n < 0 means "reduce by rule -n - 1".
    """
    from lark import Lark
    from lark.lexer import Lexer, PatternStr

    class NoLexer(Lexer):
        def __init__(self, conf: object) -> None: ...

        def lex(self, *_: object) -> Any:
            return iter(())

    lark = Lark(grammar, parser="lalr", lexer=NoLexer, maybe_placeholders=False)
    conf = lark.parse_interactive("").parser_state.parse_conf
    rules: list[Any] = []
    numbers = _numbers(conf.states, conf.start_state)
    states = [
        {str(name): _action(action, rules, numbers) for name, action in sorted(conf.states[state].items())}
        for state in numbers
    ]
    literals = sorted((t.pattern.value, t.name) for t in lark.terminals if isinstance(t.pattern, PatternStr))
    value = {
        "start": numbers[conf.start_state],
        "keywords": {text: name for text, name in literals if text.isidentifier()},
        "marks": {text: name for text, name in literals if not text.isidentifier()},
        "reductions": [_reduction(rule) for rule in rules],
        "states": states,
    }
    return json.dumps(value, separators=(",", ":")).replace("},{", "},\n{") + "\n"


def _numbers(states: dict[Any, Any], start: Any) -> dict[Any, int]:
    """States in the order in which they are reached: lark's own numbers change from run to run."""
    found = {start: 0}
    queue = [start]
    for state in queue:
        for _, (kind, following) in sorted(states[state].items()):
            if str(kind) == "Shift" and following not in found:
                found[following] = len(found)
                queue.append(following)
    return found


def _action(action: tuple[Any, Any], rules: list[Any], numbers: dict[Any, int]) -> int:
    kind, argument = action
    if str(kind) == "Shift":
        return numbers[argument]
    if argument not in rules:
        rules.append(argument)
    return -1 - rules.index(argument)


def _reduction(rule: Any) -> list[object]:
    origin = str(rule.origin.name)
    method = "_collect" if origin.startswith("_") else str(rule.alias or origin)
    inlined = bool(rule.options.expand1 and len(rule.expansion) == 1 and not rule.alias)
    return [len(rule.expansion), origin, method, inlined]


if __name__ == "__main__":
    TABLES.write_text(tables_text(GRAMMAR.read_text("utf-8")), "utf-8")
