"""The LALR(1) tables of grammar.lark, read once per process, and the automaton that runs them.

The loop is our own because whether a word is a keyword or a name depends on the state.
"""

from __future__ import annotations

import json
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
    """`states[state][symbol]`: the next state for a terminal or a finished rule, or the reduction to make."""

    start: int
    states: tuple[Mapping[str, int | Reduction], ...]
    keywords: Mapping[str, str]
    marks: Mapping[str, str]


@cache
def tables() -> Tables:
    """The tables of the grammar."""
    text = resources.files("compilemask.language").joinpath("grammar_tables.json").read_text("utf-8")
    raw = json.loads(text)
    reductions = [Reduction(*entry) for entry in raw["reductions"]]
    states = tuple(
        {symbol: entry if entry >= 0 else reductions[-1 - entry] for symbol, entry in state.items()}
        for state in raw["states"]
    )
    comparisons = dict.fromkeys(("<", "<=", "==", "!=", ">=", ">"), "COMPARE")
    return Tables(raw["start"], states, raw["keywords"], raw["marks"] | comparisons)


class Collected(list[Value]):
    """The values of a repeated or optional part, spliced into the list of the rule that holds it."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A state of the automaton; collected lists grow in place, so their lengths belong to it."""

    states: list[int]
    values: list[Value]
    lengths: list[int]


class UnexpectedTokenError(Exception):
    """The automaton can't go on with this terminal; `accepted` are those that it could."""

    def __init__(self, terminal: str, accepted: frozenset[str]) -> None:
        super().__init__(terminal)
        self.terminal = terminal
        self.accepted = accepted


class Automaton:
    """A parse in progress. Its state can be saved and restored, so a bad line can be left out."""

    def __init__(self, builders: Mapping[str, Callable[[list[Value]], Value]]) -> None:
        self._table = tables().states
        self._builders = builders
        self._states = [tables().start]
        self._values: list[Value] = []

    def save(self) -> Saved:
        """What `restore` needs to come back here."""
        lengths = [len(value) if type(value) is Collected else 0 for value in self._values]
        return Saved(self._states.copy(), self._values.copy(), lengths)

    def restore(self, saved: Saved) -> None:
        """Forget everything fed since `save`."""
        self._states, self._values = saved.states.copy(), saved.values.copy()
        for value, length in zip(saved.values, saved.lengths, strict=True):
            if type(value) is Collected:
                del value[length:]

    def may_follow(self, terminal: str) -> bool:
        """Whether the table has an entry for this terminal here; `accepted` is exact, this is quick."""
        return terminal in self._table[self._states[-1]]

    def feed(self, terminal: str, token: Token) -> None:
        """Take one terminal. UnexpectedTokenError leaves the state as it was."""
        if not self._reaches(terminal):
            raise UnexpectedTokenError(terminal, self.accepted())
        while True:
            action = self._table[self._states[-1]][terminal]
            if isinstance(action, int):
                self._states.append(action)
                self._values.append(token)
                return
            self._reduce(action)

    def finish(self) -> Value:
        """The value of the whole, when nothing follows."""
        if not self._reaches("$END"):
            raise UnexpectedTokenError("$END", self.accepted())
        while True:
            action = self._table[self._states[-1]]["$END"]
            if isinstance(action, int) or action.origin == "start":
                return self._values[-1]
            self._reduce(action)

    def accepted(self) -> frozenset[str]:
        """Every terminal that can follow."""
        here = self._table[self._states[-1]]
        return frozenset(symbol for symbol in here if symbol.isupper() and self._reaches(symbol))

    def _reaches(self, terminal: str) -> bool:
        """Whether the terminal is shifted in the end, after any reductions."""
        action = self._table[self._states[-1]].get(terminal)
        if action is None or isinstance(action, int):
            return action is not None
        states = self._states.copy()
        while isinstance(action, Reduction):
            if action.origin == "start":
                return True
            del states[len(states) - action.size :]
            states.append(self._goto(states[-1], action.origin))
            action = self._table[states[-1]].get(terminal)
        return action is not None

    def _goto(self, state: int, origin: str) -> int:
        following = self._table[state][origin]
        assert isinstance(following, int)
        return following

    def _reduce(self, reduction: Reduction) -> None:
        at = len(self._values) - reduction.size
        value = self._value(reduction, self._values[at:])
        del self._values[at:]
        del self._states[at + 1 :]
        self._values.append(value)
        self._states.append(self._goto(self._states[-1], reduction.origin))

    def _value(self, reduction: Reduction, values: list[Value]) -> Value:
        if reduction.inlined:
            return values[0]
        if reduction.method == "_collect":
            return _collected(values)
        return self._builders[reduction.method](_spliced(values))


def _collected(values: list[Value]) -> Collected:
    """Grows the first list in place: a long list costs as much as it has entries."""
    if values and type(values[0]) is Collected:
        values[0].extend(_spliced(values[1:]))
        return values[0]
    return Collected(_spliced(values))


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
