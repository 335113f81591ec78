"""The reference of the language, from the table of words.

`python -m compilemask.language.reference > docs/language.md` writes it.

The prose is reference.md beside this file; `@words KIND`, `@pictures KIND` and `@draw` are filled in here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import resources

from compilemask.language.binder import bind
from compilemask.language.meaning import visible
from compilemask.language.names import RESERVED, UNDECLARABLE
from compilemask.language.parser import parse
from compilemask.language.program import Program
from compilemask.language.vocabulary import Kind, Word, words
from compilemask.source import Source

SHOWN, HIDDEN, MARKED = "■", "·", "◆"


def reference() -> str:
    """The whole page, as Markdown."""
    template = resources.files("compilemask.language").joinpath("reference.md").read_text("utf-8")
    return "".join(f"{line}\n" for line in _filled(template.splitlines()))


def picture(text: str) -> str:
    """The mask as rows of characters, cell by cell from the meaning of the language."""
    program = bind(parse(Source("<example>", text)))
    return "\n".join(_row(program, q, range(program.key_length)) for q in range(program.query_length))


def grid_picture(text: str, height: int, width: int, queries: tuple[int, ...]) -> str:
    """Which keys of a grid each of the queries sees, one grid beside the other; the query is marked."""
    program = bind(parse(Source("<example>", text)))
    rows = []
    for y in range(height):
        keys = range(y * width, (y + 1) * width)
        rows.append("     ".join(_row(program, query, keys, query) for query in queries))
    return "\n".join(rows)


def _row(program: Program, query: int, keys: range, marked: int = -1) -> str:
    return " ".join(MARKED if k == marked else SHOWN if visible(program, query, k) else HIDDEN for k in keys)


def _filled(lines: list[str]) -> Iterator[str]:
    example: list[str] = []
    inside = False
    for line in lines:
        command, _, argument = line.partition(" ")
        if line == "```mask":
            example, inside = [], True
            yield "```"
        elif command == "@draw":
            yield from _block(picture("\n".join(example) + "\n"))
        elif command == "@words":
            yield from _table(words(Kind(argument)))
        elif command == "@pictures":
            for word in words(Kind(argument)):
                yield from _entry(word)
        else:
            if line == "```":
                inside = False
            elif inside:
                example.append(line)
            yield _names(line)


def _names(line: str) -> str:
    reserved = ", ".join(f"`{word}`" for word in sorted(RESERVED))
    undeclarable = ", ".join(f"`{word}`" for word in sorted(UNDECLARABLE - RESERVED))
    return line.replace("@reserved", reserved).replace("@undeclarable", undeclarable)


def _block(text: str) -> Iterator[str]:
    yield "```"
    yield from text.split("\n")
    yield "```"


def _table(entries: tuple[Word, ...]) -> Iterator[str]:
    yield "| written | meaning |"
    yield "|---|---|"
    for word in entries:
        forms = "<br>".join(f"`{form.strip()}`" for form in _forms(word.signature))
        yield f"| {forms} | {word.meaning} |"


def _forms(signature: str) -> list[str]:
    return [form.replace("|", "\\|") for form in signature.split("  |  ")]


def _entry(word: Word) -> Iterator[str]:
    """A word with its forms, its meaning, an example and the picture of it."""
    forms = " or ".join(f"`{form.strip()}`" for form in word.signature.split("  |  "))
    yield f"**{word.name}**: {forms}. {word.meaning}"
    yield ""
    yield "```"
    drawn = (grid_picture(word.example, *word.view) if word.view else picture(word.example)).split("\n")
    text = word.example.rstrip("\n").split("\n")
    width = max(map(len, text)) + 6
    for at in range(max(len(text), len(drawn))):
        left = text[at] if at < len(text) else ""
        right = drawn[at] if at < len(drawn) else ""
        yield f"{left.ljust(width)}{right}".rstrip()
    yield "```"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(reference())
