"""Changes of the text by the matrix and the steppers: what changes, and that nothing else does."""

from __future__ import annotations

import pytest
from compilemask_app.composing import cell_rules, definitions, parameters, region_matrix, relations, removing, renaming
from compilemask_app.composing.text_edits import TextEdit, applied

from compilemask.language.parser import parse_tolerant
from compilemask.pipeline import compile_text
from compilemask.source import Source

TEXT = """\
# Every answer sees the prompt.
title "Shared"   # kept
param prompt = 2048, answers = [1024] * 6, on = true

layout
    document repeat 2
        prompt : prompt          # one per document
        answer : answers[document]

rules
    prompt sees prompt : causal within document   # why
    answer sees prompt : all within document
    answer sees answer : causal within answer
"""


def matrix(text: str = TEXT) -> region_matrix.RegionMatrix:
    return region_matrix.matrix_of(parse_tolerant(Source("test", text)).file)


def after(text: str, *edits: TextEdit | None) -> str:
    assert all(edit is not None for edit in edits)
    return applied(text, [edit for edit in edits if edit is not None])


def test_cells_hold_the_relation_as_written() -> None:
    found = matrix()
    assert [row.name for row in found.rows] == ["prompt", "answer"] == [column.name for column in found.columns]
    assert found.summary(0, 0) == "causal within document"
    assert found.summary(0, 1) == "·"
    assert found.summary(1, 0) == "all within document"


def test_selectors_of_parts_and_of_everything_reach_the_right_cells() -> None:
    text = (
        "layout\n    a : 3\n    b : 4\nrules\n    everything sees a : all\n"
        "    b sees first 2 of b : causal\n    a cannot see a : self\n"
    )
    found = matrix(text)
    assert found.summary(0, 0) == "not self +1"
    assert found.summary(1, 0) == "all"
    assert found.summary(1, 1) == "causal…"
    assert found.summary(0, 1) == "·"


def test_a_relation_is_replaced_in_place() -> None:
    changed = after(TEXT, cell_rules.set_relation(matrix(), 0, 0, "before"))
    assert changed == TEXT.replace(
        "prompt sees prompt : causal within document   # why", "prompt sees prompt : before   # why"
    )


def test_a_cell_without_a_rule_gets_one_below_the_others() -> None:
    changed = after(TEXT, cell_rules.set_relation(matrix(), 0, 1, "all"))
    assert changed == TEXT + "    prompt sees answer : all\n"


def test_a_rule_goes_when_its_cell_is_hidden() -> None:
    changed = after(TEXT, cell_rules.hide(matrix(), 1, 0))
    assert changed == TEXT.replace("    answer sees prompt : all within document\n", "")
    assert cell_rules.hide(matrix(), 0, 1) is None


def test_hiding_a_cell_of_a_wider_rule_adds_a_rule_that_hides() -> None:
    text = "layout\n    a : 3\n    b : 4\nrules\n    everything sees everything : causal"
    changed = after(text, cell_rules.hide(matrix(text), 0, 1))
    assert changed == text + "\n    a cannot see b : all"
    assert not parse_tolerant(Source("t", changed)).diagnostics


def test_a_cell_under_a_wider_rule_is_hidden_before_it_gets_its_own() -> None:
    text = "layout\n    a : 3\n    b : 4\nrules\n    everything sees everything : causal\n"
    changed = after(text, cell_rules.set_relation(matrix(text), 0, 1, "self"))
    assert changed == text + "    a cannot see b : all\n    a sees b : self\n"
    assert matrix(changed).summary(0, 1) == "self"
    again = after(changed, cell_rules.set_relation(matrix(changed), 0, 1, "all"))
    assert again == text + "    a cannot see b : all\n    a sees b : all\n"


@pytest.mark.parametrize("how", ["all", "causal", "before", "self", "window(behind=2, ahead=1)"])
def test_a_cell_means_what_was_chosen_whatever_stood_there(how: str) -> None:
    regions = "layout\n    a : 5\n    b : 4\nrules\n"
    text = regions + "    everything sees everything : causal\n    a sees first 2 of a : all\n"
    changed = after(text, cell_rules.set_relation(matrix(text), 0, 0, how))
    expected = compile_text(f"{regions}    a sees a : {how}\n").dense()[:5, :5]
    assert (compile_text(changed).dense()[:5, :5] == expected).all()
    assert (compile_text(changed).dense()[5:] == compile_text(text).dense()[5:]).all()


def test_rules_are_begun_where_there_are_none() -> None:
    text = "layout\n    a : 3\n"
    changed = after(text, cell_rules.set_relation(matrix(text), 0, 0, "causal"))
    found = matrix(changed)
    assert found.summary(0, 0) == "causal"


def test_a_region_is_added_resized_and_deleted() -> None:
    found = matrix()
    added = after(TEXT, region_matrix.add_region(found.rows[1], "draft", "16"))
    assert "        answer : answers[document]\n        draft : 16\n" in added
    sized = after(TEXT, region_matrix.resize_region(found.rows[0], "prompt * 2"))
    assert "        prompt : prompt * 2          # one per document\n" in sized
    assert "prompt : prompt" not in after(TEXT, *removing.delete_region(found, found.rows[0]))


def test_the_rules_of_a_region_go_with_it() -> None:
    found = matrix()
    gone = after(TEXT, *removing.delete_region(found, found.rows[1]))
    assert gone == TEXT.replace("        answer : answers[document]\n", "").split("    answer sees prompt")[0]
    compile_text(gone, name="test")


def test_rules_that_name_others_too_stay_when_a_region_goes() -> None:
    text = (
        "queries\n    a : 3\n    b : 2\nkeys\n    a : 3\n    c : 4\nrules\n"
        "    a, b sees a : all\n    first 1 of a sees c : all\n    b sees a : causal\n"
    )
    found = matrix(text)
    assert after(text, *removing.delete_region(found, found.rows[0])) == text.replace("    a : 3\n", "", 1).replace(
        "    first 1 of a sees c : all\n", ""
    )


@pytest.mark.parametrize(
    "text", ["layout\n    a : 3\nrules\n    a sees a : all\n", "layout\n    g repeat 2\n        a : 3\n    b : 1\n"]
)
def test_the_only_region_of_a_block_stays(text: str) -> None:
    found = matrix(text)
    assert removing.delete_region(found, found.rows[0]) == ()


def test_a_rule_about_one_cell_only_is_replaced_in_whatever_words_it_selects() -> None:
    text = "layout\n    a : [3, 4]\nrules\n    everything sees everything : causal   # kept\n"
    changed = after(text, cell_rules.set_relation(matrix(text), 0, 0, "causal within a"))
    assert changed == text.replace("causal", "causal within a")
    text = text.replace("layout\n", "layout\n    b : 2\n")
    changed = after(text, cell_rules.set_relation(matrix(text), 1, 1, "self"))
    assert changed == f"{text}    a cannot see a : all\n    a sees a : self\n"
    text = text.replace("everything sees", "first 1 of a sees")
    changed = after(text, cell_rules.set_relation(matrix(text), 1, 1, "self"))
    assert changed.startswith(text), "a part of the cell only"


class TestRenaming:
    """A new name everywhere the region is meant."""

    def test_a_parameter_of_the_same_name_stays(self) -> None:
        file = matrix().file
        changed = after(TEXT, *renaming.rename_region(file, "prompt", "question"))
        assert "param prompt = 2048" in changed
        assert "        question : prompt          # one per document" in changed
        assert "    question sees question : causal within document   # why" in changed
        assert "# Every answer sees the prompt." in changed

    def test_numbers_of_a_region_and_within_follow(self) -> None:
        changed = after(TEXT, *renaming.rename_region(matrix().file, "document", "sample"))
        expected = TEXT.replace("document repeat", "sample repeat").replace("[document]", "[sample]")
        assert changed == expected.replace("within document", "within sample")

    @pytest.mark.parametrize(
        "text", ["same item and causal by item.at", "q.item == k.item", "item.at < 3 and same item"]
    )
    def test_coordinates_follow(self, text: str) -> None:
        whole = f"layout\n    item : [2, 3]\nrules\n    item sees item : {text}\n"
        changed = after(whole, *renaming.rename_region(matrix(whole).file, "item", "thing"))
        assert changed == whole.replace("item", "thing")

    @pytest.mark.parametrize("name", ["1st", "a b", "causal", "sees", "answer"])
    def test_names_that_cannot_be_are_refused_in_words(self, name: str) -> None:
        assert renaming.name_problem(matrix().file, name)

    def test_a_new_name_is_fine(self) -> None:
        assert renaming.name_problem(matrix().file, "context") is None


class TestParameters:
    """Steps keep to sensible numbers."""

    def test_numbers_are_found_in_reading_order(self) -> None:
        found = parameters.parameters_of(matrix().file)
        assert [line.name for line in found.lines] == ["prompt", "answers", "on"]
        assert [number.value for number in found.numbers] == [2048, 1024, 6, True]

    def test_a_step_changes_one_number_and_nothing_else(self) -> None:
        found = parameters.parameters_of(matrix().file)
        assert after(TEXT, parameters.stepped(found.numbers[2], 1)) == TEXT.replace("* 6", "* 7")
        assert after(TEXT, parameters.stepped(found.numbers[0], -1)) == TEXT.replace("2048", "1984")
        assert after(TEXT, parameters.stepped(found.numbers[3], 1)) == TEXT.replace("true", "false")
        assert after(TEXT, parameters.scaled(found.numbers[1], 1)) == TEXT.replace("1024", "2048", 1).replace(
            "prompt = 2048", "prompt = 2048"
        )

    @pytest.mark.parametrize(
        ("value", "up", "down"), [(0, 1, 0), (1, 2, 0), (16, 17, 15), (100, 104, 96), (1000, 1024, 992)]
    )
    def test_steps_are_powers_of_two(self, value: int, up: int, down: int) -> None:
        text = f"param n = {value}\n"
        number = parameters.parameters_of(parse_tolerant(Source("t", text)).file).numbers[0]
        assert parameters.stepped(number, 1).text == str(up)
        assert parameters.stepped(number, -1).text == str(down)


def test_every_suggestion_reads_well_in_its_cell() -> None:
    found = matrix()
    for row in range(2):
        for column in range(2):
            for suggestion in relations.suggestions(found, row, column):
                if suggestion.how:
                    text = after(TEXT, cell_rules.set_relation(found, row, column, suggestion.how))
                    assert not parse_tolerant(Source("t", text)).diagnostics, suggestion


def test_definitions_give_relations_and_those_by_a_coordinate() -> None:
    text = (
        "param n = 4\nlayout\n    a : 9\n"
        "let half = n // 2\nlet block = at // n\nlet odd = block % 2 == 1\n"
        "let near(w) = causal and window(behind=w, ahead=0)\nlet late = q.block > k.block\nlet both = near(2) or late\n"
        "rules\n    a sees a : near(half)\n"
    )
    found = definitions.own_suggestions(parse_tolerant(Source("test", text)).file)
    hows = [item.how for item in found]
    assert hows == ["same block", "causal by block", "before by block", "near(half)", "late", "both"]
    assert all(item.own for item in found)
    for how in hows:
        compile_text(text.replace(": near(half)", f": {how}"), name="test")


def test_what_is_typed_finds_a_relation_or_is_one() -> None:
    offered = relations.suggestions(matrix(), 1, 1)

    def meant(typed: str) -> tuple[list[str], str]:
        found, place = relations.matching(offered, typed)
        return [item.how for item in found], found[place].how

    assert meant("self") == (["self"], "self")
    assert meant("ALL")[1] == "all", "as it stands in the list"
    assert meant("hid") == (["", "hid"], "")
    assert meant("all")[1] == "all"
    assert meant("w")[1] == "window(behind=128, ahead=0)", "what begins so goes before what holds the letter"
    assert meant("before  or self") == (["before or self"], "before or self")
