"""The table of words: complete, brief, and its examples are masks."""

import pytest

from compilemask.language import bind_scope
from compilemask.language.names import BARE_RELATIONS, CALLED_WORDS, STATEMENT_WORDS
from compilemask.language.parser import parse
from compilemask.language.parser_tables import tables
from compilemask.language.printer import format_file
from compilemask.language.program import Function
from compilemask.language.vocabulary import WORDS, Kind, Word, words
from compilemask.source import Source

EXAMPLES = [word for word in WORDS if word.example]


def test_every_statement_of_the_grammar_has_an_entry() -> None:
    assert len(STATEMENT_WORDS) == 13
    assert set(tables().keywords) >= STATEMENT_WORDS


def test_relations_are_the_ones_of_the_language() -> None:
    assert {"all", "none", "causal", "before", "self"} == BARE_RELATIONS
    assert {"window", "disc", "box", "path", "rectangles", "intervals", "random"} <= CALLED_WORDS


def test_the_checker_knows_the_words_of_the_table() -> None:
    relations = {word.name for word in words(Kind.RELATION)} - {"same"}

    assert set(bind_scope.RELATIONS) == relations - CALLED_WORDS
    assert set(bind_scope.CALLED_RELATIONS) == relations & CALLED_WORDS
    assert set(bind_scope.FUNCTIONS) == {function.value for function in Function}
    assert {*bind_scope.COORDINATES, *bind_scope.ATTRIBUTES, "q", "k", "head", "batch"} == {
        word.name for word in words(Kind.COORDINATE)
    }


@pytest.mark.parametrize("word", EXAMPLES, ids=lambda w: w.name)
def test_examples_are_short_canonical_masks(word: Word) -> None:
    file = parse(Source(word.name, word.example))

    assert format_file(file) == word.example
    assert word.example.count("\n") <= 6


@pytest.mark.parametrize("word", words(Kind.RELATION), ids=lambda w: w.name)
def test_every_relation_has_an_example(word: Word) -> None:
    assert word.name in word.example


@pytest.mark.parametrize("word", WORDS, ids=lambda w: w.name)
def test_meanings_are_one_line(word: Word) -> None:
    assert "\n" not in word.meaning
    assert word.meaning.endswith(".")
