"""What an editor may offer at a cursor, also in texts that are half written."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compilemask.language.completion import CompletionKind, complete, declared
from compilemask.language.lexing import scan
from compilemask.language.names import STATEMENT_WORDS
from compilemask.source import Source

MASK = """\
param prompt = 6, answers = [4, 3, 3], reach = any
layout
    prompt : prompt
    answer : answers
let block = at // 4
let local(n) = causal and window(behind=n, ahead=0)
rules
    prompt sees prompt : causal
"""
EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.mask"))


def labels(text: str) -> list[str]:
    """The labels offered at the `|` of a text."""
    before, _, after = text.partition("|")
    line = before.count("\n") + 1
    column = len(before.rpartition("\n")[2]) + 1
    return [c.label for c in complete(before + after, line, column)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", {"title", "layout", "rules", "param"}),
        ("par|", {"param"}),
        (MASK + "    |", {"prompt", "answer", "everything", "first", "limit"}),
        (MASK + "    answer |", {"sees", "cannot see", "where"}),
        (MASK + "    answer sees |", {"prompt", "answer", "everything"}),
        (MASK + "    answer sees prompt : |", {"causal", "window", "same", "local", "q", "not"}),
        (MASK + "    answer sees prompt : causal w|", {"within"}),
        (MASK + "    answer sees prompt : causal within |", {"prompt", "answer"}),
        (MASK + "    answer sees prompt : causal by |", {"block", "pos", "at", "answer"}),
        (MASK + "    answer sees prompt : q.|", {"block", "pos", "answer"}),
        (MASK + "    answer sees prompt : window(|", {"behind=", "ahead=", "reach"}),
        (MASK + "    answer sees prompt : window(behind=3, |", {"ahead="}),
        (MASK + "    answer sees prompt : box(3, 3, edge=|", {"cut", "shift"}),
        (MASK + "    answer where |", {"block", "pos", "reach"}),
        (MASK + "    answer where answer.|", {"at", "number", "size"}),
        ("layout\n    token : |", {"grid", "sum"}),
        ("param n = 3\nlayout\n    token : |", {"n", "len"}),
        ("layout\n    token : 3\nal|", {"align"}),
        ("align |", {"start", "end"}),
        ("order |", {"best", "everything"}),
        ("param sizes = [1,\n    |", {"len", "true"}),
    ],
)
def test_what_is_offered(text: str, expected: set[str]) -> None:
    assert expected <= set(labels(text))


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        (MASK + "    answer sees prompt : window(behind=3, |", "behind="),
        (MASK + "    answer sees |", "causal"),
        ("|", "causal"),
        (MASK + "# answer |", "sees"),
        ('title "par|', "param"),
    ],
)
def test_what_is_not_offered(text: str, unwanted: str) -> None:
    assert unwanted not in labels(text)


def test_details_say_what_a_word_means() -> None:
    (window,) = [c for c in complete(MASK + "    answer sees prompt : win", 9, 29) if c.label == "window"]

    assert window.kind is CompletionKind.RELATION
    assert window.detail.startswith("window(behind=N, ahead=N)")


def test_names_of_a_text() -> None:
    names = declared(MASK)

    assert list(names.parameters) == ["prompt", "answers", "reach"]
    assert list(names.regions) == ["prompt", "answer"]
    assert list(names.definitions) == ["block", "local"]


@pytest.mark.parametrize("path", EXAMPLES[::5], ids=lambda p: p.stem)
def test_the_words_of_a_mask_are_offered_where_they_stand(path: Path) -> None:
    text = path.read_text()
    if "include" in text:
        return  # names of other files are not offered
    for line in scan(Source(path.name, text), STATEMENT_WORDS).lines:
        declared_here = line.tokens[0].text in ("param", "let") or (line.indent > 0 and line.tokens[1:2] == ())
        for at, token in enumerate(line.tokens):
            behind = line.tokens[at + 1].text if at + 1 < len(line.tokens) else ""
            names_something = at < 2 and (declared_here or behind in (":", "repeat"))
            names_something |= declared_here and behind == "per"
            if token.kind != "WORD" or len(token.text) == 1 or names_something or behind == "=":
                continue
            offered = [c.label.split(" ")[0] for c in complete(text, token.span.line, token.span.column + 1)]
            assert token.text.split(" ")[0] in offered, f"{token.text} in line {token.span.line}"


@given(st.sampled_from(EXAMPLES), st.integers(0, 400), st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_any_cut_text_gives_an_answer(path: Path, cut: int, dropped: int) -> None:
    text = path.read_text()
    cut = min(cut, len(text))
    text = text[: max(cut - dropped, 0)] + text[cut:]
    line = text[:cut].count("\n") + 1

    complete(text, line, 1 + len(text[:cut].rpartition("\n")[2]))
