"""What can be written at a place of a text: keywords from the parser's tables, words from the vocabulary, names from
the text itself. Works on half-written files."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from compilemask.language.lexing import LogicalLine, Scan, Token, scan, scan_open
from compilemask.language.names import STATEMENT_WORDS
from compilemask.language.parser import accepted_after
from compilemask.language.parser_tables import tables
from compilemask.language.vocabulary import Kind, Word, by_name, words
from compilemask.source import Source


class CompletionKind(Enum):
    """What a suggestion is, for its icon or colour."""

    KEYWORD = "keyword"
    RELATION = "relation"
    FUNCTION = "function"
    COORDINATE = "coordinate"
    PARAMETER = "parameter"
    REGION = "region"
    DEFINITION = "definition"
    ARGUMENT = "argument"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Completion:
    """One suggestion: it replaces the part of a word before the cursor. `detail` is one line."""

    label: str
    kind: CompletionKind
    detail: str


@dataclass(slots=True)
class Names:
    """The names that a text declares, with the text of their lines."""

    parameters: dict[str, str] = field(default_factory=dict)
    regions: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)


MAX_TEXT = 1 << 16
_PARTIAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_VALUES_OF = {"edge": ("cut", "shift"), "lean": ("behind", "ahead")}


def complete(text: str, line: int, column: int) -> list[Completion]:
    """The suggestions at a cursor that stands before the 1-based `column` of the 1-based `line`, best first.

    None for texts of more than 65,536 characters, so that typing never waits.
    """
    if len(text) > MAX_TEXT:
        return []
    rows = text.split("\n")[: max(line, 1)]
    rows[-1] = rows[-1][: max(column - 1, 0)]
    if "#" in rows[-1] or rows[-1].count('"') % 2:
        return []
    partial = _PARTIAL.search(rows[-1])
    prefix = partial.group() if partial else ""
    rows[-1] = rows[-1][: len(rows[-1]) - len(prefix)]
    before, indent, tokens = scan_open(Source("", "\n".join(rows)))
    names = declared(text)
    found = _suggestions(_statement_of(before, indent), indent, tokens, names)
    matching = [c for c in found if c.label.lower().startswith(prefix.lower()) and c.label != prefix]
    return list({c.label: c for c in reversed(matching)}.values())[::-1]


def declared(text: str) -> Names:
    """Parameters, regions and definitions of a text, as far as its lines can be read."""
    names = Names()
    block = ""
    scanned: Scan = scan(Source("", text), STATEMENT_WORDS)
    for line in scanned.lines:
        if not line.tokens:
            continue
        first = line.tokens[0].text
        row = line.span.source.line(line.span.line).split("#")[0].strip()
        if line.indent == 0:
            block = first
        if first == "param" and line.indent == 0:
            names.parameters |= dict.fromkeys(_parameters(line.tokens), row)
        elif first == "let" and line.indent == 0 and len(line.tokens) > 1:
            names.definitions[line.tokens[1].text] = row
        elif line.indent > 0 and block in ("layout", "queries", "keys") and first != "padding":
            names.regions[first] = row
    return names


def _parameters(tokens: Sequence[Token]) -> Iterator[str]:
    depth = 0
    for previous, token in itertools.pairwise(tokens):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(previous.text, 0)
        if previous.text in ("param", ",") and depth == 0 and token.kind == "WORD":
            yield token.text


def _statement_of(lines: Sequence[LogicalLine], indent: int) -> list[LogicalLine]:
    """The lines above in the statement that a line with this indentation goes on; none if it starts one."""
    if indent == 0:
        return []
    starts = [at for at, line in enumerate(lines) if line.indent == 0]
    return list(lines[starts[-1] :]) if starts else []


def _suggestions(
    before: Sequence[LogicalLine], indent: int, tokens: Sequence[Token], names: Names
) -> Iterable[Completion]:
    last = tokens[-1].text if tokens else ""
    if last == ".":
        return _after_dot(tokens, names)
    accepted = accepted_after(before, indent, tokens)
    if not accepted:
        return [*_regions(names), *_parameters_of(names), *_definitions(names)]
    header = before[0].tokens[0].text if before and before[0].tokens else (tokens[0].text if tokens else "")
    found: list[Completion] = []
    if last in ("first", "last"):
        found += [*_parameters_of(names), *_functions()]
    if "NAME" in accepted:
        found += _names_at(header, tokens, accepted, names)
    return [*found, *_keywords(accepted)]


def _names_at(header: str, tokens: Sequence[Token], accepted: frozenset[str], names: Names) -> list[Completion]:
    """The names that make sense where the grammar takes any name."""
    last = tokens[-1].text if tokens else ""
    if last == "=" and len(tokens) > 1 and tokens[-2].text in _VALUES_OF:
        return [Completion(v, CompletionKind.VALUE, f"{tokens[-2].text}={v}") for v in _VALUES_OF[tokens[-2].text]]
    if "NUMBER" not in accepted:
        return _regions(names) if last == "within" or "EVERYTHING" in accepted else []
    if _compared(tokens):
        coordinates = [*_definitions(names), *_coordinates(), *_regions(names)]
        return coordinates if last in ("by", "same") else [*coordinates, *_parameters_of(names), *_functions()]
    return _by_statement(header, tokens, names)


def _by_statement(header: str, tokens: Sequence[Token], names: Names) -> list[Completion]:
    """The names of an expression, by the statement that it stands in."""
    texts = [token.text for token in tokens]
    if header == "rules" and ":" in texts and ("sees" in texts or "see" in texts or texts[0] == "limit"):
        relations = [*_arguments(tokens), *_relations(), *_definitions(names), *_sides()]
        return [*relations, *_parameters_of(names), *_functions()]
    if texts[:2] == ["rules", "when"]:
        return [*_sample(), *_parameters_of(names), *_functions()]
    if header in ("layout", "queries", "keys"):
        return [*_parameters_of(names), *_functions(), *_regions(names)]
    if header in ("param", "heads", "require"):
        return [*_parameters_of(names), *_functions()]
    every = [*_definitions(names), *_coordinates(), *_regions(names), *_parameters_of(names), *_functions()]
    return [*_formals(tokens), *every, *_relations()] if header == "let" else every


def _compared(tokens: Sequence[Token]) -> bool:
    """Whether a coordinate stands here because of `by` or `same`, maybe inside their bracket."""
    if tokens and tokens[-1].text in ("by", "same"):
        return True
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        text = tokens[at].text
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text, 0)
        if depth < 0:
            return text == "(" and at > 0 and tokens[at - 1].text in ("by", "same")
    return False


def _formals(tokens: Sequence[Token]) -> list[Completion]:
    """The arguments of the `let` that is being written."""
    if len(tokens) < 4 or tokens[2].text != "(":
        return []
    end = next((at for at, token in enumerate(tokens) if token.text == ")"), len(tokens))
    formals = [token.text for token in tokens[3:end] if token.kind == "WORD"]
    return [Completion(name, CompletionKind.PARAMETER, f"argument of {tokens[1].text}") for name in formals]


def _after_dot(tokens: Sequence[Token], names: Names) -> list[Completion]:
    owner = tokens[-2].text if len(tokens) > 1 else ""
    if owner in ("q", "k"):
        return [*_definitions(names), *_coordinates(), *_regions(names)]
    entries = [by_name()[name] for name in ("at", "number", "size")]
    return [*(_from_word(e, CompletionKind.COORDINATE) for e in entries), *_regions(names)]


def _arguments(tokens: Sequence[Token]) -> list[Completion]:
    """The named arguments of the relation whose brackets are open, except those that are given."""
    depth = 0
    given: set[str] = set()
    for at in range(len(tokens) - 1, 0, -1):
        text = tokens[at].text
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text, 0)
        if text == "=" and depth == 0:
            given.add(tokens[at - 1].text)
        if depth < 0:
            word = by_name().get(tokens[at - 1].text)
            if text != "(" or word is None or tokens[-1].text == "=":
                return []
            kind = CompletionKind.ARGUMENT
            return [Completion(f"{k}=", kind, word.signature) for k in word.keywords if k not in given]
    return []


# ---------------------------------------------------------------- groups of suggestions


def _from_word(word: Word, kind: CompletionKind) -> Completion:
    return Completion(word.name, kind, f"{word.signature}: {word.meaning}")


def _relations() -> list[Completion]:
    return [_from_word(word, CompletionKind.RELATION) for word in words(Kind.RELATION)]


def _functions() -> list[Completion]:
    return [_from_word(word, CompletionKind.FUNCTION) for word in words(Kind.FUNCTION)]


def _coordinates() -> list[Completion]:
    plain = [w for w in words(Kind.COORDINATE) if w.name not in ("q", "k", "number", "size")]
    return [_from_word(word, CompletionKind.COORDINATE) for word in plain]


def _sample() -> list[Completion]:
    return [_from_word(by_name()[name], CompletionKind.COORDINATE) for name in ("head", "batch")]


def _sides() -> list[Completion]:
    return [_from_word(by_name()[side], CompletionKind.COORDINATE) for side in ("q", "k")]


def _regions(names: Names) -> list[Completion]:
    return [Completion(name, CompletionKind.REGION, row) for name, row in names.regions.items()]


def _parameters_of(names: Names) -> list[Completion]:
    return [Completion(name, CompletionKind.PARAMETER, row) for name, row in names.parameters.items()]


def _definitions(names: Names) -> list[Completion]:
    return [Completion(name, CompletionKind.DEFINITION, row) for name, row in names.definitions.items()]


def _keywords(accepted: frozenset[str]) -> list[Completion]:
    found = []
    for text, terminal in (*tables().keywords.items(), ("in", "COMPARE"), ("not in", "COMPARE")):
        if terminal in accepted:
            label = "cannot see" if text == "cannot" else text
            word = by_name().get(label)
            detail = f"{word.signature}: {word.meaning}" if word else "keyword"
            kind = CompletionKind.RELATION if text == "same" else CompletionKind.KEYWORD
            found.append(Completion(label, kind, detail))
    return found
