"""The reference is the one that the table gives, and what it claims is what the language does."""

from pathlib import Path

import numpy as np
import pytest

from compilemask.errors import MaskFileError
from compilemask.language import bind, meaning, parse
from compilemask.language.program import Program
from compilemask.language.reference import reference
from compilemask.pipeline import compile_text
from compilemask.source import Source

PAGE = Path(__file__).parents[2] / "docs" / "language.md"


def bound(text: str, **params: object) -> Program:
    return bind(parse(Source("t.mask", text)), params, [], None)


def cells(text: str, **params: object) -> str:
    """The mask in rows of `#` and `.`, head 0 of sample 0."""
    return picture(bound(text, **params))


def picture(program: Program, batch: int = 0, head: int = 0) -> str:
    dense = meaning.dense(program, batch, head)
    return "\n".join("".join("#" if seen else "." for seen in row) for row in dense.tolist())


def fails(text: str, code: str, **params: object) -> None:
    with pytest.raises(MaskFileError) as caught:
        bound(text, **params)

    assert code in [d.code for d in caught.value.diagnostics]


def tokens(rules: str, size: str = "4", before: str = "") -> str:
    return f"{before}layout\n    token : {size}\nrules\n    {rules}\n"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == reference(), "run: python -m compilemask.language.reference > docs/language.md"


def test_a_value_for_every_sample_and_head() -> None:
    program = bound(
        "param reach per batch = [[0, 1], [2, 0]]\nheads 2\nlayout\n    token : 3\n"
        "rules\n    token sees token : window(behind=reach[head], ahead=0)\n"
    )

    assert picture(program, 0, 0) == "#..\n.#.\n..#"
    assert picture(program, 0, 1) == "#..\n##.\n.##"
    assert picture(program, 1, 0) == "#..\n##.\n###"


def test_copies_with_blocks_below_them_are_block_diffusion() -> None:
    below = "layout\n    noisy\n        block : [2] * 3\n    clean\n        block : [2] * 3\n"
    beside = "layout\n    noisy : 6\n    clean : 6\nlet block = at // 2\n"
    rules = (
        "rules\n    noisy sees noisy : same block\n    noisy sees clean : before by block\n"
        "    clean sees clean : causal by block\n"
    )
    library = compile_text(Path("masks/block_diffusion.mask").read_text(), length=6, size=2)

    assert cells(below + rules) == cells(beside + rules)
    assert (meaning.dense(bound(below + rules)) == library.dense()).all()


IDEAS = {
    "document : [30, 12]": ["causal within document", "same document", "same (at // 8) within document"],
    "token : 51": ["same (pos // 8)", "causal by (pos // 8)"],
    "image : grid(4, 6)": ["same y", "same (y // 2, x // 2)"],
    "turn repeat 3\n        user : 4\n        bot : 6": ["same turn", "before by turn", "q.turn - k.turn <= 1"],
    "noisy : 12\n    clean : 12": ["same at", "before by at", "before by (at // 4)"],
}


@pytest.mark.parametrize(("layout", "how"), [(layout, how) for layout, found in IDEAS.items() for how in found])
def test_the_coordinates_that_the_page_names_for_ideas(layout: str, how: str) -> None:
    whole = meaning.dense(bound(f"layout\n    {layout}\nrules\n    everything sees everything : {how}\n"))
    size = len(whole)
    q, k = np.indices(whole.shape)
    at, row = np.arange(size), np.arange(size) // 6
    document, inside = np.where(at < 30, 0, 1), np.where(at < 30, at, at - 30)
    turn, copy, patch = at // 10, at % 12, (at // 6 // 2) * 100 + at % 6 // 2
    expected = {
        "causal within document": (document[q] == document[k]) & (k <= q),
        "same document": document[q] == document[k],
        "same (at // 8) within document": (document[q] == document[k]) & (inside[q] // 8 == inside[k] // 8),
        "same (pos // 8)": q // 8 == k // 8,
        "causal by (pos // 8)": k // 8 <= q // 8,
        "same y": row[q] == row[k],
        "same (y // 2, x // 2)": patch[q] == patch[k],
        "same turn": turn[q] == turn[k],
        "before by turn": turn[k] < turn[q],
        "q.turn - k.turn <= 1": turn[q] - turn[k] <= 1,
        "same at": copy[q] == copy[k],
        "before by at": copy[k] < copy[q],
        "before by (at // 4)": copy[k] // 4 < copy[q] // 4,
    }

    assert (whole == expected[how]).all()


def test_layouts_are_the_same_for_all_heads_and_may_differ_between_samples() -> None:
    fails("heads 2\n" + tokens("token sees token : all", "1 + head"), "head-in-layout")
    text = "param n per batch = [0, 0]\nlayout\n    a : 1 + batch + n\n    b : 1 - batch\nrules\n    a sees a : all\n"

    assert picture(bound(text), 0) == "#.\n.."
    assert picture(bound(text), 1) == "##\n##"


def test_padding_counts_in_pos_and_not_in_at() -> None:
    text = "layout\n    padding : 1\n    token : 2\nrules\n    everything sees everything : q.pos == 2 and k.at == 0\n"

    assert cells(text) == "...\n...\n.#."


def test_a_later_rule_wins_and_a_limit_cuts() -> None:
    rules = [
        "token sees token : all",
        "token cannot see token : self",
        "token sees first 1 of token : all",
        "limit : causal",
    ]

    assert cells(tokens("\n    ".join(rules), "3")) == "#..\n#..\n##."


def test_self_by_index_is_the_diagonal_where_positions_repeat() -> None:
    before = "position = 0\n"

    assert cells(tokens("token sees token : self", "2", before)) == "##\n##"
    assert cells(tokens("token sees token : self by index", "2", before)) == "#.\n.#"


def test_numbers_compare_inside_common_parents() -> None:
    text = "layout\n    sample repeat 2\n        part : [1, 1]\nrules\n    everything sees everything : {}\n"

    assert cells(text.format("same part")) == "#...\n.#..\n..#.\n...#"
    assert cells(text.format("q.part == k.part")) == "#...\n.#..\n..#.\n...#"


def test_absent_values_are_false() -> None:
    text = "layout\n    text  : 1\n    image : grid(2)\nrules\n    everything sees everything : {}\n"

    assert cells(text.format("q.x != k.x")) == "...\n..#\n.#."
    assert cells(text.format("not same x")) == "###\n#.#\n##."


def test_and_or_if_stop_when_the_result_is_known() -> None:
    before = "param list = [5]\n"

    assert cells(tokens("token sees token : q.pos == 0 and list[q.pos] == 5", "2", before)) == "##\n.."
    assert cells(tokens("token sees token : q.pos > 0 or list[q.pos] == 5", "2", before)) == "##\n##"


def test_chains_compare_neighbours() -> None:
    assert cells(tokens("token sees token : 0 < q.pos <= k.pos", "3")) == "...\n.##\n..#"


def test_no_value_of_an_empty_list() -> None:
    fails(tokens("token sees token : all", "max([])"), "evaluation")


def test_conditions_are_not_numbers() -> None:
    fails("param a = true\n" + tokens("token sees token : all", "1 if a == 1 else 2"), "evaluation")


def test_arithmetic_on_any() -> None:
    fails("param a = any\n" + tokens("token sees token : window(behind=a // 2, ahead=0)"), "evaluation")

    assert cells("param a = any\n" + tokens("token sees token : window(behind=a - 1, ahead=0)", "2")) == "#.\n##"


def test_an_overflow_is_an_error() -> None:
    fails(tokens("token sees token : all", "1 + 9223372036854775807"), "evaluation")


def test_negative_indices() -> None:
    before = "param list = [1, 2, 3]\n"

    assert cells(tokens("token sees token : list[-1] == 3", "1", before)) == "#"
    with pytest.raises(MaskFileError, match="never counts from the end"):
        compile_text(before + tokens("token sees token : list[q.pos - 1] == 3", "2"), name="t")


def test_a_tuple_equals_a_list() -> None:
    before = "param edges = [[0, 1], [2, 0]]\n"

    assert cells(tokens("token sees token : (q.pos, k.pos) in edges", "3", before)) == ".#.\n...\n#.."


def test_an_order_changes_nothing() -> None:
    text = tokens("token sees token : causal", "3")

    assert cells(text + "order token stored by -pos\n") == cells(text)


def test_stored_by_changes_index_only() -> None:
    text = "layout\n    token : 3 stored by -pos\nrules\n    token sees token : causal\n"

    assert cells(text) == "###\n.##\n..#"


def test_instances_past_the_end() -> None:
    text = "layout\n    part : [1, 1]\nrules\n    part[{}] sees part : all\n"

    assert cells(text.format("1:9")) == "..\n##"
    fails(text.format("2"), "no-such-instance")


def test_queries_are_a_part_of_the_layout() -> None:
    text = "layout\n    token : 4\nqueries are last 2 of token\nrules\n    token sees token : causal\n"

    assert cells(text) == "###.\n####"


def test_two_axes_need_an_alignment() -> None:
    text = "queries\n    a : 2\nkeys\n    b : 3\n{}rules\n    a sees b : causal\n"

    assert cells(text.format("align end\n")) == "##.\n###"
    assert cells(text.format("align start\n")) == "#..\n##."
    with pytest.raises(MaskFileError, match="align"):
        bound(text.format(""))


@pytest.mark.parametrize(
    "how", ["window(behind=1)", "disc(edge=cut)", "box(3, 3)", "box(2, 3, edge=cut)", "random(count=1)"]
)
def test_what_libraries_disagree_about_has_no_default(how: str) -> None:
    with pytest.raises(MaskFileError):
        bound(f"layout\n    image : grid(3, 3)\nrules\n    image sees image : {how}\n")
