"""Text to tree: what is read, where it stands, and how errors are found all at once."""

import pytest

from compilemask.errors import MaskFileError
from compilemask.language import syntax
from compilemask.language.parser import parse, parse_tolerant
from compilemask.source import Source

SHARED_PROMPT = """\
# Every answer sees the prompt and itself.
title "Shared prompt"
param prompt = 6, answers = [4, 3, 3]
layout
    prompt : prompt
    answer : answers    # one instance per entry
rules
    prompt sees prompt : causal
    answer sees answer : causal within answer
"""


def read(text: str) -> syntax.File:
    return parse(Source("t.mask", text))


def codes(text: str) -> list[str]:
    return [d.code for d in parse_tolerant(Source("t.mask", text)).diagnostics]


def how(text: str) -> syntax.Expression:
    rules = read(f"rules\n    a sees b : {text}\n").statements[0]
    assert isinstance(rules, syntax.Rules)
    return rules.rules[0].how


def test_a_file_becomes_its_statements() -> None:
    file = read(SHARED_PROMPT)

    assert [type(s).__name__ for s in file.statements] == ["Title", "Parameters", "Layout", "Rules"]


def test_comments_are_kept_by_line() -> None:
    assert read(SHARED_PROMPT).comments == {
        1: "# Every answer sees the prompt and itself.",
        6: "# one instance per entry",
    }


def test_every_node_knows_where_it_stands() -> None:
    rule = read(SHARED_PROMPT).statements[3].rules[1]  # type: ignore[attr-defined]

    assert (rule.span.line, rule.span.column, rule.span.end_column) == (9, 5, 46)
    assert (rule.how.span.column, rule.how.span.end_column) == (26, 46)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "\ufeff\n"])
def test_a_file_may_say_nothing(text: str) -> None:
    assert read(text).statements == ()


def test_line_ends_of_other_systems() -> None:
    assert read(SHARED_PROMPT.replace("\n", "\r\n")).statements == read(SHARED_PROMPT).statements


def test_brackets_join_lines() -> None:
    text = "param sizes = [1,\n  2,  # two\n  3,\n]\n"

    parameter = read(text).statements[0].parameters[0]  # type: ignore[attr-defined]

    assert [item.value for item in parameter.default.items] == [1, 2, 3]


def test_every_bad_line_is_reported_and_the_rest_is_read() -> None:
    text = 'titel "x"\nlayout\n    a : : 3\n    b : 4\nrules\n    a see b : all\n    b sees : all\n    b sees b : all\n'

    parsed = parse_tolerant(Source("t.mask", text))

    assert [d.span.line for d in parsed.diagnostics if d.span] == [1, 3, 6, 7]
    assert [type(s).__name__ for s in parsed.file.statements] == ["Layout", "Rules"]


def test_parse_raises_with_all_errors() -> None:
    with pytest.raises(MaskFileError) as caught:
        read("parm x = 3\nlett y = 4\n")

    assert [d.hint for d in caught.value.diagnostics] == ["did you mean `param`?", "did you mean `let`?"]


def test_an_unclosed_bracket_ends_at_the_next_statement() -> None:
    assert codes("param x = [1, 2\nlayout\n    a : 3\nrules\n    a sees a : (all\n") == ["unclosed-bracket"] * 2


@pytest.mark.parametrize(
    "word", ["window", "first", "last", "start", "end", "order", "best", "limit", "head_count", "title"]
)
def test_words_of_statements_can_be_names(word: str) -> None:
    lines = [
        f"param {word} = 3",
        "layout",
        f"    {word} : {word}",
        "rules",
        f"    {word} sees {word}[0] : window(behind={word}, ahead=0)",
        f"    first {word} of {word} sees {word} where q.{word} == 1 : all within {word}",
        f"order {word} stored by {word}",
    ]

    assert codes("\n".join(lines)) == []


def test_not_in_is_one_operator() -> None:
    node = how("q.pos not in list")

    assert isinstance(node, syntax.Compare)
    assert node.operators == ("not in",)


def test_a_slice_of_a_list() -> None:
    node = how("q.pos in list[1:]")

    assert isinstance(node, syntax.Compare)
    assert isinstance(node.operands[1], syntax.Slice)
    assert node.operands[1].stop is None


def test_within_after_a_comparison_holds_for_all_of_it() -> None:
    node = how("q.x < k.x within document")

    assert isinstance(node, syntax.Within)
    assert isinstance(node.relation, syntax.Compare)


def test_by_after_a_comparison_is_an_error() -> None:
    assert codes("rules\n    a sees b : q.x < k.x by y\n") == ["by-comparison"]


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("all except same x and causal", "(all except same x) and causal", "all except (same x and causal)"),
        ("causal and all except same x", "(causal and all) except same x", "causal and (all except same x)"),
        ("all or causal except self", "(all or causal) except self", "all or (causal except self)"),
        ("all except causal or self", "(all except causal) or self", "all except (causal or self)"),
    ],
)
def test_except_beside_and_or_or_prints_both_bracketings(text: str, first: str, second: str) -> None:
    (found,) = parse_tolerant(Source("t.mask", f"rules\n    a sees b : {text}\n")).diagnostics

    assert found.code == "mixed-except"
    assert found.hint is not None
    assert found.hint.split("\n") == [f"write  {first}", f"     or  {second}"]
    assert how(first) != how(second)


@pytest.mark.parametrize(
    "statement",
    ['title "a"', "heads 2", "align end", "layout\n    a : 3", "queries\n    a : 3", "position keys = 3", "order best"],
)
def test_a_statement_given_twice_is_an_error(statement: str) -> None:
    assert codes(f"{statement}\n{statement}\n") == ["given-twice"]


def test_queries_are_a_selection() -> None:
    (statement,) = read("queries are last 3 of document\n").statements

    assert isinstance(statement, syntax.QueriesFrom)
    assert isinstance(statement.selector, syntax.Ends)


def test_orders() -> None:
    best, other = read("order best\norder image stored by morton(y, x)\n").statements

    assert isinstance(best, syntax.Order)
    assert best.selector is None
    assert isinstance(other, syntax.Order)
    assert isinstance(other.coordinate, syntax.Call)


def test_one_space_of_meaning_per_bracket() -> None:
    assert codes("rules\n    a sees b : " + "(" * 100 + "all" + ")" * 100 + "\n") == ["too-deep"]


@pytest.mark.parametrize("chain", ["+1", " and q", " == 1 and q", "[0]", ".x"])
def test_long_chains_have_a_limit(chain: str) -> None:
    assert "too-deep" in codes("let x = a" + chain * 1000 + "\n")


def test_a_long_text_is_refused_at_once() -> None:
    assert codes("#" * (1 << 20) + "\n") == ["too-long"]


def test_errors_are_counted() -> None:
    assert len(codes("x\n" * 10_000)) <= 51


def test_a_bad_line_leaves_its_neighbours_once_each() -> None:
    text = "rules\n    a sees a : all\n    a see a : all\n    b sees b : all\n    see\n    c sees c : all\n"

    (rules,) = parse_tolerant(Source("t.mask", text)).file.statements

    assert isinstance(rules, syntax.Rules)
    assert [rule.who for rule in rules.rules if isinstance(rule, syntax.Rule)] == [
        syntax.RegionPath(rule.span, (name,)) for rule, name in zip(rules.rules, "abc", strict=True)
    ]


def test_a_long_list_is_read_in_proportion_to_its_length() -> None:
    (statement,) = read("param a = [" + "0, " * 12_000 + "0]\n").statements

    assert isinstance(statement, syntax.Parameters)
    default = statement.parameters[0].default
    assert isinstance(default, syntax.ListOf)
    assert len(default.items) == 12_001


def test_nested_selectors_have_a_limit() -> None:
    assert codes("order " + "first 1 of " * 1000 + "a stored by pos\n") == ["too-deep"]
