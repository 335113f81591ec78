"""The LALR(1) tables of grammar.lark, built once per process, and the automaton that runs them.

The tables come from lark; the loop is our own because whether a word is a keyword or a name depends on the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from compilemask.language.lexing import Token

Value = Any  # a token, a syntax node, or a list of them


@dataclass(frozen=True, slots=True)
class Reduction:
    """One grammar rule: how many values it takes, what it becomes, and which builder method makes it."""

    size: int
    origin: str
    method: str
    inlined: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """`states[state][terminal]` is the next state or a Reduction; `goto[state][origin]` follows a reduction."""

    start: int
    end: int
    states: Mapping[int, Mapping[str, int | Reduction]]
    goto: Mapping[int, Mapping[str, int]]
    keywords: Mapping[str, str]
    marks: Mapping[str, str]


@cache
def tables() -> Tables:
    """The tables of the grammar."""
    from lark import Lark
    from lark.lexer import Lexer, PatternStr

    class NoLexer(Lexer):
        def __init__(self, conf: object) -> None:
            pass

        def lex(self, *_: object) -> Any:  # pragma: no cover
            return iter(())

    text = resources.files("compilemask.language").joinpath("grammar.lark").read_text("utf-8")
    lark = Lark(text, parser="lalr", lexer=NoLexer, maybe_placeholders=False)
    table = lark.parse_interactive("").parser_state.parse_conf
    literals = {t.pattern.value: t.name for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    reductions: dict[Any, Reduction] = {}

    def convert(action: Any, argument: Any) -> int | Reduction:
        if str(action) == "Shift":
            return int(argument)
        if argument not in reductions:
            reductions[argument] = _reduction(argument)
        return reductions[argument]

    states: dict[int, dict[str, int | Reduction]] = {}
    goto: dict[int, dict[str, int]] = {}
    for state, actions in table.states.items():
        terminals = {name: convert(*entry) for name, entry in actions.items() if name.isupper()}
        states[state] = terminals
        goto[state] = {name: int(entry[1]) for name, entry in actions.items() if not name.isupper()}
    return Tables(
        start=table.start_state,
        end=table.end_state,
        states=states,
        goto=goto,
        keywords={word: name for word, name in literals.items() if word.isidentifier()},
        marks={mark: name for mark, name in literals.items() if not word_like(mark)}
        | dict.fromkeys(("<", "<=", "==", "!=", ">=", ">"), "COMPARE"),
    )


def word_like(text: str) -> bool:
    return text.isidentifier()


def _reduction(rule: Any) -> Reduction:
    origin = str(rule.origin.name)
    if origin.startswith("_"):
        return Reduction(len(rule.expansion), origin, "_collect", False)
    inlined = rule.options.expand1 and len(rule.expansion) == 1 and not rule.alias
    return Reduction(len(rule.expansion), origin, str(rule.alias or origin), inlined)


class Collected(list[Value]):
    """The values of a repeated or optional part, spliced into the list of the rule that holds it."""


class UnexpectedTokenError(Exception):
    """The automaton can't go on with this terminal; `accepted` are those that it could."""

    def __init__(self, terminal: str, accepted: frozenset[str]) -> None:
        super().__init__(terminal)
        self.terminal = terminal
        self.accepted = accepted


class Automaton:
    """A parse in progress. Its state can be saved and restored, so a bad line can be left out."""

    def __init__(self, builders: Mapping[str, Callable[[list[Value]], Value]]) -> None:
        self._tables = tables()
        self._builders = builders
        self._states = [self._tables.start]
        self._values: list[Value] = []

    def save(self) -> tuple[list[int], list[Value]]:
        return self._states.copy(), self._values.copy()

    def restore(self, saved: tuple[list[int], list[Value]]) -> None:
        self._states, self._values = saved[0].copy(), saved[1].copy()

    def may_follow(self, terminal: str) -> bool:
        """Whether the table has an entry for this terminal here (it may still turn out wrong after reductions)."""
        return terminal in self._tables.states[self._states[-1]]

    def feed(self, terminal: str, token: Token) -> None:
        """Take one terminal. UnexpectedTokenError leaves the state as it was."""
        before = self.save() if terminal not in self._tables.states[self._states[-1]] else None
        if before is not None:
            raise UnexpectedTokenError(terminal, self.accepted())
        saved_states = self._states.copy()
        if not self._reaches(saved_states, terminal):
            raise UnexpectedTokenError(terminal, self.accepted())
        states, values, goto = self._states, self._values, self._tables.goto
        while True:
            action = self._tables.states[states[-1]][terminal]
            if isinstance(action, int):
                states.append(action)
                values.append(token)
                return
            values_of_rule = values[len(values) - action.size :]
            del values[len(values) - action.size :]
            del states[len(states) - action.size :]
            values.append(self._reduce(action, values_of_rule))
            states.append(goto[states[-1]][action.origin])

    def finish(self) -> Value:
        """The value of the whole, after `$END`."""
        states, values = self._states, self._values
        while True:
            action = self._tables.states[states[-1]].get("$END")
            if not isinstance(action, Reduction):
                raise UnexpectedTokenError("$END", self.accepted())
            if action.origin == "start":
                return values[-1]
            values_of_rule = values[len(values) - action.size :]
            del values[len(values) - action.size :]
            del states[len(states) - action.size :]
            values.append(self._reduce(action, values_of_rule))
            states.append(self._tables.goto[states[-1]][action.origin])

    def accepted(self) -> frozenset[str]:
        """Every terminal that can follow."""
        here = self._tables.states[self._states[-1]]
        return frozenset(t for t in here if self._reaches(self._states.copy(), t))

    def _reaches(self, states: list[int], terminal: str) -> bool:
        """Whether the terminal is shifted in the end; works on the given copy of the states."""
        while True:
            action = self._tables.states[states[-1]].get(terminal)
            if action is None:
                return False
            if isinstance(action, int) or action.origin == "start":
                return True
            del states[len(states) - action.size :]
            states.append(self._tables.goto[states[-1]][action.origin])

    def _reduce(self, reduction: Reduction, values: list[Value]) -> Value:
        if reduction.inlined:
            return values[0]
        if reduction.method == "_collect":
            return Collected(_spliced(values))
        return self._builders[reduction.method](_spliced(values))


def _spliced(values: list[Value]) -> list[Value]:
    if not any(type(v) is Collected for v in values):
        return values
    out: list[Value] = []
    for value in values:
        if type(value) is Collected:
            out += value
        else:
            out.append(value)
    return out
