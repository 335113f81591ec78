"""Tree to text and back: nothing is lost, and the canonical text is its own canonical text."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from compilemask.language import syntax
from compilemask.language.parser import parse
from compilemask.language.printer import format_file
from compilemask.source import Source
from tests.language.fuzz_trees import FILES

HERE = Path(__file__).parent
MASKS = sorted([*(HERE / "examples").glob("*.mask"), *(HERE.parents[1] / "masks").glob("*.mask")])


def canonical(text: str) -> str:
    return format_file(parse(Source("t.mask", text)))


@pytest.mark.parametrize("path", MASKS, ids=lambda p: p.stem)
def test_formatting_keeps_tree_and_comments(path: Path) -> None:
    file = parse(Source(path.name, path.read_text()))
    text = format_file(file)
    again = parse(Source(path.name, text))

    assert again.statements == file.statements
    assert list(again.comments.values()) == list(file.comments.values())
    assert format_file(again) == text


@given(FILES)
@settings(max_examples=120, deadline=None)
def test_any_tree_prints_as_text_that_reads_back(file: syntax.File) -> None:
    text = format_file(file)

    assert parse(Source("<made>", text)).statements == file.statements
    assert canonical(text) == text


def test_blocks_are_aligned() -> None:
    text = (
        "layout\n  a : 3\n  longer: n\n  padding : 1\n"
        "rules\n  a sees longer:all\n  longer cannot see a : causal\n  limit: all\n"
    )

    assert canonical(text) == (
        "layout\n    a       : 3\n    longer  : n\n    padding : 1\n"
        "rules\n    a      sees longer  : all\n    longer cannot see a : causal\n    limit : all\n"
    )


def test_neighbouring_values_are_aligned() -> None:
    assert canonical("let a = 1\nlet long = 2\n\nlet b = 3\n") == "let a    = 1\nlet long = 2\n\nlet b = 3\n"


def test_comments_stay_where_they_are() -> None:
    text = (
        "# above\n\nlayout  # behind the word\n    # inside\n    a : 3  # behind\n    # last of the block\n\n"
        "# between\nrules\n    a sees a : all\n# at the end\n"
    )

    assert canonical(text) == text


def test_comments_inside_brackets_go_before_and_behind() -> None:
    assert canonical("param a = [1,  # one\n  2,  # two\n]\n") == "# one\nparam a = [1, 2]  # two\n"


def test_empty_lines_are_kept_one_at_a_time() -> None:
    assert canonical('\n\ntitle "a"\n\n\n\nheads 2\n\n') == 'title "a"\n\nheads 2\n'


def test_a_long_line_breaks_inside_its_brackets() -> None:
    rows = ", ".join(["[100, 200, 300]"] * 12)
    text = canonical(f"param table = [{rows}]\n")

    assert max(map(len, text.split("\n"))) <= 120
    assert text.count("\n") == 2
    assert canonical(text) == text


def test_a_very_long_line_breaks_as_often_as_it_must() -> None:
    for entries in (", ".join(["1000"] * 100), ", ".join(["[100, 200]"] * 60)):
        text = canonical(f"param table = [{entries}]  # remark\n")

        assert text.count("\n") > 3
        assert max(len(row.split("  #")[0]) for row in text.split("\n")) <= 120
        assert canonical(text) == text


def test_a_condition_beside_a_comma_is_bracketed() -> None:
    text = "rules\n    a, b where pos > 1 sees a : all\n"

    assert canonical(text) == "rules\n    a, (b where pos > 1) sees a : all\n"


def test_brackets_that_say_nothing_are_dropped_and_needed_ones_kept() -> None:
    text = "rules\n    (a) sees b : ((all) and (same x or (self))) except (causal and before)\n"

    assert canonical(text) == "rules\n    a sees b : (all and (same x or self)) except (causal and before)\n"


def test_a_dotted_region_behind_of_is_bracketed() -> None:
    assert "first 2 of (a.b) sees" in canonical("rules\n    first 2 of a.b sees a : all\n")


@pytest.mark.parametrize("operator", ["and", "or", "except"])
def test_a_long_chain_is_printed_at_once(operator: str) -> None:
    how = f" {operator} ".join(["causal"] * 100)
    text = f"layout\n    token : 8\nrules\n    token sees token : {how}\n"

    printed = format_file(parse(Source("long.mask", text)))

    assert " ".join(printed.split()) == " ".join(text.split())


@pytest.mark.parametrize(
    "first", ["param a = [1, # one\n  # two\n  2]", "param a = 1", "param a = [\n # one\n 1] # two"]
)
@pytest.mark.parametrize(
    "second", ["param longer = [ # one\n\n # two\n 3]", "param longer = 3", "# one\nparam longer = 3"]
)
def test_comments_inside_values_do_not_move_the_next_equals_sign(first: str, second: str) -> None:
    rest = "\nlayout\n    token : 4\nrules\n    token sees token : all\n"
    once = format_file(parse(Source("x", f"{first}\n{second}{rest}")))
    assert format_file(parse(Source("x", once))) == once
