"""Masks in Python: what is built prints as the same text, and a text becomes the program that builds it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from compilemask.errors import MaskFileError, UsageError
from compilemask.language import syntax
from compilemask.language.builder import (
    Mask,
    causal,
    chain,
    choose,
    diagonal,
    every,
    everything,
    f,
    first,
    k,
    lit,
    n,
    q,
    r,
    same,
    unbounded,
)
from compilemask.language.builder_program import python_program
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.pipeline import compile  # noqa: A004
from compilemask.source import Source
from tests.language.fuzz_trees import FILES

HERE = Path(__file__).parent
MASKS = sorted([*(HERE / "examples").glob("*.mask"), *(HERE.parents[1] / "masks").glob("*.mask")])


def run(program: str) -> str:
    """The text of the mask that a program builds."""
    names: dict[str, object] = {}
    exec(program, names)
    mask = names["mask"]
    assert isinstance(mask, Mask)
    return mask.text()


def test_a_mask_in_python() -> None:
    mask = Mask("Shared prompt")
    answers = mask.param("answers", lit([4]) * 3)
    with mask.layout() as layout:
        prompt = layout.region("prompt", 6)
        answer = layout.region("answer", answers)
        mask.remark("one instance per entry")
    mask.blank()
    with mask.rules() as rules:
        rules.sees(prompt, prompt, causal)
        rules.sees(answer, prompt, every)
        rules.sees(answer, answer, causal.within(answer))

    assert mask.text() == (
        'title "Shared prompt"\nparam answers = [4] * 3\n'
        "layout\n    prompt : 6\n    answer : answers  # one instance per entry\n\n"
        "rules\n    prompt sees prompt : causal\n    answer sees prompt : all\n"
        "    answer sees answer : causal within answer\n"
    )
    assert len(mask.file().statements) == 4


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (causal - diagonal, "causal except self"),
        (causal & ~same(r.document), "causal and not same document"),
        ((causal - diagonal) | every, "(causal except self) or all"),
        (q.x - k.x >= 3, "q.x - k.x >= 3"),
        (chain(0, "<=", q.at, "<", n.size_), "0 <= q.at < size_"),
        (choose(n.ordered, causal, every), "causal if ordered else all"),
        (f.window(behind=n.reach - 1, ahead=unbounded), "window(behind=reach - 1, ahead=any)"),
        (causal.by((n.y // 8, n.x // 8)), "causal by (y // 8, x // 8)"),
        (q.document.is_in([1, -2]), "q.document in [1, -2]"),
        (lit([1, 2])[0], "[1, 2][0]"),
    ],
)
def test_terms_print_as_they_are_meant(term: object, text: str) -> None:
    mask = Mask()
    with mask.rules() as rules:
        rules.limit(term)  # type: ignore[arg-type]

    assert mask.text() == f"rules\n    limit : {text}\n"


def test_selectors() -> None:
    mask = Mask()
    with mask.rules() as rules:
        rules.sees(r.a | r.b, (r.outer / r.inner)[1:], every)
        rules.cannot_see(first(3, r.a.where(r.a.size > 4)), everything, every)

    assert mask.text() == (
        "rules\n    a, b sees outer.inner[1:]                             : all\n"
        "    first 3 of (a where a.size > 4) cannot see everything : all\n"
    )


def test_a_mask_in_python_compiles() -> None:
    mask = Mask()
    size = mask.param("size", 3)
    with mask.layout() as layout:
        token = layout.region("token", size)
    with mask.rules() as rules:
        rules.sees(token, token, causal - diagonal)

    assert compile(mask, size=4).dense().tolist() == np.tri(4, k=-1, dtype=bool).tolist()


def test_python_cannot_ask_a_term_for_its_truth() -> None:
    with pytest.raises(UsageError, match="no truth in Python"):
        bool(q.x == 3)


def test_what_is_no_mask_is_refused_with_its_line() -> None:
    mask = Mask()
    mask.param("pos", 3)

    with pytest.raises(MaskFileError, match="<python>:1:7"):
        mask.file()


def test_values_that_the_language_lacks() -> None:
    with pytest.raises(UsageError, match="integers"):
        lit(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", MASKS, ids=lambda p: p.stem)
def test_a_mask_file_becomes_python_and_comes_back(path: Path) -> None:
    file = parse(Source(path.name, path.read_text()))

    assert run(python_program(file)) == format_file(file)


@given(FILES)
@settings(max_examples=60, deadline=None)
def test_any_tree_becomes_python_and_comes_back(file: syntax.File) -> None:
    assert run(python_program(file)) == format_file(file)
